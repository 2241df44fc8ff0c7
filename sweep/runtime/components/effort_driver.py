"""What drivers of efforts have in common: dead band, brake, and the joints that they act on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.plan.drivers import EffortSpec
from sweep.runtime.actuators import scalar_joint
from sweep.runtime.components.conversion import dead_band
from sweep.runtime.components.driver import Driver
from sweep.runtime.context import BatchContext

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class ActuatedJoints:
    """The hinge or slide joints that motors move, as the nominal model has them.

    Args:
        actuators: motors, one for each control.
        context: the batch.

    Attributes:
        effort_per_control: ``(width,)`` a joint's effort per unit of its motor's control, gear and gain.
    """

    def __init__(self, actuators: Sequence[str], context: BatchContext) -> None:
        model = context.index.model
        joints = [model.joint(scalar_joint(model, actuator)).name for actuator in actuators]
        rows = [model.actuator(actuator).id for actuator in actuators]
        self.effort_per_control: Floats = model.actuator_gear[rows, 0] * model.actuator_gainprm[rows, 0]
        self._position, self._velocity = context.position_columns(joints), context.velocity_columns(joints)

    def position(self, start: Floats) -> Floats:
        """Of a boundary, ``(lanes, 1, width)`` [rad, m]."""
        return start[:, None, self._position]

    def velocity(self, start: Floats) -> Floats:
        """Of a boundary, ``(lanes, 1, width)`` [rad/s, m/s]."""
        return start[:, None, self._velocity]


class EffortDriver(Driver):
    """A driver of efforts, or of controls that are efforts up to a factor.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
        joints: the joints whose state it reads every tick; None if it reads none.
        in_effort: whether it computes efforts at the joints, not controls.
    """

    def __init__(self, name: str, specs: Sequence[EffortSpec], context: BatchContext, *,
                 joints: ActuatedJoints | None, in_effort: bool) -> None:  # fmt: skip
        super().__init__(name, specs, context)
        self.reads_state = joints is not None
        self._joints = joints
        self._per_control = joints.effort_per_control if joints is not None and in_effort else None
        if self._per_control is not None:
            ends = self._low * self._per_control, self._high * self._per_control
            self._low, self._high = np.minimum(*ends), np.maximum(*ends)
        self._brakes = np.array([spec.brakes for spec in specs])[:, None]
        self._brake_damping = self.numbers(specs, lambda s: s.brake_damping or 0.0)[:, None]
        if joints is not None and not in_effort:
            self._brake_damping = self._brake_damping / joints.effort_per_control

    def braked(self, wanted: Floats, tripped: Bools, start: Floats) -> Floats:
        """See :meth:`Driver.braked`: an effort against the joint's velocity."""
        if self._joints is None:
            return wanted
        brake = -self._brake_damping * self._joints.velocity(start)
        return np.where((tripped & self._brakes)[..., None], brake, wanted)

    def control(self, applied: Floats) -> Floats:
        """See :meth:`Driver.control`."""
        return applied if self._per_control is None else applied / self._per_control

    def add_dead_band(self, specs: Sequence[EffortSpec]) -> None:
        """Let small commands act as zero, before anything else."""
        self._stages[:0] = dead_band(specs, self.width)
