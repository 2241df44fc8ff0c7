"""Sines and cosines with the same bits on every CPU and numpy version.

Like :mod:`sweep.runtime.numerics.draws` it uses + - * / and exact operations only.  Arguments are in turns, whose
reduction to an eighth of a turn is exact however many turns there are; the rest are the power series.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TURNS_PER_RAD = 0.15915494309189535
"""1 / (2 pi): what a number of radians is multiplied by to become turns."""

# (2 pi)^k / k! with alternating signs, highest power first: over an eighth of a turn the next term is below 1e-17.
_SINE = (
    -0.7181223017785006, 3.819952584848282, -15.09464257682299, 42.058693944897655,
    -76.70585975306139, 81.60524927607506, -41.34170224039976, 6.283185307179586,
)  # fmt: skip
_COSINE = (
    0.28200596845579123, -1.714390711088672, 7.903536371318469, -26.4262567833744, 60.24464137187666,
    -85.45681720669373, 64.9393940226683, -19.739208802178716, 1.0,
)  # fmt: skip


def sines_of(turns: Floats) -> Floats:
    """The sine of each number of turns, within 2e-16 of the truth; the same shape."""
    return sines_and_cosines_of(turns)[0]


def cosines_of(turns: Floats) -> Floats:
    """The cosine of each number of turns, within 2e-16 of the truth; the same shape."""
    return sines_and_cosines_of(turns)[1]


def sines_and_cosines_of(turns: Floats) -> tuple[Floats, Floats]:
    """Both at once."""
    rest = turns - np.rint(turns)
    quarters = np.rint(4.0 * rest)
    rest -= 0.25 * quarters
    squared = rest * rest
    sine, cosine = rest * _polynomial(_SINE, squared), _polynomial(_COSINE, squared)
    quadrant = quarters.astype(np.int64) % 4
    swapped = quadrant % 2 == 1
    first, second = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    return np.where(quadrant >= 2, -first, first), np.where((quadrant == 1) | (quadrant == 2), -second, second)


def _polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= x
        total += coefficient
    return total
