"""A cell: one point of the design, as values of axes and as changes of the base manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sweep.design.axis import Value
from sweep.digest import content_id

EXACT_INT = 2**53
"""Integers up to this size are floats too, without loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One point of the design.

    Attributes:
        cell_id: digest of ``values``; two sweeps of one scene share it where their values agree.
        ordinal: its place in the design's order.
        label: what people read, ``latency=0.002 mass_scale=1.2``; only the swept axes.
        values: the values of all declared axes, swept or not, and of every full path swept (SI units).
        parameters: manifest path (without ``manifest.``) to the value that replaces the base manifest's.
        is_nominal: whether every axis has its nominal value and every path the base manifest's.
    """

    cell_id: str
    ordinal: int
    label: str
    values: Mapping[str, Value]
    parameters: Mapping[str, Value]
    is_nominal: bool


def canonical(value: Any) -> Any:
    """A value in the one form that ids and comparisons use: 1 and 1.0 agree, so do 0.0 and -0.0.

    Args:
        value: plain data; tuples become lists, as JSON would make them.
    """
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, Mapping):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int) and abs(value) > EXACT_INT:
        return value
    return float(value) + 0.0


def cell_id(values: Mapping[str, Value]) -> str:
    """The id of a cell: the digest of its canonical values, whatever their order."""
    return content_id(canonical(values))


def label(values: Mapping[str, Value]) -> str:
    """The label of a cell from its swept values, ``nominal`` without any."""
    return " ".join(f"{name}={shown(value)}" for name, value in values.items()) or "nominal"


def shown(value: Any) -> str:
    """A value as one would type it on the command line."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(shown, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{shown(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value) if value != "" else "''"
