"""What the Manifest says of prescribed state: the motion of mocap bodies."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from sweep.plan.claims import MocapPose, StateClaim
from sweep.plan.component import Capability, ComponentSpec
from sweep.plan.disturbances import Vector
from sweep.plan.fields import Number, PositiveSeconds, Seconds, Waypoints
from sweep.plan.imperfection import in_unit
from sweep.plan.mount import Metres, Position, Quaternion, Radians

Hertz = Annotated[float, in_unit("Hz"), Field(ge=0)]
"""A frequency [Hz]."""


class MocapMotionSpec(ComponentSpec):
    """Moves a mocap body: along waypoints, to and fro, turning, or all of it, about where the model has it.

    The pose at a boundary is a function of that boundary's instant alone.  A mocap body has no velocity for the solver,
    so it carries nothing by friction: weld a dynamic body to it, and let that one carry.

    Attributes:
        body: the mocap body.
        position_m: where it moves about, in the world; the model's own place if not given [m].
        quaternion: its orientation there, (w, x, y, z), of any length; the model's own if not given.
        amplitude_m: amplitude of a sine along ``direction`` [m].
        direction: which way it goes to and fro, in the world, of any length.
        frequency_hz: how often it goes to and fro [Hz].
        phase_turns: where in its sine it is at time 0 [turns].
        amplitude_rad: amplitude of a sine of the angle about ``rotation_axis`` [rad].
        rotation_axis: what it turns about, in the world, of any length.
        rotation_frequency_hz: how often it turns to and fro [Hz].
        rotation_phase_turns: where in that sine it is at time 0 [turns].
        ramp_s: both sines grow from nothing to their amplitudes within this time, from rest to rest [s].
        waypoints_m: displacements that it visits, by minimum-jerk segments from rest to rest; rows of x, y, z [m].
        segment_s: duration of each segment [s].
        repeat: go back to the first waypoint and start over; otherwise stay at the last.
    """

    capability: ClassVar[Capability] = Capability.PRESCRIBED_STATE
    varying: ClassVar[frozenset[str]] = frozenset(
        {"position_m", "quaternion", "amplitude_m", "direction", "frequency_hz", "phase_turns", "ramp_s"}
        | {"amplitude_rad", "rotation_axis", "rotation_frequency_hz", "rotation_phase_turns"}
        | {"waypoints_m", "segment_s", "repeat"}
    )

    example: ClassVar[str] = """
        type: mocap_motion
        body: tray
        amplitude_m: 20 mm
        frequency_hz: 1.5
        ramp_s: 1
    """

    type: Literal["mocap_motion"]
    body: str
    position_m: Position | None = None
    quaternion: Quaternion | None = None
    amplitude_m: Metres = 0.0
    direction: Vector = (1.0, 0.0, 0.0)
    frequency_hz: Hertz = 1.0
    phase_turns: Number = 0.0
    amplitude_rad: Radians = 0.0
    rotation_axis: Vector = (0.0, 0.0, 1.0)
    rotation_frequency_hz: Hertz = 1.0
    rotation_phase_turns: Number = 0.0
    ramp_s: Seconds = 0.0
    waypoints_m: Waypoints | None = None
    segment_s: PositiveSeconds | None = None
    repeat: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> MocapMotionSpec:
        for name in ("direction", "rotation_axis", "quaternion"):
            vector = getattr(self, name)
            if vector is not None and not any(vector):
                raise ValueError(f"{name} must not be all zeros")
        if (self.waypoints_m is None) != (self.segment_s is None):
            raise ValueError("waypoints_m and segment_s go together")
        for number, row in enumerate(self.waypoints_m or ()):
            if len(row) != 3:
                raise ValueError(f"waypoint {number} has {len(row)} numbers, not x, y, z")
        return self

    def claims(self, name: str) -> tuple[StateClaim, ...]:
        """See :meth:`ComponentSpec.claims`."""
        return (StateClaim(MocapPose(self.body), name),)
