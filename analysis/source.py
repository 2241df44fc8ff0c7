"""A sweep's ledger in memory: cells, and the record of each seed in each cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from analysis.format import is_number
from analysis.runs import Floats, Records, Runs, read_runs
from sweep.collector import collector_paused
from sweep.results import CellRow, Ledger, RunRecord, SweepHeader


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What one ledger holds.

    Attributes:
        header: what the sweep is.
        cells: its cells: those of a complete grid of numbers by their values, however it was extended; others in the
            design's order.
        seeds: cell_id to the seeds planned.
        runs: the runs that have a record, as columns.
        began_ms: when the last driver session began [ms since 1970]; None before the first.
        provenance: what the last driver said about itself, before the first what the header says.
    """

    header: SweepHeader
    cells: tuple[CellRow, ...]
    seeds: Mapping[str, tuple[int, ...]]
    runs: Runs
    began_ms: int | None
    provenance: Mapping[str, Any]

    @cached_property
    def records(self) -> Mapping[str, Mapping[int, RunRecord]]:
        """cell_id to seed to the record there is."""
        return Records(self.cells, self.runs)

    @cached_property
    def commits(self) -> Mapping[str, tuple[int, int]]:
        """cell_id to the times of the first and last commit of its records [ms since 1970]."""
        times = ((c.cell_id, self.runs.committed_ms[s]) for c, s in zip(self.cells, self.runs.spans, strict=True))
        return {cell_id: (min(those), max(those)) for cell_id, those in times if those}

    def matrix(self, metric: str) -> tuple[tuple[int, ...], Floats]:
        """The seeds planned in every cell, and a metric's values ``(cells, seeds)``; NaN where a run has none."""
        every = [set(self.seeds[cell.cell_id]) for cell in self.cells]
        seeds = tuple(sorted(set.intersection(*every))) if every else ()
        place = {seed: i for i, seed in enumerate(seeds)}
        values = np.full((len(self.cells), len(seeds)), np.nan)
        at = np.array([place.get(seed, -1) for seed in self.runs.seed], dtype=np.intp)
        values[self.runs.cell[at >= 0], at[at >= 0]] = self.runs.values[metric][at >= 0]
        return seeds, values

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Every declared axis, in the scene's order, then every full path swept."""
        names = dict.fromkeys(self.header.axes)
        for cell in self.cells:
            names.update(dict.fromkeys(cell.values))
        return tuple(names)

    @cached_property
    def swept(self) -> tuple[str, ...]:
        """The keys that take more than one value."""
        return tuple(k for k in self.keys if len({repr(c.values.get(k)) for c in self.cells}) > 1)

    def only(self, cells: Collection[str] | None, seeds: Collection[int] | None) -> Sweep:
        """The same sweep as if it had these cells and seeds alone; None keeps all."""
        kept = [i for i, cell in enumerate(self.cells) if cells is None or cell.cell_id in cells]
        asked = {cell: tuple(s for s in those if seeds is None or s in seeds) for cell, those in self.seeds.items()}
        return replace(self, cells=tuple(self.cells[i] for i in kept), seeds=asked, runs=self.runs.only(kept, seeds))

    @property
    def made_with(self) -> str:
        """What its numbers come from, in a line: the working directory's commit, the code_id, the version of MuJoCo."""
        git, versions = self.provenance.get("git"), self.provenance.get("versions") or {}
        parts = [f"git {short_git(git)}"] if git else []
        parts.append(f"code {self.header.code_id[:8]}")
        parts += [f"mujoco {versions['mujoco']}"] if "mujoco" in versions else []
        return ", ".join(parts)

    def nominal(self, key: str) -> Any:
        """The nominal value of an axis, or of a full path: its value in the base manifest (None if it is not there)."""
        if key in self.header.axes:
            return self.header.axes[key].nominal
        value: Any = self.header.manifest
        for step in key.removeprefix("manifest.").split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        return value


def read(place: Path | str) -> Sweep:
    """Read a sweep folder or a ledger file; a driver may be writing it.

    Raises:
        LedgerError: there is no readable ledger.
    """
    with Ledger.open(place, read_only=True) as ledger, collector_paused():
        cells, session = _in_order(ledger.header, tuple(ledger.cells())), ledger.session()
        seeds, runs = read_runs(ledger, cells)
        sweep = Sweep(
            header=ledger.header,
            cells=cells,
            seeds=seeds,
            runs=runs,
            began_ms=session.started_ms if session is not None else None,
            provenance={**ledger.header.provenance, **(session.provenance if session is not None else {})},
        )
    # A cell that a full path was not swept in has the base manifest's value there.
    nominal = {key: plain_value(sweep.nominal(key)) for key in sweep.keys}
    return replace(sweep, cells=tuple(replace(cell, values={**nominal, **cell.values}) for cell in sweep.cells))


def _in_order(header: SweepHeader, cells: tuple[CellRow, ...]) -> tuple[CellRow, ...]:
    """Cells of a complete grid of numbers by their values, nested as the design has them; any others as they are.

    A grid that was extended has its cells in the order of their first run, which is no order for a reader.  An explicit
    list is in the order that somebody chose.
    """
    keys = dict.fromkeys(key for cell in cells for key in cell.values)
    columns = {key: [repr(cell.values.get(key)) for cell in cells] for key in keys}
    levels = {key: count for key, column in columns.items() if (count := len(set(column))) > 1}
    is_numeric = all(is_number(cell.values.get(key)) for key in levels for cell in cells)
    is_listed = "design=list" in str(header.provenance.get("command", ""))
    if prod(levels.values()) != len(cells) or not is_numeric or is_listed:
        return cells
    first_change = {key: [value != columns[key][0] for value in columns[key]].index(True) for key in levels}
    nested = sorted(levels, key=lambda key: -first_change[key])  # what changes last is outermost
    return tuple(sorted(cells, key=lambda cell: [cell.values[key] for key in nested]))


def short_git(state: Mapping[str, Any]) -> str:
    """A git state as people write it: ``a1b2c3d+dirty``."""
    return f"{str(state['commit'])[:7]}{'+dirty' if state.get('dirty') else ''}"


def plain_value(value: Any) -> Any:
    """A value as the ledger keeps it: tuples are lists there."""
    return list(value) if isinstance(value, tuple) else value
