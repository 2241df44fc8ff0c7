"""From a SweepSpec to its cells: the grid of the swept values, the last axis fastest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sweep.design.axis import Axis, Value
from sweep.design.cell import Cell, canonical, cell_id, label
from sweep.design.spec import SweepSpec

ROOT = "manifest."
"""What a full path starts with, on the command line and in ``SweepSpec.swept``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The cells of a sweep and the seeds that each of them runs.

    Attributes:
        cells: distinct cells, in the design's order.
        seeds: the episode seeds, the same for every cell, so that every comparison is paired.
        duplicates: points of the grid that were left out because an earlier one says the same.
    """

    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]
    duplicates: int


def expand(spec: SweepSpec) -> Design:
    """The design of a sweep.

    Args:
        spec: what was asked; its swept values are normalised already.

    Returns:
        The distinct cells in grid order; the one nominal cell if nothing is swept.

    Raises:
        KeyError: a swept name is neither an axis nor a full path (``load_spec`` refuses it before).
    """
    axes = {axis.name: axis for axis in spec.axes}
    nominal = {axis.name: axis.nominal for axis in spec.axes}
    nominal |= {name: _at(spec.manifest, name.removeprefix(ROOT)) for name in spec.swept if name not in axes}
    paths = {name: _paths(name, axes) for name in spec.swept}
    same = canonical(nominal)
    cells: dict[str, Cell] = {}
    points = 0
    for swept in _grid(spec.swept):
        points += 1
        values = {**nominal, **swept}
        identity = cell_id(values)
        if identity not in cells:
            cells[identity] = Cell(
                cell_id=identity,
                ordinal=len(cells),
                label=label(swept),
                values=values,
                parameters={path: value for name, value in swept.items() for path in paths[name]},
                is_nominal=canonical(values) == same,
            )
    return Design(cells=tuple(cells.values()), seeds=spec.seeds, duplicates=points - len(cells))


def _grid(swept: Mapping[str, tuple[Value, ...]]) -> Iterator[dict[str, Value]]:
    for point in itertools.product(*swept.values()):
        yield dict(zip(swept, point, strict=True))


def _paths(name: str, axes: Mapping[str, Axis]) -> tuple[str, ...]:
    return (name.removeprefix(ROOT),) if name.startswith(ROOT) else axes[name].bindings


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
