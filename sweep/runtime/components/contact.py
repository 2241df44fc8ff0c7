"""Contact sensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.exteroception import ContactSpec
from sweep.runtime.block import BlockView
from sweep.runtime.components.device import Floats, Ints
from sweep.runtime.components.sensor import Sensor, named_problems
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.imperfection import Pipeline
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reads import FORCE_SENSORS, SENSORS


class Contact(Sensor):
    """Whether something is touched, or how hard; see :class:`sweep.plan.exteroception.ContactSpec`."""

    def __init__(self, name: str, specs: Sequence[ContactSpec], context: BatchContext) -> None:
        self._force = specs[0].measures == "force"
        binary = specs[0].threshold_n is not None
        reads = FORCE_SENSORS if self._force else SENSORS
        super().__init__(name, specs, context, reads, width=1 if binary else None)
        if self._force:
            self._parts.append((slice(3), Pipeline("force", [spec.force for spec in specs], 3, self)))
        self._threshold = per_lane_values(specs, lambda spec: spec.threshold_n)[:, None, None] if binary else None

    @classmethod
    def problems(cls, spec: ContactSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        return [
            problem
            for field in ("body", "geom", "other_body", "other_geom")
            for problem in named_problems(f"{path}.{field}", field[-4:], getattr(spec, field), index)
        ]

    def measure(self, view: BlockView, ticks: Ints) -> Floats:
        """See :meth:`Sensor.measure`."""
        values = super().measure(view, ticks)
        # MuJoCo gives the force that the first body exerts, and the number of contacts.
        return 0.0 - values if self._force else np.minimum(values, 1.0)

    def imperfect(self, values: Floats, draws: Ints) -> Floats:
        """See :meth:`Sensor.imperfect`."""
        values = super().imperfect(values, draws)
        if self._threshold is None:
            return values
        x, y, z = (values[:, :, axis, None] for axis in range(3))
        return (np.sqrt(x * x + y * y + z * z) >= self._threshold).astype(np.float64)
