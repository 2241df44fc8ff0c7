"""Pacing: when a step may begin by the wall clock.  It changes *when*, never *what*."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sweep.errors import LateError

PERCENTILES = (50.0, 90.0, 99.0, 99.9)
"""Those of a :class:`LatenessReport`."""

_FINEST_S = 1e-6
_PER_OCTAVE = 4
_BUCKETS = 160
"""A quarter of an octave wide each, from a microsecond on: a session of any length is remembered in so many numbers."""


@dataclass(frozen=True, slots=True)
class WallClock:
    """Where a host takes the time from, and how it waits; tests have their own.

    Attributes:
        now: a clock that never goes back [s].
        sleep: waits for so long [s].
    """

    now: Callable[[], float]
    sleep: Callable[[float], None]


WALL_CLOCK = WallClock(time.monotonic, time.sleep)
"""The real one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatenessReport:
    """How much later than scheduled the steps of a session began.

    Attributes:
        steps: steps that were paced.
        late: of them, those that began when the next one was due already.
        mean_s: mean lateness over all steps [s].
        max_s: greatest lateness [s].
        worst_tick: the step that had it; -1 before the first.
        percentiles_s: lateness that so many percent of the steps stayed below [s], to a fifth of its value.
    """

    steps: int = 0
    late: int = 0
    mean_s: float = 0.0
    max_s: float = 0.0
    worst_tick: int = -1
    percentiles_s: Mapping[float, float] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.steps:
            return "no step was paced"
        return (
            f"{self.late} of {self.steps} steps late by a step or more; "
            f"mean {_spelled(self.mean_s)}, 99 % below {_spelled(self.percentiles_s[99.0])}, "
            f"worst {_spelled(self.max_s)} at tick {self.worst_tick}"
        )


class Pacer:
    """An absolute schedule: step n may not begin before ``start + n * timestep / pace``.

    The schedule does not give way to a late step, so steps after it begin early enough to catch up.

    Args:
        interval_s: wall time between two steps, ``timestep / pace`` [s].
        tolerance_s: lateness that is an error [s]; None means that none is.
        clock: the wall clock.
    """

    def __init__(self, interval_s: float, tolerance_s: float | None, clock: WallClock) -> None:
        self._interval_s = interval_s
        self._tolerance_s = tolerance_s
        self._clock = clock
        self._start_s, self._first = 0.0, 0
        self._steps = self._late = 0
        self._sum_s = self._max_s = 0.0
        self._worst = -1
        self._counts = [0] * _BUCKETS

    def anchor(self, tick: int) -> None:
        """Begin the schedule anew: step ``tick`` is due now.  A pause or a reset is no lateness."""
        self._start_s, self._first = self._clock.now(), tick

    def ahead_s(self, tick: int) -> float:
        """Wall time until a step may begin [s]; 0 or less when it is due."""
        # One product, never a sum of intervals: a schedule does not drift.
        return self._start_s + (tick - self._first) * self._interval_s - self._clock.now()

    def begin(self, tick: int) -> None:
        """Note that a step begins now.

        Raises:
            LateError: it is later than tolerated; it has not begun.
        """
        lateness = max(0.0, -self.ahead_s(tick))
        self._steps += 1
        self._sum_s += lateness
        self._late += lateness >= self._interval_s
        self._counts[_bucket(lateness)] += 1
        if lateness > self._max_s or self._worst < 0:
            self._max_s, self._worst = lateness, tick
        if self._tolerance_s is not None and lateness >= self._tolerance_s:
            raise LateError(
                f"late by {_spelled(lateness)} at tick {tick}; "
                f"{_spelled(self._tolerance_s)} is tolerated. Lower pace=, or do without strict=."
            )

    def report(self) -> LatenessReport:
        """What was noted so far; safe from any thread."""
        counts = list(self._counts)
        if not any(counts):
            return LatenessReport()
        return LatenessReport(
            steps=self._steps,
            late=self._late,
            mean_s=self._sum_s / self._steps,
            max_s=self._max_s,
            worst_tick=self._worst,
            percentiles_s={percent: min(_percentile_s(counts, percent), self._max_s) for percent in PERCENTILES},
        )


def _percentile_s(counts: Sequence[int], percent: float) -> float:
    """Upper edge of the bucket that so many percent of the steps do not lie beyond [s]."""
    wanted = math.ceil(sum(counts) * percent / 100)
    bucket = next(bucket for bucket, seen in enumerate(itertools.accumulate(counts)) if seen >= wanted)
    return math.inf if bucket == _BUCKETS - 1 else _FINEST_S * 2 ** (bucket / _PER_OCTAVE)


def _bucket(lateness_s: float) -> int:
    if lateness_s <= _FINEST_S:
        return 0
    return min(_BUCKETS - 1, math.ceil(_PER_OCTAVE * math.log2(lateness_s / _FINEST_S)))


def _spelled(seconds: float) -> str:
    """``1.25 ms``, ``0.2 s``."""
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{seconds * 1e3:.3g} ms"
