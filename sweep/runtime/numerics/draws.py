"""Draws: numbers that are pure functions of a key and an index, with the same bits on every CPU.

Words are those of the counter-based generator Philox4x64-10 as numpy counts them; words become uniform numbers, and
those normal ones.  Only + - * / and sqrt are used, which IEEE 754 rounds one way; the logarithm of the C library
differs between CPUs, so it is our own.

Sources: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11;
M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988), 477-484.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.numerics.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_LARGEST_UNIFORM = 1.0 - 2.0**-53
_CENTRAL, _CENTRAL_SQUARED = 0.425, 0.180625
_FAR, _NEAR_SHIFT = 5.0, 1.6

# Numerator and denominator of each region, highest power first.
_CENTRAL_TOP = (
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
)
_CENTRAL_BOTTOM = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
_NEAR_TOP = (
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
_NEAR_BOTTOM = (
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
)
_FAR_TOP = (
    2.01033439929228813265e-7,
    2.71155556874348757815e-5,
    1.24266094738807843860e-3,
    2.65321895265761230930e-2,
    2.96560571828504891230e-1,
    1.78482653991729133580e0,
    5.46378491116411436990e0,
    6.65790464350110377720e0,
)
_FAR_BOTTOM = (
    2.04426310338993978564e-15,
    1.42151175831644588870e-7,
    1.84631831751005468180e-5,
    7.86869131145613259100e-4,
    1.48753612908506148525e-2,
    1.36929880922735805310e-1,
    5.99832206555887937690e-1,
    1.0,
)

# With f = m - 1, which is exact, and s = f / (m + 1): log(m) = 2 (s + s^3/3 + s^5/5 + ...) and 2 s = f - f s, so
# log(m) = f - s (f - 2/3 s^2 - 2/5 s^4 - ...): what is rounded is small beside f.  |s| < 0.172, so twelve terms of the
# series reach 1e-19.
_LOG_SERIES = tuple(2.0 / (2 * term + 1) for term in reversed(range(1, 12)))
_SQRT_HALF = 0.7071067811865476
# ln 2 in two parts; the first has so few bits that its product with any exponent is exact.
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")

# Philox: what each round multiplies by, and what each adds to its key.
_U = np.uint64
_MULTIPLIERS = _U(0xD2E7470EE14C6C93), _U(0xCA5A826395121157)
_STRIDES = _U(0x9E3779B97F4A7C15), _U(0xBB67AE8584CAA73B)
_ROUNDS = 10
_LOW_HALF, _HALF = _U(0xFFFFFFFF), _U(32)
_ONE, _FOUR, _DROPPED = _U(1), _U(4), _U(11)


@compiled
def normal_of(uniform: float) -> float:
    """The standard normal number of one uniform in (0, 1)."""
    q = uniform - 0.5
    if abs(q) <= _CENTRAL:
        return _central(q)
    r = math.sqrt(-log_of(uniform if q < 0.0 else 1.0 - uniform))
    if r <= _FAR:
        r -= _NEAR_SHIFT
        z = _polynomial(_NEAR_TOP, r) / _polynomial(_NEAR_BOTTOM, r)
    else:
        r -= _FAR
        z = _polynomial(_FAR_TOP, r) / _polynomial(_FAR_BOTTOM, r)
    return -z if q < 0.0 else z


@compiled
def _central(q: float) -> float:
    """The normal number of ``0.5 + q`` where ``|q|`` is at most 0.425; elsewhere it means nothing."""
    r = _CENTRAL_SQUARED - q * q
    return _polynomial(_CENTRAL_TOP, r) * q / _polynomial(_CENTRAL_BOTTOM, r)


@compiled
def log_of(x: float) -> float:
    """Natural logarithm of a positive float, correctly rounded but for a few in a thousand."""
    m, exponent = math.frexp(x)
    if m < _SQRT_HALF:
        m, exponent = m * 2.0, exponent - 1
    f = m - 1.0
    s = f / (m + 1.0)
    squared = s * s
    low = exponent * LN2_LOW - s * (f - squared * _polynomial(_LOG_SERIES, squared))
    high = exponent * LN2_HIGH
    total = high + f  # what this sum loses is added back
    return total + (((high - total) + f) + low)


@compiled
def gather(rows: Floats, places: Ints, first: int, columns: Ints, to: Floats) -> None:
    """Copy some numbers of some rows.

    Args:
        rows: ``(lanes, n, width)``.
        places: ``(lanes or 1, m)`` which rows; one row of places is every lane's.
        first: the number of row 0.
        columns: ``(k,)`` which numbers.
        to: ``(lanes, m, k)``, where they go.
    """
    for lane in range(len(to)):
        own = places[lane if len(places) > 1 else 0]
        for place in range(len(own)):
            for number in range(len(columns)):
                to[lane, place, number] = rows[lane, own[place] - first, columns[number]]


@compiled
def read(
    rows: Floats,
    places: Ints,
    first: int,
    columns: Ints,
    keys: Words,
    draws: Ints,
    normal: bool,
    factor: Floats,
    offset: Floats,
    to: Floats,
) -> bool:
    """What a noisy sensor reads: numbers of some rows, and draws added to them; see :func:`gather` and :func:`add`."""
    gather(rows, places, first, columns, to)
    return add(keys, draws, normal, factor, offset, to)


@compiled
def add(keys: Words, draws: Ints, normal: bool, factor: Floats, offset: Floats, to: Floats) -> bool:
    """Add draws of many lanes to something: each is ``offset + factor * number``.

    Args:
        keys: ``(lanes, 2)`` each lane's key, lower half first.
        draws: ``(lanes or 1, n)`` indices; those that follow each other are the cheap ones.
        normal: whether the numbers are standard normal; otherwise uniform in (0, 1).
        factor: ``(lanes, width)``.
        offset: ``(lanes, width)``.
        to: ``(lanes, n, width)``, what they are added to.

    Returns:
        Whether no index was negative; otherwise nothing of use is in ``to``.
    """
    shared, width = len(draws) == 1, to.shape[2]
    uniform, numbers = np.empty(to.shape[1] * width), np.empty(to.shape[1] * width)
    for lane in range(len(to)):
        row = draws[0 if shared else lane]
        low, high = keys[lane, 0], keys[lane, 1]
        counter, words, place = _U(0), (_U(0), _U(0), _U(0), _U(0)), 0
        for sample in range(len(row)):
            if row[sample] < 0:
                return False
            word = _U(row[sample]) * _U(width)
            for _ in range(width):
                # Counting begins at 1, so 0 stands for none.
                if word // _FOUR + _ONE != counter:
                    counter = word // _FOUR + _ONE
                    words = _words(counter, _U(0), low, high)
                uniform[place] = uniform_of(words[word % _FOUR])
                place += 1
                word += _ONE
        if normal:
            fill_normals(uniform, numbers)
        else:
            numbers[:] = uniform
        for sample in range(len(row)):
            for number in range(width):
                drawn = numbers[sample * width + number] * factor[lane, number] + offset[lane, number]
                to[lane, sample, number] += drawn
    return True


@compiled
def fill_words(low: Any, high: Any, counter: Any, carry: Any, out: Words) -> None:
    """Fill ``out (n, 4)`` with words of the key ``(low, high)`` from a counter (lower and upper half) on."""
    for number in range(len(out)):
        now = counter + _U(number)
        out[number, 0], out[number, 1], out[number, 2], out[number, 3] = _words(
            now, carry + _U(now < counter), low, high
        )


@compiled
def uniform_of(word: Any) -> float:
    """The uniform number of a word: ``((word >> 11) + 0.5) * 2**-53``, never 0 or 1."""
    # From 2**52 on the added half is rounded to even, so the very largest word would become exactly 1.
    return min((np.int64(word >> _DROPPED) + 0.5) * 2.0**-53, _LARGEST_UNIFORM)


@compiled
def fill_normals(uniform: Floats, out: Floats) -> None:
    """Standard normal numbers of uniforms in (0, 1), both ``(n,)``: the central formula for all, then the tails."""
    for number in range(len(uniform)):
        out[number] = _central(uniform[number] - 0.5)
    for number in range(len(uniform)):
        if abs(uniform[number] - 0.5) > _CENTRAL:
            out[number] = normal_of(uniform[number])


@compiled
def fill_uniforms(words: Words, out: Floats) -> None:
    """Uniform numbers of words, both ``(n,)``."""
    for number in range(len(words)):
        out[number] = uniform_of(words[number])


@compiled
def _words(counter: Any, carry: Any, low: Any, high: Any) -> tuple[Any, Any, Any, Any]:
    """The four words of a counter."""
    a, b, c, d = counter, carry, _U(0), _U(0)
    for _ in range(_ROUNDS):
        a, b, c, d = (
            _product_high(_MULTIPLIERS[1], c) ^ b ^ low,
            _MULTIPLIERS[1] * c,
            _product_high(_MULTIPLIERS[0], a) ^ d ^ high,
            _MULTIPLIERS[0] * a,
        )
        low += _STRIDES[0]
        high += _STRIDES[1]
    return a, b, c, d


@compiled
def _product_high(a: Any, b: Any) -> Any:
    """The upper 64 bits of a product, from those of its halves."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _HALF, b & _LOW_HALF, b >> _HALF
    left, right = a_high * b_low, a_low * b_high
    middle = (a_low * b_low >> _HALF) + (left & _LOW_HALF) + (right & _LOW_HALF)
    return a_high * b_high + (left >> _HALF) + (right >> _HALF) + (middle >> _HALF)


@compiled
def _polynomial(coefficients: Sequence[float], x: float) -> float:
    value = coefficients[0]
    for power in range(1, len(coefficients)):
        value = value * x + coefficients[power]
    return value
