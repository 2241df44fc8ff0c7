"""The thirteen phases of one step, listed once; faults, traces, docs and tests use this list."""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """One canonical phase.  Their order never changes, in any mode and with any integration around it."""

    DEFERRED_ACTIONS_COMMIT = 1
    EXTERNAL_INPUT_COMMIT = 2
    CONTINUOUS_PRESCRIBED_STATE = 3
    DERIVED_STATE_RECOMPUTE = 4
    DEVICE_UPDATE = 5
    ACTUATOR_APPLICATION = 6
    PHYSICS_STEP = 7
    POST_PHYSICS_SNAPSHOT = 8
    INTERACTION_EVALUATION = 9
    DOMAIN_COMMIT = 10
    OBSERVER = 11
    TRACE_RECORD = 12
    EXTERNAL_OUTPUT_PUBLISH = 13

    @property
    def title(self) -> str:
        """The name people read: ``PhysicsStep``."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    def __str__(self) -> str:
        return self.title
