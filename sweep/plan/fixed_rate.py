"""A fixed-rate schedule in plain float seconds, for an agent that is advanced by elapsed time, off any grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from sweep.errors import InvalidElapsedError, InvalidIntervalError, InvalidPhaseError

BOUNDARY_TOLERANCE_SCALE = 1e-12
"""A sample this close to an update's end is due in it, relative to the larger of the two times and at least to 1 s."""

MAX_SAMPLE_INDEX = 2**53
"""Last sample a FixedRateSchedule can number: beyond it, floats no longer tell one index from the next."""


@dataclass(frozen=True, slots=True)
class FixedRateSample:
    """One due sample of a FixedRateSchedule.

    Attributes:
        scheduled_time_s: exactly ``phase + k * interval`` [s].
        offset_in_update_s: scheduled time since the update's start [s], within the update.
        elapsed_since_previous_s: since the previous sample, or since time zero, or since the last skip's end [s].
    """

    scheduled_time_s: float
    offset_in_update_s: float
    elapsed_since_previous_s: float


class FixedRateSchedule:
    """Samples at a fixed rate for one agent that is advanced by elapsed seconds.

    Sample *k* is scheduled at ``phase + k * interval`` in float64: one product and one sum, never accumulated.
    A sample within the boundary tolerance of time zero is passed over: before anything has happened there is
    nothing to sample, so a zero phase first samples one whole interval in.  Every error leaves the schedule as
    it was.

    Args:
        interval_s: time from one sample to the next [s].
        phase_offset_s: time of sample 0 [s], in [0, interval).

    Raises:
        InvalidIntervalError: the interval is not positive and finite.
        InvalidPhaseError: the phase is not in [0, interval).
    """

    __slots__ = ("_baseline", "_correction", "_interval", "_next", "_phase", "_total")

    def __init__(self, interval_s: float, phase_offset_s: float = 0.0) -> None:
        interval, phase = _real(interval_s), _real(phase_offset_s)
        if not (math.isfinite(interval) and interval > 0.0):
            raise InvalidIntervalError(f"interval_s must be a finite number of seconds above 0; found {interval_s!r}")
        if not 0.0 <= phase < interval:
            raise InvalidPhaseError(f"phase_offset_s must be in [0, {interval!r}); found {phase_offset_s!r}")
        self._interval, self._phase = interval, phase
        self._total = self._correction = self._baseline = 0.0
        self._next = 1 if self._is_due(0, 0.0) else 0

    def __repr__(self) -> str:
        return f"FixedRateSchedule({self._interval!r}, {self._phase!r}) at {self.simulation_time_s!r} s"

    @property
    def phase_offset_s(self) -> float:
        """The phase it was built with [s]."""
        return self._phase

    @property
    def simulation_time_s(self) -> float:
        """The time it has been advanced or skipped to [s]."""
        return self._total + self._correction

    @property
    def next_sample_time_s(self) -> float:
        """Scheduled time of the next sample [s], later than the clock by more than the tolerance.

        An interval not above the tolerance at time zero (1e-12 s) cannot promise that before the first advance.
        """
        return self._scheduled(self._next)

    def advance(self, elapsed_s: float) -> tuple[FixedRateSample, ...]:
        """Moves the clock by ``elapsed_s`` and returns every sample due by then, in increasing time.

        A sample is due if it is at or before the update's end, or within the boundary tolerance of it.

        Raises:
            InvalidElapsedError: the elapsed time is negative or not finite, the time reached is not finite, or
                the samples due pass ``MAX_SAMPLE_INDEX``.
        """
        total, correction = self._moved(elapsed_s)
        start, end = self.simulation_time_s, total + correction
        self._check_index((end + _tolerance(end, end) - self._phase) / self._interval, end)
        samples, k, baseline = [], self._next, self._baseline
        while self._is_due(k, end):
            scheduled = self._scheduled(k)
            offset = min(max(scheduled - start, 0.0), float(elapsed_s))
            samples.append(FixedRateSample(scheduled, offset, scheduled - baseline))
            k, baseline = k + 1, scheduled
        self._check_index(k, end)
        self._total, self._correction, self._next, self._baseline = total, correction, k, baseline
        return tuple(samples)

    def skip_elapsed(self, elapsed_s: float) -> None:
        """Moves the clock by ``elapsed_s`` without samples; the phase stays, the elapsed baseline is the skip's end.

        Raises:
            InvalidElapsedError: the elapsed time is negative or not finite, the time reached is not finite, or the
                next sample is past ``MAX_SAMPLE_INDEX`` or within tolerance of the skip's end.
        """
        total, correction = self._moved(elapsed_s)
        end = total + correction
        k = self._first_after(end)
        k += self._is_due(k, end)
        self._check_index(k, end)
        if self._is_due(k, end):
            raise InvalidElapsedError(
                f"at {end!r} s an interval of {self._interval!r} s is too small to tell one sample from the next; "
                f"the sample times must differ by more than {_tolerance(end, end)!r} s"
            )
        self._total, self._correction, self._next, self._baseline = total, correction, k, end

    def _scheduled(self, k: int) -> float:
        return self._phase + k * self._interval

    def _is_due(self, k: int, end: float) -> bool:
        scheduled = self._scheduled(k)
        return math.isfinite(scheduled) and scheduled <= end + _tolerance(scheduled, end)

    def _moved(self, elapsed_s: float) -> tuple[float, float]:
        """The clock after ``elapsed_s`` as (sum, correction): by Neumaier, so that equal advances do not drift."""
        elapsed = _real(elapsed_s)
        if not (math.isfinite(elapsed) and elapsed >= 0.0):
            raise InvalidElapsedError(f"elapsed_s must be a finite number of seconds, at least 0; found {elapsed_s!r}")
        total = self._total + elapsed
        larger, smaller = max(self._total, elapsed), min(self._total, elapsed)
        correction = self._correction + ((larger - total) + smaller)
        if not math.isfinite(total + correction):
            raise InvalidElapsedError(f"{elapsed_s!r} s after {self.simulation_time_s!r} s is not a finite time")
        return total, correction

    def _first_after(self, end: float) -> int:
        """Index of the first sample not yet passed that is later than ``end``, tolerance aside; costs O(1)."""
        quotient = (end - self._phase) / self._interval
        self._check_index(quotient, end)
        # Up to the index bound the quotient is at most a few samples wrong.
        k = max(self._next, int(quotient))
        while k > self._next and self._scheduled(k - 1) > end:
            k -= 1
        while self._scheduled(k) <= end:
            k += 1
        return k

    def _check_index(self, index: float, end: float) -> None:
        if not index <= MAX_SAMPLE_INDEX:
            raise InvalidElapsedError(
                f"at {end!r} s a schedule of interval {self._interval!r} s is past sample {MAX_SAMPLE_INDEX}, "
                "the last that can be numbered"
            )


def _tolerance(scheduled: float, end: float) -> float:
    return BOUNDARY_TOLERANCE_SCALE * max(1.0, abs(scheduled), abs(end))


def _real(value: Any) -> float:
    """``value`` as a float, NaN if it is not a real number: every caller's check refuses NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
