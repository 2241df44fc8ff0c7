"""Exact reading of what people write: times as rationals, quantities as SI floats, units off field names.

A float cannot say 1/60; whoever writes ``1/60`` in Python means it all the same.  So a float is read
as the simplest rational within one ulp of it, once, and everything after that is exact.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from types import MappingProxyType

from sweep.errors import GridError, InvalidInputError, Problem

Seconds = int | float | Fraction | Decimal | str
"""A duration as people give it [s]: a number, or a text such as ``"1/240"`` or ``"7 ms"``."""

MAX_EXPONENT = 400
"""Powers of ten beyond this are refused: no float reaches them, and reading one exactly could take for ever."""

MAX_TEXT = 120
"""Longest text read as a number."""

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_TEXT = re.compile(rf"\s*(?P<top>{_NUMBER})(?:\s*/\s*(?P<bottom>{_NUMBER}))?\s*(?P<unit>\D.*)?", re.ASCII | re.DOTALL)
_EXAMPLES = '0.002, "0.002", "1/240", "7 ms", "5 us", "1e-3", "2 min"'
_PI = Fraction("3.14159265358979323846264338327950288419716939937510")
_DECIMAL = 10**9
"""Denominator of the decimals that are read at a glance."""
_MILLI, _MICRO, _NANO = Fraction(1, 10**3), Fraction(1, 10**6), Fraction(1, 10**9)
_ONE, _HUNDREDTH, _KILO = Fraction(1), Fraction(1, 100), Fraction(1000)

UNITS: MappingProxyType[str, MappingProxyType[str, Fraction]] = MappingProxyType(
    {
        unit: MappingProxyType(spellings)
        for unit, spellings in {
            "": {"%": _HUNDREDTH, "ppm": _MICRO},
            "s": {"s": _ONE, "sec": _ONE, "ms": _MILLI, "us": _MICRO, "µs": _MICRO, "μs": _MICRO, "ns": _NANO}
            | {"min": Fraction(60), "h": Fraction(3600)},
            "rad": {"rad": _ONE, "mrad": _MILLI, "urad": _MICRO, "deg": _PI / 180, "°": _PI / 180, "rev": 2 * _PI},
            "m": {"m": _ONE, "km": _KILO, "cm": _HUNDREDTH, "mm": _MILLI, "um": _MICRO, "µm": _MICRO, "nm": _NANO},
            "kg": {"kg": _ONE, "g": _MILLI, "mg": _MICRO, "t": _KILO},
            "N": {"N": _ONE, "n": _ONE, "mN": _MILLI, "kN": _KILO},
            "N m": {"N m": _ONE, "Nm": _ONE, "N*m": _ONE, "N·m": _ONE, "nm": _ONE, "mN m": _MILLI, "mNm": _MILLI}
            | {"kN m": _KILO, "kNm": _KILO},
            "Hz": {"Hz": _ONE, "hz": _ONE, "mHz": _MILLI, "kHz": _KILO, "khz": _KILO, "MHz": _KILO**2},
            "m/s": {"m/s": _ONE, "mm/s": _MILLI, "cm/s": _HUNDREDTH, "km/h": Fraction(1000, 3600)},
            "rad/s": {"rad/s": _ONE, "mrad/s": _MILLI, "deg/s": _PI / 180, "°/s": _PI / 180, "rpm": _PI / 30},
            "m/s^2": {"m/s^2": _ONE, "m/s2": _ONE, "m/s²": _ONE, "mm/s^2": _MILLI},
            "rad/s^2": {"rad/s^2": _ONE, "rad/s2": _ONE, "rad/s²": _ONE, "deg/s^2": _PI / 180},
        }.items()
    }
)
"""SI unit -> the spellings read for it -> what one of them is in SI.  ``""`` is the plain number."""

_SUFFIXES = MappingProxyType(
    {"s": "s", "rad": "rad", "m": "m", "kg": "kg", "n": "N", "nm": "N m", "hz": "Hz", "s2": "s^2", "m2": "m^2"}
    | {"sqrtHz": "sqrt(Hz)", "sqrtS": "sqrt(s)"}
)


def exact_seconds(value: Seconds) -> Fraction:
    """The exact duration that ``value`` means.

    Args:
        value: int, Fraction and Decimal as they are; a float as the simplest rational within one ulp;
            a text as an exact decimal or quotient, in seconds or with a unit of time.

    Returns:
        The duration [s]; it may be negative, callers check the sign.

    Raises:
        GridError: a bool, NaN, an infinity, another type, or a text that is not a duration.
    """
    try:
        return _exact(value, "s")
    except (ValueError, ArithmeticError) as error:
        raise GridError(f"{value!r} is not a duration ({error}); allowed are, for example, {_EXAMPLES}") from None


def quantity(value: Seconds, unit: str) -> float:
    """The SI float nearest to what ``value`` means.

    Args:
        value: a number, already in the SI unit, or a text such as ``"5 mm"``, ``"3 deg"`` or ``"5%"``.
        unit: the SI unit, as a field suffix (``"s"``, ``"n"``, ``"nm"``) or as written (``"N m"``, ``"rad/s"``).

    Returns:
        The value in the SI unit, correctly rounded.

    Raises:
        InvalidInputError: not a finite number, or a text of another unit; the allowed units are named.
    """
    unit = _SUFFIXES.get(unit, unit)
    try:
        if isinstance(value, float):
            return _finite(float(value))
        return _finite(float(_exact(value, unit)))
    except (ValueError, ArithmeticError) as error:
        what = f"a quantity in {unit}" if unit else "a plain number"
        message = f"{value!r} is not {what} ({error}); allowed are a number{_allowed(unit)}"
        raise InvalidInputError("quantity", [Problem("", message)]) from None


def unit_of(field_name: str) -> str:
    """The SI unit that a field name's suffix says: ``latency_s`` is in ``"s"``, ``std_rad_per_s`` in ``"rad/s"``.

    Returns:
        The unit, ``""`` for a plain number such as ``scale``.
    """
    tokens = field_name.replace("_sqrt_hz", "_sqrtHz").replace("_sqrt_s", "_sqrtS").split("_")
    first = len(tokens)
    while first > 1 and (tokens[first - 1] in _SUFFIXES or tokens[first - 1] == "per"):
        first -= 1
    groups = " ".join(_SUFFIXES.get(token, token) for token in tokens[first:]).split("per")
    parts = [group.strip() for group in groups]
    if len(parts) == 1:
        return parts[0]
    return "" if "" in parts[1:] else "/".join([parts[0] or "1", *parts[1:]])


def unit_at(path: str) -> str:
    """The SI unit of what a manifest path leads to, off its last word that is not the index of a list."""
    return unit_of(next((word for word in reversed(path.split(".")) if not word.isdecimal()), ""))


def decimal_seconds(seconds: Fraction) -> str:
    """A duration for people, ``"0.005 s"``; one without a short decimal adds its quotient, ``"... s (1/240)"``."""
    digits = _decimal_digits(seconds.denominator)
    if digits is None:
        return f"{Decimal(repr(float(seconds))):f} s ({seconds})"
    scaled = abs(seconds.numerator) * 10**digits // seconds.denominator
    text = str(scaled).rjust(digits + 1, "0")
    sign = "-" if seconds < 0 else ""
    return f"{sign}{text[:-digits]}.{text[-digits:]} s" if digits else f"{sign}{text} s"


@functools.lru_cache(maxsize=2**14)  # the periods and latencies of one sweep are read again for every cell
def simplest_rational(value: float) -> Fraction:
    """The rational of the least denominator within one ulp of ``value``, the nearest one if several share it.

    Args:
        value: a finite float.

    Returns:
        A rational of the same sign; zero for zero only.
    """
    if abs(value) < sys.float_info.min:
        return Fraction(value)  # one ulp of a subnormal is no longer a small error, and would reach zero
    short = _short_decimal(value)
    if short is not None:  # most values are what people type
        return short
    # In integers, since Fractions are reduced in every operation: the value is middle / scale, its ulp width / scale.
    exact, ulp = value.as_integer_ratio(), math.ulp(value).as_integer_ratio()
    scale = max(exact[1], ulp[1])  # powers of two
    middle, width = exact[0] * (scale // exact[1]), ulp[0] * (scale // ulp[1])
    denominator = _least_denominator(abs(middle) - width, abs(middle) + width, scale)
    return Fraction(_rounded(middle * denominator, scale), denominator)


def _short_decimal(value: float) -> Fraction | None:
    """The simplest rational of a float that stands for a decimal of few digits; None for any other.

    Two rationals with denominators up to q differ by 1 / q^2 at least.  The decimal lies within half an ulp of the
    float, and what is within one ulp of that within 3/2 of the decimal: where 1 / q^2 is more there is no simpler one.
    """
    if abs(value) > _DECIMAL:
        return None
    numerator = round(value * _DECIMAL)
    common = math.gcd(numerator, _DECIMAL)
    denominator = _DECIMAL // common
    is_simplest = 2.0 * math.ulp(value) * denominator * denominator < 1.0
    return Fraction(numerator // common, denominator) if is_simplest and numerator / _DECIMAL == value else None


def _rounded(numerator: int, denominator: int) -> int:
    """The whole number nearest to a quotient, the even one of two."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


def _least_denominator(low: int, high: int, scale: int) -> int:
    """Least denominator in [low, high] / scale, 0 <= low < high: down the Stern-Brocot tree in whole runs."""
    # (before, now) are denominators of the last two convergents of the path that low = a/b and high = c/d still share.
    a, b, c, d = low, scale, high, scale
    before, now = 1, 0
    while True:
        whole = -(-a // b)
        if whole * d <= c:
            return whole * now + before
        whole -= 1
        before, now = now, whole * now + before
        a, b, c, d = d, c - whole * d, b, a - whole * b  # low, high = 1 / (high - whole), 1 / (low - whole)


def _exact(value: object, unit: str) -> Fraction:
    """``value`` as an exact rational in ``unit``; ValueError or ArithmeticError if it cannot be read."""
    if isinstance(value, float):  # most are: every duration of every cell is read again
        return simplest_rational(_finite(float(value)))
    if isinstance(value, bool):
        raise ValueError("a truth value is not a number")
    if isinstance(value, str):
        return _exact_text(value, unit)
    if isinstance(value, Decimal):
        return _exact_decimal(value)
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    raise ValueError(f"a {type(value).__name__} is not a number here")


def _exact_text(text: str, unit: str) -> Fraction:
    match = _TEXT.fullmatch(text) if len(text) <= MAX_TEXT else None
    if match is None:
        raise ValueError("no number can be read from it")
    value = _exact_decimal(Decimal(match["top"]))
    if match["bottom"] is not None:
        bottom = _exact_decimal(Decimal(match["bottom"]))
        if not bottom:
            raise ValueError("it divides by zero")
        value /= bottom
    spelling = " ".join((match["unit"] or "").split())
    return value * _factor(spelling, unit)


def _exact_decimal(value: Decimal) -> Fraction:
    if not value.is_finite():
        raise ValueError("it is not finite")
    if value and abs(value.adjusted()) > MAX_EXPONENT:
        raise ValueError("its power of ten is out of reach")
    return Fraction(value) if value else Fraction(0)


def _factor(spelling: str, unit: str) -> Fraction:
    if spelling in ("", unit):
        return _ONE
    if unit not in UNITS or spelling not in UNITS[unit]:
        raise ValueError(f"its unit is {spelling!r}")
    return UNITS[unit][spelling]


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("it is not finite")
    return value


def _allowed(unit: str) -> str:
    spellings = UNITS.get(unit, (unit,))
    return ", or a text with one of the units " + ", ".join(spellings)


def _decimal_digits(denominator: int, limit: int = 18) -> int | None:
    """Digits after the point of an exact decimal over ``denominator``; None if none of at most ``limit`` exists."""
    return next((digits for digits in range(limit + 1) if 10**digits % denominator == 0), None)
