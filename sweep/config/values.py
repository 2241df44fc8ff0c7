"""The values of an axis: of the kind its nominal value has, in SI units, or a sentence that says what is allowed."""

from __future__ import annotations

import math
from typing import Any

from sweep.design.axis import Value
from sweep.design.cell import shown
from sweep.errors import InvalidInputError, Problem
from sweep.plan.units import quantity

_EXAMPLES = {"s": "0.002", "rad": "0.01", "m": "0.001", "kg": "0.5"}


class ValueKindError(ValueError):
    """A value that is not of the kind asked; the message says which kind is."""


def normalised(value: Any, like: Any, unit: str) -> Value:
    """A value as typed, in the form the manifest takes.

    Args:
        value: what the grammar read: number, text, bool, None, list or dict.
        like: the nominal value; it says which kind is allowed. None allows null and, without a unit, any kind.
        unit: SI unit of the bound field, ``""`` for a plain number.

    Raises:
        ValueKindError: another kind, an unknown unit, NaN or an infinity.
    """
    if isinstance(like, list | tuple):
        return _items(value, like, unit)
    if isinstance(like, bool):
        return _exactly(value, bool, "true or false")
    if isinstance(like, str):
        return _exactly(value, str, f"text; a number is quoted, '{shown(value)}'")
    if like is None and (value is None or not unit):
        return _free(value)
    return _number(value, like, unit)


def nominal_value(value: Any, unit: str) -> Value:
    """A scene's nominal value, text with a unit read as a number.

    Raises:
        ValueKindError: a mapping, a text of another unit, NaN or an infinity.
    """
    if isinstance(value, list | tuple):
        return tuple(nominal_value(item, unit) for item in value)
    is_share = isinstance(value, str) and value.rstrip().endswith(("%", "ppm"))
    if is_share or (unit and value is not None):
        return _number(value, 0.0, unit)
    return _free(value)


def kind_problem(place: str, key: str, error: ValueKindError, like: Any, unit: str) -> Problem:
    """What to tell about a value that was typed for ``key``, usually as ``place``."""
    return Problem(place, f"{error}; for example {key}={_example(like, unit)}")


def _number(value: Any, like: Any, unit: str) -> float | int:
    if value == "" or value is None:
        what = "null" if value is None else "nothing"
        raise ValueKindError(f"{what} was given where a number{f' in {unit}' if unit else ''} is expected")
    try:
        number = quantity(value, unit)
    except InvalidInputError as error:
        raise ValueKindError(error.problems[0].message) from None
    if not unit and isinstance(like, int) and number.is_integer():
        return int(number)  # a count stays one: the manifest's counts are strict integers
    return number


def _exactly(value: Any, kind: type[bool] | type[str], allowed: str) -> bool | str:
    if isinstance(value, kind) and value != "":
        return value
    found = f"{shown(value)} ({type(value).__name__})" if value is not None else "null"
    raise ValueKindError(f"{found} was given; allowed is {allowed}")


def _items(value: Any, like: list[Any] | tuple[Any, ...], unit: str) -> Value:
    if not isinstance(value, list | tuple):
        raise ValueKindError(f"{shown(value)} is not a list; allowed is a list in brackets")
    if not like:
        return _free(value)
    kinds = [like[min(index, len(like) - 1)] for index in range(len(value))]
    return tuple(normalised(item, kind, unit) for item, kind in zip(value, kinds, strict=True))


def _free(value: Any) -> Value:
    if isinstance(value, list | tuple):
        return tuple(map(_free, value))
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueKindError(f"{value!r} is not a finite number")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueKindError(f"{shown(value)} is not a number, a text, true, false or a list of them")


def _example(like: Any, unit: str) -> str:
    if isinstance(like, list | tuple | bool | str) and like not in ("", (), []):
        return f'"{shown(like)}"' if isinstance(like, str) and " " in like else shown(like)
    if isinstance(like, int | float) and like:
        return shown(like)
    return _EXAMPLES.get(unit, "1" if isinstance(like, int) else "0.1")
