"""Field types of the Manifest: quantities with units, names, one-or-many lists."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, create_model

from sweep.plan.units import exact_seconds, quantity


class Section(BaseModel):
    """A strict, immutable part of the Manifest: no unknown keys, no silent conversions, no NaN.

    Class attributes:
        varying: fields that may differ between lanes of one batch; all others are part of the layout, and so is
            whether a varying field has a number, but not which.
    """

    varying: ClassVar[frozenset[str]] = frozenset()

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, populate_by_name=True, use_enum_values=True
    )

    def opened(self) -> dict[str, Any]:
        """Its fields under the document's keys, as the document may hold them: sections inside stay as they are."""
        return {key: getattr(self, name) for key, name in fields_by_key(type(self)).items()}


S = TypeVar("S", bound=Section)


@functools.cache
def fields_by_key(section: type[Section]) -> Mapping[str, str]:
    """The document's keys of a section, and the fields that they mean."""
    return {field.alias or name: name for name, field in section.model_fields.items()}


def is_alike(one: Any, other: Any) -> bool:
    """Whether two values, of sections for example, differ in nothing but the size of numbers."""
    if one is other or (_is_number(one) and _is_number(other)):
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Section):
        one, other = one.__dict__, other.__dict__
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_alike(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(is_alike, one, other))
    return bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def with_fields(section: S, values: Mapping[str, Any]) -> S:
    """The section with other values of some fields: these are validated, and the section as a whole after them.

    Raises:
        ValueError: a value is not allowed, or does not go with the others.
    """
    read = {name: getattr(_alone(type(section), name).model_validate({name: v}), name) for name, v in values.items()}
    changed = section.model_copy(update=read)
    for check in type(section).__pydantic_decorators__.model_validators:
        changed = getattr(changed, check)()
    return changed


@functools.cache
def _alone(section: type[Section], name: str) -> type[Section]:
    """A section of one field of another."""
    found = section.model_fields[name]
    definition: dict[str, Any] = {name: (found.annotation, found)}
    return create_model(name, __base__=Section, **definition)


def _seconds(value: Any) -> float:
    return _read_seconds(value) if type(value) is float else float(exact_seconds(value))


@functools.lru_cache(maxsize=2**12)  # most durations of a part are those of the cell before
def _read_seconds(value: float) -> float:
    return float(exact_seconds(value))


def _number(value: Any) -> Any:
    return quantity(value, "") if isinstance(value, str) else value


def one_or_many(value: Any) -> Any:
    """A lone entry as a tuple of one; a list as a tuple."""
    if isinstance(value, str | int | float):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _rows(value: Any) -> Any:
    return tuple(tuple(row) if isinstance(row, list) else row for row in value) if isinstance(value, list) else value


LONGEST_S, SHORTEST_TIMESTEP_S = 1e9, 1e-9
"""Bounds of durations and of timesteps [s], so that ticks and sums of a few of them fit 64 bits."""

Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=LONGEST_S)]
"""A duration [s]: a number, or text such as ``7 ms`` or ``1/240``."""

PositiveSeconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=LONGEST_S)]
"""A duration greater than zero [s]."""

Number = Annotated[float, BeforeValidator(_number)]
"""A finite number, or its text."""

NonNegative = Annotated[float, BeforeValidator(_number), Field(ge=0)]
"""A finite number of at least zero."""

Numbers = Annotated[tuple[Number, ...], BeforeValidator(one_or_many), Field(min_length=1)]
"""One number or a list of them."""

Waypoints = Annotated[tuple[tuple[Number, ...], ...], BeforeValidator(_rows), Field(min_length=2)]
"""Rows of numbers, one row a waypoint."""

Names = Annotated[tuple[str, ...], BeforeValidator(one_or_many), Field(min_length=1)]
"""One name of the model or a list of them."""


def _plain(value: Any, path: str = "", depth: int = 0) -> Any:
    """Plain data as JSON has it, with numpy's numbers as Python's."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if depth > _DEEPEST or (isinstance(value, float) and not math.isfinite(value)):
        what = repr(value) if depth <= _DEEPEST else "nested too deep"
        raise ValueError(f"{path.lstrip('.') or 'it'} is {what}; plain data is wanted, with finite numbers")
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(part, f"{path}.{key}", depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(part, f"{path}[{i}]", depth + 1) for i, part in enumerate(value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    found = type(value).__name__
    raise ValueError(f"{path.lstrip('.')} is a {found}; numbers, texts, truth values, lists and mappings are allowed")


_DEEPEST = 32

Parameters = Annotated[dict[str, Any], AfterValidator(_plain)]
"""Plain data for a class of the user's own."""

ClassPath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
"""Where a class of the user's lies: ``my_pkg.my_module:MyClass``."""

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""An id that people give: letters, digits and underscores."""
