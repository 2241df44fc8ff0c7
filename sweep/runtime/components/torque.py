"""The torque drive: what arrives, is watched and limited, is the control."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.drivers import TorqueSpec
from sweep.runtime.actuators import motor_problems
from sweep.runtime.components.effort_driver import ActuatedJoints, EffortDriver
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex


class Torque(EffortDriver):
    """A driver of controls; see :class:`sweep.plan.drivers.TorqueSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[TorqueSpec], context: BatchContext) -> None:
        brakes = any(spec.brakes for spec in specs)
        joints = ActuatedJoints(specs[0].actuators, context) if brakes else None
        super().__init__(name, specs, context, joints=joints, in_effort=False)
        self.add_dead_band(specs)
        self.limit(self.numbers(specs, lambda s: np.inf if s.limit is None else s.limit))

    @classmethod
    def actuator_problems(cls, spec: TorqueSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Driver.actuator_problems`."""
        return motor_problems(index.model, path, spec.actuators, "fallback: brake") if spec.brakes else []
