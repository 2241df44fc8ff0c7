"""How long something has been so without a break, in every lane, across blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class Held:
    """What first is so in step *a* and stays so has been held from the first step *b* with ``b - a >= ticks``.

    Args:
        ticks: ``(lanes,)`` how long.
    """

    def __init__(self, ticks: Ints) -> None:
        self._ticks = ticks[:, None]
        self._is_at_once = not ticks.any()
        # The last step in which it was not so: at the start, the one before the first.
        self._last_break = np.full(len(ticks), -1, np.int64)

    def enough(self, so: Bools, start: int) -> Bools:
        """Whether it has been held for long enough after each step of a block; blocks are asked for in order.

        Args:
            so: ``(lanes, length)`` whether it is so after each step.
            start: the block's first step.
        """
        if self._is_at_once:
            return so
        length = so.shape[1]
        if not so.any():
            self._last_break[:] = start + length - 1
            return so
        steps = np.arange(start, start + length)
        breaks = np.where(so, self._last_break[:, None], steps)
        np.maximum.accumulate(breaks, axis=1, out=breaks)
        self._last_break = breaks[:, -1]
        held: Bools = steps - breaks > self._ticks
        return held


def first_steps(so: Bools, start: int) -> Iterator[tuple[int, int]]:
    """Each lane in which something is so after a step of a block, and the first such step."""
    first = so.argmax(axis=1)
    for lane in np.flatnonzero(so.any(axis=1)).tolist():
        yield lane, start + int(first[lane])
