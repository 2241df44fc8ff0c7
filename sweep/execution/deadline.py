"""Deadlines: how long one call may take, and what there is to say of one that took longer."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from sweep.runtime.batch import InstanceBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Overdue:
    """What comes back from a call that took longer than it may; it travels in place of records.

    Attributes:
        limit_s: wall time that the call was given [s].
        wall_s: wall time that it had [s].
        time_s: simulated time that it reached [s]; None if it did not even say that it was late, and was killed.
    """

    limit_s: float
    wall_s: float
    time_s: float | None = None

    @property
    def is_hang(self) -> bool:
        """Whether it was killed: within a step, or before the first one, nothing looks at the clock."""
        return self.time_s is None

    def told(self, duration_s: float) -> str:
        """What happened and what to type, for people.

        Args:
            duration_s: simulated time that was to be reached [s].
        """
        limit = f"executor.timeout_s={self.limit_s:g}"
        if self.time_s is None:
            more = f"executor.timeout_s={_rounded(2 * self.wall_s)}"
            return f"no answer within {limit}, so its worker was killed: it hangs in one step, or needs {more}"
        pace = duration_s / self.time_s if self.time_s else 2.0
        more = f"executor.timeout_s={_rounded(1.2 * pace * self.wall_s)}"
        return f"{limit} was over with {self.time_s:g} of {duration_s:g} s simulated; at this pace it needs {more}"


class OverdueError(Exception):
    """Carries :class:`Overdue` out of a call; it never leaves the process."""

    def __init__(self, overdue: Overdue) -> None:
        super().__init__(overdue)
        self.overdue = overdue


class Deadline:
    """The end of the time that a call may take; it counts from here.

    Args:
        limit_s: that time [s].
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._began = time.perf_counter()

    def check(self, batch: InstanceBatch) -> None:
        """Go on if there is time left, or nothing to do.

        Raises:
            OverdueError: there is something to do and no time.
        """
        wall_s = time.perf_counter() - self._began
        if wall_s >= self._limit_s and not batch.is_over:
            reached = batch.grid.time_s(batch.tick)
            raise OverdueError(Overdue(limit_s=self._limit_s, wall_s=wall_s, time_s=reached))


def _rounded(duration_s: float) -> str:
    """A duration of two digits, rounded up."""
    digit = 10.0 ** (math.floor(math.log10(max(duration_s, 1e-3))) - 1)
    return f"{math.ceil(duration_s / digit) * digit:g}"
