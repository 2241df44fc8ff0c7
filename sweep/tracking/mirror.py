"""Make MLflow say what the ledger says; doing it twice changes nothing."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from analysis.comparison import CellSummary, Comparison
from analysis.contrast import compare_cells
from analysis.source import Sweep, read
from sweep.results import Ledger
from sweep.tracking.advice import MidwayError, reachable
from sweep.tracking.destination import Destination
from sweep.tracking.documents import Documents
from sweep.tracking.notes import sweep_note
from sweep.tracking.rows import RUNNING, cell_row, cell_status, sweep_row, sweep_status
from sweep.tracking.store import Store
from sweep.tracking.tags import PARENT, common_tags, experiment_tags, sweep_id, sweep_tags

LOCK_NAME = "tracking.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What one :func:`sync` did.

    Attributes:
        experiment_id: where.
        parent_id: the sweep's run.
        created: runs made.
        updated: runs that were there and changed.
        unchanged: runs that were right already.
        waiting: cells that have runs without a record.
        state: the parent's state.
    """

    experiment_id: str
    parent_id: str
    created: int
    updated: int
    unchanged: int
    waiting: int
    state: str


def sync(ledger: Path | str, destination: Destination, *, live: bool = True) -> SyncReport:
    """Mirror the ledger as it is now.

    Args:
        ledger: a sweep folder or its ledger file; a driver may be writing it.
        destination: which MLflow, which experiment; that is made if it does not exist.
        live: whether cells are shown too while runs of theirs are still to come.

    Raises:
        LedgerError: there is no readable ledger.
        TrackingError: MLflow could not be reached, or refused.
    """
    with Ledger.open(ledger, read_only=True) as opened:
        path, header = opened.path, opened.header
    with _alone(path.parent / LOCK_NAME):
        # MLflow first, because it may not be there, and reading a large ledger takes a while.
        with reachable(destination.uri):
            store = Store(destination, sweep_id(header), experiment_tags(header))
        with reachable(destination.uri, MidwayError):
            return _Pass(store, path, live=live).send()


class _Pass:
    """One pass over one sweep."""

    def __init__(self, store: Store, path: Path, *, live: bool) -> None:
        with Ledger.open(path, read_only=True) as ledger:
            # The state is read first: what is committed after it is the next round's.
            self._state, session = ledger.state, ledger.session()
        self._store = store
        self._live = live
        self._sweep: Sweep = read(path)
        self._provenance: dict[str, Any] = {
            **self._sweep.header.provenance,
            **(session.provenance if session else {}),
        }
        self._comparison: Comparison = compare_cells(self._sweep)
        self._documents = Documents(self._sweep, self._comparison, self._provenance)

    def send(self) -> SyncReport:
        """Parent first, so that children have one; its final state last, so that nothing is claimed too early."""
        sweep, comparison, store = self._sweep, self._comparison, self._store
        common = common_tags(sweep, self._provenance)
        note = sweep_note(comparison, sweep.header.scene, self._provenance)
        tags = {**common, **sweep_tags(comparison, note)}
        parent_id = store.run_id(sweep_row(sweep, tags, RUNNING))
        if not self._is_over:
            store.deliver(sweep_row(sweep, tags, RUNNING), dict)
        for cell in comparison.cells:
            if self._is_due(cell):
                row = cell_row(sweep, comparison, cell, {**common, PARENT: parent_id}, is_over=self._is_over)
                store.deliver(row, partial(self._documents.of_cell, cell.cell_id))
        statuses = [cell_status(cell, is_over=self._is_over) for cell in comparison.cells if cell.n]
        waiting = sum(cell.n < cell.planned for cell in comparison.cells)
        status = sweep_status(statuses, state=self._state, is_complete=waiting == 0)
        if self._is_over:
            store.deliver(sweep_row(sweep, tags, status), self._documents.of_sweep)
        store.finish()
        return SyncReport(
            experiment_id=store.experiment_id,
            parent_id=parent_id,
            created=store.created,
            updated=store.updated,
            unchanged=store.unchanged,
            waiting=waiting,
            state=status,
        )

    @property
    def _is_over(self) -> bool:
        return self._state != "running"

    def _is_due(self, cell: CellSummary) -> bool:
        """Whether a cell's run should say something new.

        While runs of it are going on, that is when twice as many have a record as it speaks of: so often for a first
        look, and at most a handful of times in all.
        """
        if not cell.n or cell.cell_id not in self._sweep.commits:  # or its first record came just now
            return False
        if self._is_over or cell.n == cell.planned:
            return True
        known = self._store.metrics(cell.cell_id)
        counted = sum(value for name, value in known.items() if name.startswith("outcomes/"))
        return self._live and (self._store.status(cell.cell_id) != RUNNING or cell.n >= 2 * counted)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One pass over a sweep at a time: two would both make the runs that neither finds."""
    with ExitStack() as stack:
        with suppress(OSError):  # a folder that cannot be written: whoever reads there is most likely alone
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        yield
