"""Passes over the ticks of a block, for all lanes: folds from left to right, and copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.numerics.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SUM, SUM_OF_SQUARES, SUM_OF_SIZES, LEAST, GREATEST, GREATEST_SIZE, LAST, LAST_SIZE = range(8)
"""How a row is combined with what came before it."""


@compiled
def fold(how: int, rows: Floats, counts: Ints, folded: Floats) -> None:
    """Take rows of many lanes in.

    Args:
        how: one of the constants of this module.
        rows: ``(lanes, ticks, width)``.
        counts: ``(lanes,)`` how many of the rows are each lane's, the leading ones.
        folded: ``(lanes, width)`` what came before, and then the whole; a NaN stays.
    """
    for lane in range(len(rows)):
        for tick in range(counts[lane]):
            for number in range(rows.shape[2]):
                folded[lane, number] = _combined(how, folded[lane, number], rows[lane, tick, number])


@compiled
def _combined(how: int, before: float, x: float) -> float:
    if how == SUM:
        return before + x
    if how == SUM_OF_SQUARES:
        return before + x * x
    if how == SUM_OF_SIZES:
        return before + abs(x)
    if how == LEAST:
        return x if x < before or x != x else before
    if how == GREATEST_SIZE:
        x = abs(x)
    if how == LAST_SIZE:
        return abs(x)
    if how == LAST:
        return x
    return x if x > before or x != x else before


@compiled
def copy_sound(limit: float, rows: Floats, warnings: NDArray[Any], to: Floats) -> bool:
    """Copy what physics recorded to where it belongs, and look at it.

    Args:
        limit: the largest size of a number of a sound lane.
        rows: ``(lanes, n, width)``.
        warnings: ``(lanes, kinds, 2)`` MuJoCo's warnings; the second number counts.
        to: ``(lanes, n, width)``.

    Returns:
        Whether no lane has a warning, or a number beyond the limit or none.
    """
    is_sound = True
    for lane in range(len(warnings)):
        for kind in range(warnings.shape[1]):
            is_sound &= warnings[lane, kind, 1] == 0
    for lane in range(len(rows)):
        for row in range(rows.shape[1]):
            for number in range(rows.shape[2]):
                x = rows[lane, row, number]
                to[lane, row, number] = x
                is_sound &= abs(x) <= limit
    return is_sound
