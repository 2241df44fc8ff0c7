"""A sweep's ledger in memory: cells, and the record of each seed in each cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.results import CellRow, Ledger, RunRecord, SweepHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What one ledger holds.

    Attributes:
        header: what the sweep is.
        cells: its cells, in the design's order.
        seeds: cell_id to the seeds planned.
        records: cell_id to seed to the record there is.
        began_ms: when the last driver session began [ms since 1970]; None before the first.
        provenance: what the last driver said about itself, before the first what the header says.
        commits: cell_id to the times of the first and last commit of its records [ms since 1970].
    """

    header: SweepHeader
    cells: tuple[CellRow, ...]
    seeds: Mapping[str, tuple[int, ...]]
    records: Mapping[str, Mapping[int, RunRecord]]
    commits: Mapping[str, tuple[int, int]]
    began_ms: int | None
    provenance: Mapping[str, Any]

    @property
    def keys(self) -> tuple[str, ...]:
        """Every declared axis, in the scene's order, then every full path swept."""
        names = dict.fromkeys(self.header.axes)
        for cell in self.cells:
            names.update(dict.fromkeys(cell.values))
        return tuple(names)

    @property
    def swept(self) -> tuple[str, ...]:
        """The keys that take more than one value."""
        return tuple(k for k in self.keys if len({repr(c.values.get(k)) for c in self.cells}) > 1)

    def only(self, cells: Collection[str] | None, seeds: Collection[int] | None) -> Sweep:
        """The same sweep as if it had these cells and seeds alone; None keeps all."""
        kept = tuple(cell for cell in self.cells if cells is None or cell.cell_id in cells)
        if seeds is None:
            return replace(self, cells=kept)
        asked = {cell: tuple(s for s in those if s in seeds) for cell, those in self.seeds.items()}
        records = {cell: {s: r for s, r in those.items() if s in seeds} for cell, those in self.records.items()}
        return replace(self, cells=kept, seeds=asked, records=records)

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
    with Ledger.open(place, read_only=True) as ledger:
        # Times first: a record that comes while this is read then has a later time than the one given here.
        commits = ledger.commits()
        cells, session = tuple(ledger.cells()), ledger.session()
        found = {record.run_id: record for record in ledger.records()}
        records: dict[str, dict[int, RunRecord]] = {cell.cell_id: {} for cell in cells}
        seeds: dict[str, list[int]] = {cell.cell_id: [] for cell in cells}
        for run in ledger.runs():
            seeds[run.cell_id].append(run.seed)
            if run.run_id in found:
                records[run.cell_id][run.seed] = found[run.run_id]
        sweep = Sweep(
            header=ledger.header,
            cells=cells,
            seeds={cell: tuple(sorted(s)) for cell, s in seeds.items()},
            records=records,
            commits=commits,
            began_ms=session.started_ms if session is not None else None,
            provenance={**ledger.header.provenance, **(session.provenance if session is not None else {})},
        )
    # A cell that a full path was not swept in has the base manifest's value there.
    nominal = {key: _plain(sweep.nominal(key)) for key in sweep.keys}
    return replace(sweep, cells=tuple(replace(cell, values={**nominal, **cell.values}) for cell in sweep.cells))


def short_git(state: Mapping[str, Any]) -> str:
    """A git state as people write it: ``a1b2c3d+dirty``."""
    return f"{str(state['commit'])[:7]}{'+dirty' if state.get('dirty') else ''}"


def choose_baseline(sweep: Sweep, asked: str | None = None) -> CellRow | None:
    """The cell that others are compared with: the one asked for, the header's, the nominal one, else the first.

    Args:
        sweep: where to look.
        asked: a cell_id, a unique prefix of one, or a cell's label.

    Raises:
        InvalidInputError: nothing, or more than one cell, answers to ``asked``.
    """
    if asked is not None:
        return _named(sweep, asked)
    by_id = {cell.cell_id: cell for cell in sweep.cells}
    if sweep.header.baseline in by_id:
        return by_id[sweep.header.baseline]
    nominal = (c for c in sweep.cells if all(c.values.get(k) == _plain(sweep.nominal(k)) for k in sweep.swept))
    return next(nominal, sweep.cells[0] if sweep.cells else None)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _named(sweep: Sweep, asked: str) -> CellRow:
    exact = [c for c in sweep.cells if asked in (c.cell_id, c.label)]
    found = exact or [c for c in sweep.cells if asked and c.cell_id.startswith(asked)]
    if len(found) == 1:
        return found[0]
    count = f"{len(found)} cells are" if found else "no cell is"
    advice = did_you_mean(asked, [c.label for c in sweep.cells])
    raise InvalidInputError("comparison", [Problem("baseline", f"{count} called {asked!r}{advice}")])
