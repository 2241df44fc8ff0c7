"""The runs of a sweep as columns: what comparisons are computed from, a hundred thousand runs at a time."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.results import CellRow, Ledger, RunRecord, Status

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]

PARTS = ("success", "reason", "kind", "time_s")
AGE = "/age_at_use_s"

_SEQUENCES = ("seed", "status", "success", "reason", "kind", "receipts", "committed_ms", "bodies")


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Runs that have a record, by cell and within a cell by seed; every column has an entry per run.

    Attributes:
        cells: how many cells there are; some may have no run here.
        cell: index of the run's cell, ascending.
        seed: its seed.
        status: how it ended.
        success: whether it ended well; None if nobody knows (lost, timed out, cancelled).
        reason: an end's domain reason.
        kind: a fault's kind.
        time_s: simulated time reached [s]; NaN where nobody knows.
        values: metric to values that may enter a mean; NaN where there is none (a faulted run never has one).
        ages: controller to mean age of the measurements it used [s]; NaN where there is none.
        receipts: the noise receipts as JSON text: equal texts are equal receipts.
        committed_ms: when the record was committed [ms since 1970].
        bodies: the records as JSON text.
    """

    cells: int
    cell: Ints
    seed: Sequence[int]
    status: Sequence[Status]
    success: Sequence[bool | None]
    reason: Sequence[str | None]
    kind: Sequence[str | None]
    time_s: Floats
    values: Mapping[str, Floats]
    ages: Mapping[str, Floats]
    receipts: Sequence[str]
    committed_ms: Sequence[int]
    bodies: Sequence[str]

    @cached_property
    def spans(self) -> list[slice]:
        """Where each cell's runs are."""
        edges = np.searchsorted(self.cell, np.arange(self.cells + 1)).tolist()
        return [slice(a, b) for a, b in pairwise(edges)]

    @cached_property
    def decided(self) -> NDArray[np.int8]:
        """``success`` as numbers: 1, 0, and -1 if nobody knows."""
        return np.array([-1 if s is None else int(s) for s in self.success], dtype=np.int8)

    def only(self, kept: Sequence[int], seeds: Collection[int] | None) -> Runs:
        """The runs of some cells, by index, and of some seeds; None keeps all seeds."""
        if seeds is None and len(kept) == self.cells:
            return self
        spans = [range(*self.spans[i].indices(len(self.seed))) for i in kept]
        found = [(new, i) for new, span in enumerate(spans) for i in span if seeds is None or self.seed[i] in seeds]
        rows = np.array([i for _, i in found], dtype=np.intp)
        taken: dict[str, Any] = {name: [getattr(self, name)[i] for i in rows] for name in _SEQUENCES}
        return replace(
            self,
            cells=len(kept),
            cell=np.array([new for new, _ in found], dtype=np.intp),
            time_s=self.time_s[rows],
            values={name: column[rows] for name, column in self.values.items()},
            ages={name: column[rows] for name, column in self.ages.items()},
            **taken,
        )


def read_runs(ledger: Ledger, cells: Sequence[CellRow]) -> tuple[dict[str, tuple[int, ...]], Runs]:
    """The seeds planned in each cell, and the columns of those runs that have a record."""
    metrics, controllers = list(ledger.header.metrics), list(ledger.header.manifest.get("controllers", ()))
    paths = [*(f"$.outcome.{part}" for part in PARTS), "$.receipts", "$.metrics"]
    place = {cell.cell_id: i for i, cell in enumerate(cells)}
    rows = ledger.parts(*paths, *(f'$.summaries."{name}{AGE}"' for name in controllers))
    rows = [row for row in rows if row[0] in place]  # a driver may have added cells since
    planned: list[list[int]] = [[] for _ in cells]
    for row in rows:
        planned[place[row[0]]].append(row[1])
    seeds = {cell.cell_id: tuple(sorted(those)) for cell, those in zip(cells, planned, strict=True)}
    answered = sorted((row for row in rows if row[2] is not None), key=lambda row: (place[row[0]], row[1]))
    return seeds, _columns(answered, place, metrics, controllers)


def _columns(
    rows: Sequence[tuple[Any, ...]], place: Mapping[str, int], metrics: Sequence[str], controllers: Sequence[str]
) -> Runs:
    width = 5 + len(PARTS) + 2 + len(controllers)
    cell, seed, status, committed, body, success, reason, kind, time, receipts, found, *ages = (
        zip(*rows, strict=True) if rows else [()] * width
    )
    # One document of all metrics: a tenth of the time that a hundred thousand small ones take.
    values = json.loads(f"[{','.join(found)}]")
    statuses = [Status(s) for s in status]
    valued = np.array([s.is_good for s in statuses], dtype=bool)
    return Runs(
        cells=len(place),
        cell=np.array([place[c] for c in cell], dtype=np.intp),
        seed=seed,
        status=statuses,
        success=[_succeeded(s, ended) for s, ended in zip(statuses, success, strict=True)],
        reason=reason,
        kind=kind,
        time_s=np.array(time, dtype=float),
        values={name: np.where(valued, _numbers([v.get(name) for v in values]), np.nan) for name in metrics},
        ages={n: np.where(valued, _numbers(a), np.nan) for n, a in zip(controllers, ages, strict=True)},
        receipts=receipts,
        committed_ms=committed,
        bodies=body,
    )


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array(values, dtype=float)  # None becomes NaN


def _succeeded(status: Status, success: Any) -> bool | None:
    """Whether a run ended well; None if nobody knows (lost, timed out, cancelled)."""
    if status is Status.COMPLETED:
        return True
    if status is Status.ENDED:
        return success is None or bool(success)
    return False if status is Status.FAULTED else None


class Records(Mapping[str, Mapping[int, RunRecord]]):
    """cell_id to seed to record; a cell's records are decoded when they are asked for."""

    def __init__(self, cells: Sequence[CellRow], runs: Runs) -> None:
        self._spans = dict(zip((cell.cell_id for cell in cells), runs.spans, strict=True))
        self._runs = runs
        self._known: dict[str, dict[int, RunRecord]] = {}

    def __getitem__(self, cell_id: str) -> Mapping[int, RunRecord]:
        if cell_id not in self._known:
            span = self._spans[cell_id]
            decoded = map(RunRecord.from_json, map(json.loads, self._runs.bodies[span]))
            self._known[cell_id] = dict(zip(self._runs.seed[span], decoded, strict=True))
        return self._known[cell_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)
