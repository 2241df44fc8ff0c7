"""The motor: a torque that is there at standstill is gone at the no-load speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.drivers import MotorSpec
from sweep.runtime.actuators import motor_problems
from sweep.runtime.components.effort_driver import ActuatedJoints, EffortDriver
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex

Floats = NDArray[np.float64]


class Motor(EffortDriver):
    """A motor behind a gearbox; see :class:`sweep.plan.drivers.MotorSpec`.

    All its numbers are turned from the shaft to the joint once: torques times the gear ratio, speed divided by it.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[MotorSpec], context: BatchContext) -> None:
        self._state = ActuatedJoints(specs[0].actuators, context)
        super().__init__(name, specs, context, joints=self._state, in_effort=True)
        self.add_dead_band(specs)
        ratio = self.numbers(specs, lambda s: s.gear_ratio)[:, None]
        self._stall = self.numbers(specs, lambda s: s.stall_torque)[:, None] * ratio
        self._no_load = self.numbers(specs, lambda s: s.no_load_speed)[:, None] / ratio
        self._continuous = self.numbers(specs, lambda s: s.continuous_torque or s.stall_torque)[:, None] * ratio
        self._driving = self.numbers(specs, lambda s: s.efficiency)[:, None]
        self._braking = 1.0 / self.numbers(specs, lambda s: s.back_efficiency)[:, None]
        self._lossless = bool((self._driving == 1.0).all() and (self._braking == 1.0).all())

    @classmethod
    def actuator_problems(cls, spec: MotorSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Driver.actuator_problems`."""
        return motor_problems(index.model, path, spec.actuators, "a torque-speed curve")

    def law(self, command: Floats, tick: int, start: Floats) -> Floats:
        """See :meth:`Driver.law`: what of an effort passes the gearbox."""
        if self._lossless:
            return command
        drives = command * self._state.velocity(start) >= 0
        return command * np.where(drives, self._driving, self._braking)

    def bounds(self, start: Floats) -> tuple[Floats, Floats]:
        """See :meth:`Driver.bounds`: the torque-speed curve, in the direction of motion, behind the gearbox."""
        velocity = self._state.velocity(start)
        slowness = velocity / self._no_load
        forwards, backwards = self._at(1.0 - slowness), self._at(1.0 + slowness)
        if not self._lossless:
            forwards = forwards * np.where(velocity >= 0, self._driving, self._braking)
            backwards = backwards * np.where(velocity <= 0, self._driving, self._braking)
        return np.maximum(self._low, -backwards), np.minimum(self._high, forwards)

    def _at(self, share: Floats) -> Floats:
        """The largest torque where such a share of the stall torque is left."""
        left: Floats = np.minimum(np.maximum(self._stall * share, 0.0), self._continuous)
        return left
