"""An interval that values are taken from: its ends, its scale, and whether only whole numbers count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sweep.design.cell import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """All numbers between two ends, equally likely, or equally likely in every ratio on a log scale.

    A whole number stands for all that round to it, so that both ends are as likely as those between.

    Attributes:
        low: the lower end (SI unit), above 0 on a log scale.
        high: the upper end, above ``low``; the differences of all numbers between are finite.
        is_log: whether the scale is logarithmic.
        is_integer: whether only whole numbers count; the ends are, then.
    """

    low: float | int
    high: float | int
    is_log: bool = False
    is_integer: bool = False

    def at(self, share: float, digits: int | None) -> float | int:
        """The value below which a share of the interval lies, its quantile.

        Args:
            share: 0 .. 1.
            digits: decimal digits to round to: of the value on a log scale, else of the interval's width; None for all
                that a float has.
        """
        if not self.is_integer:
            return self._rounded(self._between(share, self.low, self.high), digits)
        return self._whole(self._between(share, self.low - 0.5, self.high + 0.5))

    def levels(self, count: int, digits: int | None) -> Iterator[float | int]:
        """Equally spaced values on the interval's scale, from end to end; whole numbers may come twice.

        Args:
            count: how many, at least 2.
            digits: see :meth:`at`; the ends are not rounded.
        """
        yield self.low
        for step in range(1, count - 1):
            value = self._between(step / (count - 1), self.low, self.high)
            yield self._whole(value) if self.is_integer else self._rounded(value, digits)
        yield self.high

    def __str__(self) -> str:
        text = f"interval({shown(self.low)},{shown(self.high)})"
        text = f"int({text})" if self.is_integer else text
        return f"tag(log,{text})" if self.is_log else text

    def _between(self, share: float, low: float, high: float) -> float:
        if self.is_log:
            return math.exp(self._mixed(share, math.log(low), math.log(high)))
        return self._mixed(share, low, high)

    @staticmethod
    def _mixed(share: float, low: float, high: float) -> float:
        return low * (1.0 - share) + high * share

    def _whole(self, value: float) -> int:
        return int(min(max(math.floor(value + 0.5), self.low), self.high))

    def _rounded(self, value: float, digits: int | None) -> float:
        if digits is not None:
            size = abs(value) if self.is_log else self.high - self.low
            value = round(value, digits - 1 - math.floor(math.log10(size)))
        return min(max(value, float(self.low)), float(self.high))
