"""Drivers of MuJoCo's own servos: what arrives and is watched and limited is the setpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.native_servos import NativeServoSpec, VelocitySpec
from sweep.runtime.actuators import servo_problems
from sweep.runtime.components.conversion import dead_band
from sweep.runtime.components.driver import Driver
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex


class NativeServo(Driver):
    """A driver of position or velocity servos; see :class:`sweep.plan.native_servos.NativeServoSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[NativeServoSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context)
        self._strength = []  # it is a factor on the gains in the model
        self.limit(self.numbers(specs, lambda s: np.inf if s.limit is None else s.limit))
        if isinstance(specs[0], VelocitySpec):
            self._stages[:0] = dead_band(specs, self.width)

    @classmethod
    def actuator_problems(cls, spec: NativeServoSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Driver.actuator_problems`."""
        return servo_problems(index.model, path, spec.actuators, spec.kind)
