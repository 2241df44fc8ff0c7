"""What a host's thread does, as a value that other threads wait for."""

from __future__ import annotations

import threading
from enum import StrEnum


class HostState(StrEnum):
    """What the execution thread of a host does."""

    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    FAULTED = "faulted"
    STOPPED = "stopped"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens until a reset, if ever."""
        return self in (HostState.ENDED, HostState.FAULTED, HostState.STOPPED)


class StateCell:
    """A state that changes on one thread and is read and waited for on others."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._state = HostState.CREATED

    @property
    def now(self) -> HostState:
        """The state."""
        return self._state

    def enter(self, state: HostState) -> None:
        """Change it."""
        with self._changed:
            self._state = state
            self._changed.notify_all()

    def leave(self, before: HostState, after: HostState) -> bool:
        """Change it if it is ``before``, in one go; says whether it was."""
        with self._changed:
            if self._state is not before:
                return False
            self.enter(after)
            return True

    def wait_over(self, timeout_s: float | None) -> HostState:
        """Wait until it is over, or no longer than ``timeout_s`` [s]; returns the state then."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.is_over, timeout_s)
            return self._state
