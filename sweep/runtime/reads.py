"""What a capability declares that it reads of a boundary, so that nothing else is computed for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class StateLevel(IntEnum):
    """How far MuJoCo's derived state must be computed for a reader.

    ``STATE``: time, qpos, qvel, act and controls alone.  ``VELOCITY``: all that depends on position and velocity:
    kinematics, collision, constraint construction, sensors of those stages.  ``FULL``: also what depends on forces:
    actuation, accelerations, constraint forces and their sensors.
    """

    STATE = 0
    VELOCITY = 1
    FULL = 2


@dataclass(frozen=True, slots=True)
class Reads:
    """A reader's declaration.

    Attributes:
        level: the level that its fields belong to.
        fields: names of MjData fields beyond the state itself, for example ``sensordata`` or ``xpos``.
    """

    level: StateLevel = StateLevel.STATE
    fields: frozenset[str] = frozenset()


OF_FORCES = frozenset(
    {"act_dot", "actuator_force", "cacc", "cfrc_ext", "cfrc_int", "efc_force", "qacc", "qacc_smooth", "qfrc_actuator"}
    | {"qfrc_constraint", "qfrc_inverse", "qfrc_smooth"}
)
"""MjData fields that only the full level has."""

STATE_ONLY = Reads()
"""Reads qpos, qvel, act, time and controls."""

SENSORS = Reads(StateLevel.VELOCITY, frozenset({"sensordata"}))
"""Reads sensors that depend on position and velocity."""

FORCE_SENSORS = Reads(StateLevel.FULL, frozenset({"sensordata"}))
"""Reads sensors that depend on forces or accelerations."""
