"""Range finders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.exteroception import RangeSpec
from sweep.runtime.components.device import Floats, Ints
from sweep.runtime.components.sensor import Sensor, mount_problems
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.imperfection import Pipeline
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reads import SENSORS


class RangeFinder(Sensor):
    """Distances along beams; see :class:`sweep.plan.exteroception.RangeSpec`."""

    def __init__(self, name: str, specs: Sequence[RangeSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context, SENSORS)
        first = specs[0]
        self._noisy = first.white_std_m is not None or first.white_per_m is not None
        if self._noisy:
            self.open("white", self.width)
        scale = self.noise_scale[:, :, None]
        self._std = scale * per_lane_values(specs, lambda spec: spec.white_std_m or 0.0)[:, None, None]
        self._std_per_m = scale * per_lane_values(specs, lambda spec: spec.white_per_m or 0.0)[:, None, None]
        self._longest = per_lane_values(specs, lambda spec: spec.max_m)[:, None, None]
        missed = per_lane_values(specs, lambda spec: spec.max_m if spec.miss_m is None else spec.miss_m)
        self._missed = missed[:, None, None]
        self._parts.append((slice(self.width), Pipeline("range", [spec.shown for spec in specs], self.width, self)))

    @classmethod
    def problems(cls, spec: RangeSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        return mount_problems(spec, index, path)

    def imperfect(self, values: Floats, draws: Ints) -> Floats:
        """See :meth:`Sensor.imperfect`; MuJoCo shows -1 where a beam meets nothing."""
        missed = (values < 0.0) | (values > self._longest)
        if self._noisy:
            values += (self._std + self._std_per_m * values) * self.draw("white", draws)
        values = super().imperfect(values, draws)
        np.copyto(values, self._missed, where=missed)
        return values
