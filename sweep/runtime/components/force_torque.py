"""Force and torque sensors."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.errors import Problem
from sweep.plan.sensors import ForceTorqueSpec
from sweep.runtime.components.sensor import AxesSensor, mount_problems
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reads import FORCE_SENSORS


class ForceTorque(AxesSensor):
    """What holds a body to its parent; see :class:`sweep.plan.sensors.ForceTorqueSpec`."""

    def __init__(self, name: str, specs: Sequence[ForceTorqueSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context, FORCE_SENSORS, specs[0].measures)

    @classmethod
    def problems(cls, spec: ForceTorqueSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        problems = mount_problems(spec, index, path)
        if problems:
            return problems
        body = index.model.body(spec.body).id if spec.site is None else int(index.model.site(spec.site).bodyid[0])
        if body == 0:
            message = "is of the world, which nothing holds; name another body, or a site on one"
            problems.append(Problem(f"{path}.{'body' if spec.site is None else 'site'}", message))
        return problems
