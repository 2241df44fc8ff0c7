"""Instants of many boundaries or samples at once, each correctly rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXACT = 2**53
"""Integers below it are floats, so that one division rounds their quotient correctly."""


@dataclass(frozen=True, slots=True, eq=False)
class LaneInstants:
    """The instants ``offset + k * interval`` [s] of each lane, as ``(start + k * step) / denominator`` in integers.

    Attributes:
        step: ``(lanes,)``.
        start: ``(lanes,)``.
        denominator: ``(lanes,)``.
        reach: largest magnitude of k for which every numerator is below 2**53.
    """

    step: NDArray[Any]
    start: NDArray[Any]
    denominator: NDArray[Any]
    reach: int

    @classmethod
    def of(cls, lanes: Sequence[tuple[Fraction, Fraction]]) -> LaneInstants:
        """The instants of lanes, each given by its interval and offset [s]."""
        denominators = [math.lcm(interval.denominator, offset.denominator) for interval, offset in lanes]
        steps = [int(interval * d) for (interval, _), d in zip(lanes, denominators, strict=True)]
        starts = [int(offset * d) for (_, offset), d in zip(lanes, denominators, strict=True)]
        widest = max([*map(abs, steps), *map(abs, starts), *denominators])
        reach = (_EXACT - 1) // widest - 1
        step, start, denominator = (
            np.array(integers, np.int64 if reach > 0 else object) for integers in (steps, starts, denominators)
        )
        return cls(step, start, denominator, reach)

    def at(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """The instant of ``k (lanes,)`` in each lane, or of ``k (n,)`` in the only lane [s]: the nearest floats."""
        if not k.size or max(abs(int(k.max())), abs(int(k.min()))) <= self.reach:
            seconds: NDArray[np.float64] = (k * self.step + self.start) / self.denominator
            return seconds
        parts = [np.broadcast_to(part, k.shape).tolist() for part in (k, self.step, self.start, self.denominator)]
        return np.array([float(Fraction(n * step + start, d)) for n, step, start, d in zip(*parts, strict=True)])

    def lane(self, lane: int) -> LaneInstants:
        """One lane's instants."""
        row = slice(lane, lane + 1)
        return LaneInstants(self.step[row], self.start[row], self.denominator[row], self.reach)
