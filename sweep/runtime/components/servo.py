"""The servo in software: a position error becomes an effort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.clock import GridSchedule
from sweep.plan.drivers import ServoSpec
from sweep.plan.lane_clock import LaneSchedule
from sweep.runtime.actuators import motor_problems
from sweep.runtime.components.conversion import dead_band
from sweep.runtime.components.effort_driver import ActuatedJoints, EffortDriver
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex

Floats = NDArray[np.float64]


class Servo(EffortDriver):
    """A proportional-derivative position servo; see :class:`sweep.plan.drivers.ServoSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[ServoSpec], context: BatchContext) -> None:
        self._state = ActuatedJoints(specs[0].actuators, context)
        super().__init__(name, specs, context, joints=self._state, in_effort=True)
        self.limit(self.numbers(specs, lambda s: np.inf if s.effort_limit is None else s.effort_limit))
        self._kp, self._kd = (self.numbers(specs, read)[:, None] for read in (lambda s: s.kp, lambda s: s.kd))
        self._error_band = dead_band(specs, self.width)
        self._schedule = _schedule(name, specs, context)
        self._held = np.zeros_like(self._kp)

    @classmethod
    def actuator_problems(cls, spec: ServoSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Driver.actuator_problems`."""
        return motor_problems(index.model, path, spec.actuators, "a software servo")

    def law(self, command: Floats, tick: int, start: Floats) -> Floats:
        """See :meth:`Driver.law`: ``kp * (command - position) - kd * velocity``, held between its periods."""
        error = command - self._state.position(start)
        for band in self._error_band:
            error = band(error)
        effort: Floats = self._kp * error - self._kd * self._state.velocity(start)
        if self._schedule is not None:
            due = (self._schedule.next_tick(tick) == tick) | (tick == 0)
            effort = self._held = np.where(due[:, None, None], effort, self._held)
        return effort


def _schedule(name: str, specs: Sequence[ServoSpec], context: BatchContext) -> LaneSchedule | None:
    schedules = [spec.servo_schedule(context.grid, name) for spec in specs]
    if not any(schedules):
        return None
    every_tick = GridSchedule(context.grid, context.grid.timestep)
    return LaneSchedule.of([schedule or every_tick for schedule in schedules])
