"""The inverse of the normal distribution, with the same bits on every CPU and numpy version.

Only + - * / and sqrt are used, which IEEE 754 rounds one way; ``np.log`` differs between CPUs, so the
logarithm is our own.  The plain Python and the numpy form do the same operations in the same order.

Source: M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988), 477-484.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_CHUNK = 8192
"""Values worked on at a time: a handful of such arrays stay in the second-level cache."""

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


class Workspace:
    """Memory for turning raw words into numbers, used again and again: what is freed has to be faulted in anew."""

    words = 4 * _CHUNK
    """Most words transformed in one call."""

    def __init__(self) -> None:
        self._shifted: Words = np.empty(self.words, np.uint64)
        self._uniform: Floats = np.empty(self.words)
        self._normal: Floats = np.empty(self.words)
        self._scratch: Floats = np.empty((3, _CHUNK))

    def uniforms(self, raw: Words) -> Floats:
        """Uniform numbers of flat raw words; the next call overwrites them."""
        shifted, uniform = self._shifted[: raw.size], self._uniform[: raw.size]
        np.right_shift(raw, np.uint64(11), out=shifted)
        # Below 2**53 the signed conversion says the same and is the faster instruction.
        uniform[:] = shifted.view(np.int64)
        uniform += 0.5
        uniform *= 2.0**-53
        # From 2**52 on the added half is rounded to even, so the very largest word would become exactly 1.
        return np.minimum(uniform, _LARGEST_UNIFORM, out=uniform)

    def normals(self, uniform: Floats) -> Floats:
        """Standard normal numbers of flat uniforms in (0, 1); the next call overwrites them."""
        normal = self._normal[: uniform.size]
        # Outside the central region its formula means nothing; those values are replaced after.
        with np.errstate(all="ignore"):
            _group(uniform, normal, self._scratch)
        return normal


def uniforms_of(raw: Words) -> Floats:
    """Uniform numbers in (0, 1) from raw words, same shape: ``((raw >> 11) + 0.5) * 2**-53``, never 0 or 1."""
    return _in_pieces(np.ascontiguousarray(raw), Workspace().uniforms)


def normals_of(uniform: Floats) -> Floats:
    """Standard normal numbers from uniforms in (0, 1), same shape."""
    return _in_pieces(np.ascontiguousarray(uniform, dtype=np.float64), Workspace().normals)


def _in_pieces(values: NDArray[Any], transform: Callable[[NDArray[Any]], Floats]) -> Floats:
    flat = values.reshape(-1)
    result = np.empty(flat.size)
    for first in range(0, flat.size, Workspace.words):
        piece = slice(first, first + Workspace.words)
        result[piece] = transform(flat[piece])
    return result.reshape(values.shape)


def normal_of(uniform: float) -> float:
    """The standard normal number of one uniform in (0, 1): bit for bit what :func:`normals_of` gives."""
    q = uniform - 0.5
    if abs(q) <= _CENTRAL:
        r = _CENTRAL_SQUARED - q * q
        return _polynomial(_CENTRAL_TOP, r) * q / _polynomial(_CENTRAL_BOTTOM, r)
    r = math.sqrt(-log_of(uniform if q < 0.0 else 1.0 - uniform))
    if r <= _FAR:
        r -= _NEAR_SHIFT
        z = _polynomial(_NEAR_TOP, r) / _polynomial(_NEAR_BOTTOM, r)
    else:
        r -= _FAR
        z = _polynomial(_FAR_TOP, r) / _polynomial(_FAR_BOTTOM, r)
    return -z if q < 0.0 else z


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


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def _group(uniform: Floats, result: Floats, scratch: Floats) -> None:
    """Central formula for all, chunk by chunk; then the tails (15 % of the draws), gathered."""
    outside = np.empty(uniform.size, dtype=np.bool_)
    for first in range(0, uniform.size, _CHUNK):
        chunk = slice(first, first + _CHUNK)
        _central(uniform[chunk], result[chunk], outside[chunk], scratch)
    where = np.flatnonzero(outside)
    for first in range(0, where.size, _CHUNK):
        some = where[first : first + _CHUNK]
        result[some] = _tail(uniform[some])


def _central(uniform: Floats, result: Floats, outside: NDArray[np.bool_], scratch: Floats) -> None:
    q, r, bottom = scratch[:, : uniform.size]
    np.subtract(uniform, 0.5, out=q)
    np.abs(q, out=r)
    np.greater(r, _CENTRAL, out=outside)
    np.multiply(q, q, out=r)
    np.subtract(_CENTRAL_SQUARED, r, out=r)
    _horner(_CENTRAL_TOP, r, result)
    np.multiply(result, q, out=result)
    _horner(_CENTRAL_BOTTOM, r, bottom)
    np.divide(result, bottom, out=result)


def _tail(uniform: Floats) -> Floats:
    p = np.minimum(uniform, 1.0 - uniform)
    r = _log(p)
    np.negative(r, out=r)
    np.sqrt(r, out=r)
    far = np.flatnonzero(r > _FAR)
    z = _ratio(_NEAR_TOP, _NEAR_BOTTOM, r - _NEAR_SHIFT)
    if far.size:
        z[far] = _ratio(_FAR_TOP, _FAR_BOTTOM, r[far] - _FAR)
    return np.copysign(z, uniform - 0.5, out=z)


def _log(x: Floats) -> Floats:
    m, integers = np.frexp(x)
    exponent: Floats = integers.astype(np.float64)
    small = m < _SQRT_HALF
    m += m * small  # doubling is exact, and adding 0 as well
    exponent -= small
    f = m - 1.0
    s = f / (m + 1.0)
    squared = s * s
    low = _horner(_LOG_SERIES, squared, np.empty_like(s))
    low *= squared
    np.subtract(f, low, out=low)
    low *= s
    np.subtract(exponent * LN2_LOW, low, out=low)
    high = exponent * LN2_HIGH
    total = high + f
    high -= total
    high += f
    high += low
    total += high
    return total


def _ratio(top: Sequence[float], bottom: Sequence[float], x: Floats) -> Floats:
    result = _horner(top, x, np.empty_like(x))
    result /= _horner(bottom, x, np.empty_like(x))
    return result


def _horner(coefficients: Sequence[float], x: Floats, out: Floats) -> Floats:
    multiply: Any = np.multiply
    np.multiply(x, coefficients[0], out=out)
    out += coefficients[1]
    for coefficient in coefficients[2:]:
        multiply(out, x, out)
        out += coefficient
    return out
