"""From a SweepSpec to its cells: the design's points, each once, without those that are excluded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sweep.design.axis import Value
from sweep.design.cell import Cell, cell_id, label
from sweep.design.exclusion import condition
from sweep.design.points import Point, points, points_problems, remarks
from sweep.design.spec import SweepSpec
from sweep.errors import InvalidInputError, Problem
from sweep.plan.units import unit_at

SUBJECT = "the sweep cannot be planned"

ROOT = "manifest."
"""What a full path starts with, on the command line and in ``SweepSpec.swept``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The cells of a sweep and the seeds that each of them runs.

    Attributes:
        cells: distinct cells, in the design's order.
        seeds: the episode seeds, the same for every cell, so that every comparison is paired.
        duplicates: points that were left out because an earlier one says the same.
        excluded: distinct points that were left out because they meet the exclusion.
        remarks: what people should know of the design, a sentence each.
    """

    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]
    duplicates: int
    excluded: int = 0
    remarks: tuple[str, ...] = ()


def expand(spec: SweepSpec) -> Design:
    """The design of a sweep.

    Args:
        spec: what was asked; its swept values are normalised already.

    Returns:
        The distinct cells in the design's order; the one nominal cell if nothing is swept.

    Raises:
        InvalidInputError: the design cannot be made of what is swept, or the exclusion cannot be read or
            leaves nothing.
        KeyError: a swept name is neither an axis nor a full path (``load_spec`` refuses it before).
    """
    if problems := points_problems(spec.design, spec.swept):
        raise InvalidInputError(SUBJECT, problems)
    is_excluded, nominal = _exclusion(spec), _nominal(spec)
    distinct: dict[str, Point] = {}
    count = 0
    for point in points(spec):
        distinct.setdefault(cell_id({**nominal, **point}), point)
        count += 1
    kept = {name: point for name, point in distinct.items() if not is_excluded({**nominal, **point})}
    if not kept:
        raise InvalidInputError(SUBJECT, [_nothing_left(spec, distinct.values())])
    return Design(
        cells=_cells(kept, spec, nominal),
        seeds=spec.seeds,
        duplicates=count - len(distinct),
        excluded=len(distinct) - len(kept),
        remarks=tuple(remarks(spec.design)),
    )


def exclusion_problems(spec: SweepSpec) -> list[Problem]:
    """Why the exclusion cannot be read."""
    try:
        _exclusion(spec)
    except InvalidInputError as error:
        return list(error.problems)
    return []


def _cells(distinct: Mapping[str, Point], spec: SweepSpec, nominal: Mapping[str, Value]) -> tuple[Cell, ...]:
    paths = {axis.name: axis.bindings for axis in spec.axes}
    paths |= {name: (name.removeprefix(ROOT),) for name in spec.swept if name.startswith(ROOT)}
    the_nominal = cell_id(nominal)
    return tuple(
        Cell(
            cell_id=identity,
            ordinal=ordinal,
            label=label(point),
            values={**nominal, **point},
            parameters={path: value for name, value in point.items() for path in paths[name]},
            is_nominal=identity == the_nominal,
        )
        for ordinal, (identity, point) in enumerate(distinct.items())
    )


def _exclusion(spec: SweepSpec) -> Callable[[Mapping[str, Value]], bool]:
    if spec.exclude is None:
        return lambda _: False
    units = {name: unit_at(name) for name in spec.swept} | {axis.name: axis.unit for axis in spec.axes}
    return condition(spec.exclude, units, _nominal(spec))


def _nothing_left(spec: SweepSpec, distinct: Collection[Point]) -> Problem:
    text = (
        f"leaves nothing of the design: all {len(distinct)} points meet it, {label(next(iter(distinct)))} for example"
    )
    return Problem(f"exclude={spec.exclude}", text)


def _nominal(spec: SweepSpec) -> dict[str, Value]:
    """The nominal values of all declared axes, and of the full paths that are swept."""
    axes = {axis.name: axis.nominal for axis in spec.axes}
    return axes | {name: _at(spec.manifest, name.removeprefix(ROOT)) for name in spec.swept if name not in axes}


def _at(manifest: Any, path: str) -> Value:
    """What the base manifest has at a path; None where it has nothing and leaves the default to the schema."""
    here = manifest
    for part in path.split("."):
        if isinstance(here, Mapping):
            here = here.get(part)
        elif isinstance(here, list | tuple) and part.isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            return None
    return _frozen(here)


def _frozen(value: Any) -> Value:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
