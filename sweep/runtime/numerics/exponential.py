"""The exponential and the normal distribution function, with the same bits on every CPU and numpy version.

Like :mod:`sweep.runtime.numerics.draws`, whose companions they are, they use + - * / and exact operations only.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.numerics.draws import LN2_HIGH, LN2_LOW, normal_of

Floats = NDArray[np.float64]

# exp(x) = 2^k * exp(r) with |r| <= ln(2) / 2, where fourteen terms of the power series reach 1e-17.
_SERIES = tuple(1.0 / math.factorial(term) for term in reversed(range(14)))
_INVERSE_LN2 = 1.4426950408889634
_LARGEST, _LEAST = 709.0, -745.0


def exps_of(x: Floats) -> Floats:
    """The exponential of each number of -745 .. 709 (beyond them, of these bounds), to about one ulp; same shape."""
    x = np.minimum(np.maximum(x, _LEAST), _LARGEST)
    powers = np.rint(x * _INVERSE_LN2)
    r = (x - powers * LN2_HIGH) - powers * LN2_LOW
    series = np.full_like(r, _SERIES[0])
    for coefficient in _SERIES[1:]:
        series *= r
        series += coefficient
    result: Floats = np.ldexp(series, powers.astype(np.int64))
    return result


def exp_of(x: float) -> float:
    """The exponential of one number: bit for bit what :func:`exps_of` gives."""
    return float(exps_of(np.array([x]))[0])


@lru_cache(maxsize=1024)
def normal_probability_of(z: float) -> float:
    """The probability that a standard normal number is below ``z``, to 2**-64.

    Found by bisection of its inverse, so it is as portable and agrees with it.
    """
    low, high = 0.0, 1.0
    for _ in range(64):
        middle = (low + high) / 2
        if normal_of(middle) < z:
            low = middle
        else:
            high = middle
    return high
