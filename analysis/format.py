"""Numbers and units for people: as many digits as the interval supports, no more."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from analysis.interval import Interval

PREFIXES = {9: "G", 6: "M", 3: "k", 0: "", -3: "m", -6: "µ", -9: "n"}
PREFIXABLE = re.compile(r"^(s|m|rad|N|J|W|V|A|Hz|Pa)(?![\w^²³*])")
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Scale:
    """What a column's numbers are divided by, and the unit that then stands over them."""

    factor: float
    unit: str

    def head(self, name: str) -> str:
        """``name [unit]``."""
        return f"{name} [{self.unit}]" if self.unit else name


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """The SI prefix (or power of ten, for units that take no prefix) that suits the largest of ``values``."""
    largest = max((abs(v) for v in values if math.isfinite(v)), default=0.0)
    if largest == 0.0:
        return Scale(1.0, unit)
    power = 3 * math.floor(round(math.log10(largest), 9) / 3)
    if not unit:
        return Scale(1.0, unit)  # a plain number is read as it was typed
    if PREFIXABLE.match(unit):
        power = max(-9, min(9, power))
        return Scale(10.0**power, PREFIXES[power] + unit)
    if -6 < power < 6:
        return Scale(1.0, unit)
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return Scale(10.0**power, f"10{digits} {unit}".strip())


def decimals(half_width: float | None, value: float) -> int:
    """Decimal places from the half width: two of its digits where they begin below 3, else one; four of a lone value.

    Source: the rounding rule of the Particle Data Group (Review of Particle Physics, introduction, 5.3), coarsened.
    """
    size = half_width or abs(value)
    if size == 0.0 or not math.isfinite(size):
        return 0
    power = math.floor(math.log10(size))
    digits = 4 if not half_width else 2 if size / 10.0**power < 3 else 1
    return max(0, min(9, digits - 1 - power))


def number(value: float, places: int, *, sign: bool = False) -> str:
    """A number with a true minus sign, and never a negative zero."""
    text = f"{value:{'+' if sign else ''}.{places}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    return text.replace("-", MINUS)


def grouped(count: int) -> str:
    """A count with its thousands apart: ``10 000``."""
    return f"{count:,}".replace(",", " ")


def plus_minus(value: Interval | None, factor: float) -> str:
    """``52.10 ± 0.31``, or what there is instead."""
    if value is None:
        return "no value"
    scaled, half = value.estimate / factor, value.half_width
    if not half:
        # Identical values, or one: trailing zeros would claim digits that nobody measured.
        if half is None:
            return f"{number(scaled, decimals(None, scaled))} (n = 1)"
        return f"{scaled:.6g} (all equal)".replace("-", MINUS)
    half /= factor
    places = decimals(half, scaled)
    return f"{number(scaled, places)} ± {number(half, places)}"


def bracketed(value: Interval | None, factor: float, suffix: str = "") -> str:
    """``+2.14 [2.03, 2.25]``, with ``suffix`` after the estimate."""
    if value is None:
        return "no pair"
    half = value.half_width
    if value.low is None or value.high is None or half is None or value.is_constant:
        text = number(value.estimate / factor, decimals(None, value.estimate / factor), sign=True)
        # Nothing bounds the digits: trailing zeros would claim some that nobody measured.
        return (text.rstrip("0").rstrip(".") if "." in text else text) + suffix
    places = decimals(half / factor, value.estimate / factor)
    text = number(value.estimate / factor, places, sign=True) + suffix
    return f"{text} [{number(value.low / factor, places)}, {number(value.high / factor, places)}]"


def plain(value: Any) -> str:
    """An axis value in a table without its unit."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, int | float):
        return f"{value:.6g}".replace("-", MINUS)
    if isinstance(value, list | tuple):
        return ", ".join(plain(v) for v in value)
    return str(value)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a number (a truth value is none)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def change_words(base: Mapping[str, Any], other: Mapping[str, Any], units: Mapping[str, str]) -> str:
    """What differs between two cells: ``+3 ms latency``, ``mass_scale 1 → 1.2``."""
    return " and ".join(
        _one_change(key, base.get(key), value, units.get(key, ""))
        for key, value in other.items()
        if base.get(key) != value
    )


def _one_change(key: str, old: Any, new: Any, unit: str) -> str:
    if is_number(old) and is_number(new) and unit:
        scale = scale_for([new - old], unit)
        step = f"{(new - old) / scale.factor:+.4g}".replace("-", MINUS)
        return f"{step} {scale.unit} {key}"
    return f"{key} {plain(old)} → {plain(new)}"
