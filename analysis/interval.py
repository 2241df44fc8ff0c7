"""An estimate with its interval: the value that every table, figure and sentence is made of."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.95
ROUNDING = 1e-14
"""Relative size of what floating-point subtraction leaves of equal differences."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its confidence interval.

    Attributes:
        estimate: the point estimate.
        low: lower limit; None if there is none.
        high: upper limit; None if there is none.
        n: values, pairs or trials it rests on.
    """

    estimate: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def is_constant(self) -> bool:
        """Whether it rests on several values that are all equal, but for rounding."""
        return self.half_width is not None and self.half_width <= ROUNDING * abs(self.estimate)

    def excludes(self, value: float) -> bool:
        """Whether the interval exists and does not hold ``value``."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high
