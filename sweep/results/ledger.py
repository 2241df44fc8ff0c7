"""The ledger: what was asked, what was answered, committed before anyone is told.

One SQLite file per sweep folder.  The driver is its only writer (a lock beside it sees to that); any number of
processes read it meanwhile.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sweep.errors import LedgerError
from sweep.results import session
from sweep.results.answers import Answers
from sweep.results.attempts import Ending
from sweep.results.database import Database, as_text, seed_of, stored_seed
from sweep.results.header import CellRow, SweepHeader
from sweep.results.leases import Leases
from sweep.results.lock import WriterLock, is_held
from sweep.results.missing import missing_text
from sweep.results.record import RunRecord, Status
from sweep.results.schema import TABLES, in_words
from sweep.results.session import FINISHED, INTERRUPTED, NEW, RunRow, Session

LEDGER_NAME = "ledger.sqlite"
LOCK_NAME = "ledger.lock"


class Ledger:
    """The results of one sweep; open it with :meth:`create` or :meth:`open`, close it or use it in ``with``.

    Attributes:
        leases: who has which run in hand.
    """

    def __init__(self, database: Database, lock: WriterLock | None) -> None:
        self._database = database
        self._lock = lock
        self._began = False
        ((text,),) = database.rows("SELECT value FROM meta WHERE key = 'header'")
        self._header = SweepHeader.from_json(json.loads(text))
        self._answers = Answers(database, self._header)
        self.leases = Leases(database, self._answers)
        if lock is not None:
            self._settle(lock)

    @classmethod
    def create(cls, path: Path | str, header: SweepHeader) -> Ledger:
        """Make a new ledger and open it for writing; its folder is made too.

        Raises:
            LedgerError: it exists already, another driver is at it, or the folder cannot be written.
        """
        path = Path(path)
        if path.exists():
            raise LedgerError(f"{path} exists already; open it to extend or resume that sweep.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(f"The sweep folder {path.parent} cannot be made: {error.strerror}.") from error
        lock = WriterLock(path.with_name(LOCK_NAME))
        # Built under another name: a crash in here leaves no half-made ledger behind.
        draft = path.with_name(path.name + ".draft")
        try:
            if path.exists():  # another driver made it while this one waited for the lock
                raise LedgerError(f"{path} was made by another driver just now; open it instead.")
            draft.unlink(missing_ok=True)
            with in_words(path):
                _write_tables(draft, header)
            draft.rename(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            lock.release()
            raise
        return cls._opened(path, lock)

    @classmethod
    def open(cls, path: Path | str, read_only: bool = False) -> Ledger:
        """Open a ledger, for writing unless asked otherwise.

        A writer ends what was left in hand: a run that took its driver along too often is lost from then on.

        Raises:
            LedgerError: it is missing, not a ledger, written by a later version, or another driver writes it.
        """
        place = Path(path)
        path = place / LEDGER_NAME if place.is_dir() else place
        if not path.is_file():
            raise LedgerError(missing_text(place, LEDGER_NAME))
        return cls._opened(path, None if read_only else WriterLock(path.with_name(LOCK_NAME)))

    @classmethod
    def _opened(cls, path: Path, lock: WriterLock | None) -> Ledger:
        database = None
        try:
            database = Database(path, writing=lock is not None)
            return cls(database, lock)
        except BaseException:
            if database is not None:
                database.close()
            if lock is not None:
                lock.release()
            raise

    def _settle(self, lock: WriterLock) -> None:
        """End what another driver left in hand."""
        last = self.session()
        if last is not None and lock.was_abandoned:
            self.leases.end_all(Ending.ORPHANED, f"process {last.pid} on {last.host} died")
        else:
            self.leases.end_all(Ending.CANCELLED, "the driver left in good order")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let the next writer in.  Closing twice is fine."""
        self._database.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._database.path

    @property
    def header(self) -> SweepHeader:
        """What the sweep is."""
        return self._header

    # ------------------------------------------------------------------ what was asked

    def add_cells(self, cells: Iterable[CellRow]) -> None:
        """Add cells; one that is known keeps its row and takes the new label.

        A design that has all known cells decides the order of all; otherwise known cells keep their places, and new
        ones come after them.
        """
        asked = {cell.cell_id: cell for cell in cells}
        known = [cell.cell_id for cell in self.cells()]
        order = list(asked) if asked.keys() >= set(known) else list(dict.fromkeys([*known, *asked]))
        rows = [
            (c.cell_id, c.label, c.plan_id, as_text(c.values, c.label), as_text(c.parameters, c.label))
            for c in asked.values()
        ]
        with self._database.commit() as (connection, _):
            connection.executemany(
                "INSERT INTO cells (ordinal, cell_id, label, plan_id, axis_values, parameters) "
                "VALUES (0, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET label = excluded.label",
                rows,
            )
            connection.executemany("UPDATE cells SET ordinal = ? WHERE cell_id = ?", enumerate(order))

    def cells(self) -> list[CellRow]:
        """All cells, in the design's order; their ordinals count from 0."""
        rows = self._database.rows(
            "SELECT cell_id, label, axis_values, parameters, plan_id FROM cells ORDER BY ordinal, cell_id"
        )
        return [
            CellRow(cell_id=i, ordinal=place, label=t, values=json.loads(v), parameters=json.loads(p), plan_id=plan)
            for place, (i, t, v, p, plan) in enumerate(rows)
        ]

    def add_runs(self, runs: Iterable[tuple[str, str, str, int]]) -> None:
        """Add ``(run_id, cell_id, plan_id, seed)`` rows; a known one is left alone.

        Raises:
            LedgerError: a cell is unknown, or has this seed already under another run_id (its Plan changed), or a seed
                is not an integer in 0 .. 2**64-1.
        """
        rows = [RunRow(*run) for run in runs]
        known = {(r.cell_id, r.seed): r.run_id for r in self.runs()}
        labels: dict[str, str] = dict(self._database.rows("SELECT cell_id, label FROM cells"))
        for row in rows:
            if row.cell_id not in labels:
                raise LedgerError(f"Run {row.run_id} belongs to cell {row.cell_id}, which {self.path} does not have.")
            if known.setdefault((row.cell_id, row.seed), row.run_id) != row.run_id:
                raise LedgerError(
                    f"Cell {labels[row.cell_id]} with seed {row.seed} is another run than the one in {self.path}: its "
                    "Plan has changed. Give this sweep another name."
                )
        with self._database.commit() as (connection, _):
            connection.executemany(
                "INSERT INTO runs (run_id, cell_id, plan_id, seed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(row.run_id, row.cell_id, row.plan_id, stored_seed(row.seed)) for row in rows],
            )

    def runs(self) -> list[RunRow]:
        """All runs, in the order they were added."""
        query = "SELECT run_id, cell_id, plan_id, seed FROM runs ORDER BY position"
        rows = self._database.rows(query)
        return [RunRow(run_id, cell_id, plan_id, seed_of(seed)) for run_id, cell_id, plan_id, seed in rows]

    # ------------------------------------------------------------------ what was answered

    def append(self, records: Iterable[RunRecord]) -> list[RunRecord]:
        """Commit records, all or none; when this returns they survive a power cut.

        A record replaces an earlier one of its run only if that was not final (``lost``, ``cancelled``) or came from
        other code; what is replaced is kept aside.  A run that was in hand is so no more.

        Returns:
            The records as they were committed: those of runs that were in hand with the number of their attempt.

        Raises:
            LedgerError: a run is unknown, a value is not finite, or the disk is full; nothing was written.
        """
        records = list(records)
        with self._database.commit() as (connection, now_ms):
            numbers = self.leases.answered(connection, records, now_ms)
            written = [replace(r, attempt=numbers[r.run_id]) if r.run_id in numbers else r for r in records]
            self._answers.put(connection, written, now_ms)
        return written

    def records(self, statuses: Collection[Status] | None = None) -> list[RunRecord]:
        """The record of every run that has one, in the order of :meth:`runs`; of some statuses, or all."""
        return self._answers.records(statuses)

    def parts(self, *paths: str) -> list[tuple[Any, ...]]:
        """``(cell_id, seed, status, time of its commit [ms since 1970], body, *parts)`` of every run, in their order.

        All but the first two are None for a run without a record.  Much cheaper than :meth:`records`.

        Args:
            paths: where each part is in a record's JSON, as SQLite writes it, for example ``$.outcome.reason``: a
                number or a text is itself, a list or an object is its JSON text.
        """
        return self._answers.parts(*paths)

    def statuses(self) -> dict[str, Status]:
        """run_id -> status of its record; much cheaper than the records."""
        return self._answers.statuses()

    def remarks(self) -> list[str]:
        """What controllers said about how they work, each remark once, sorted."""
        return self._answers.remarks()

    def superseded(self) -> list[RunRecord]:
        """Earlier records that a later one replaced, oldest first."""
        return self._answers.superseded()

    def done(self, code_id: str) -> set[str]:
        """The run_ids that need not run again under this code."""
        return self._answers.done(code_id)

    # ------------------------------------------------------------------ who is at it

    def begin(self, provenance: Mapping[str, Any]) -> None:
        """Mark the start of a driver's session."""
        session.begin(self._database, provenance)
        self._began = True

    def finish(self, state: str = FINISHED) -> None:
        """Mark the end of the session that :meth:`begin` opened, as ``finished`` or ``interrupted``.

        What is still in hand is given up without prejudice.
        """
        self.leases.end_all(Ending.CANCELLED, "stopped")
        session.finish(self._database, state)

    def session(self) -> Session | None:
        """The last session; None if no driver ever began."""
        return session.last(self._database)

    @property
    def state(self) -> str:
        """``new``, ``running``, ``interrupted`` (also: the driver is gone without a word) or ``finished``."""
        last = self.session()
        if last is None:
            return NEW
        # A writer holds the lock itself: an open session that it did not begin was left by one that died.
        alive = self._began if self._lock else is_held(self.path.with_name(LOCK_NAME))
        return INTERRUPTED if last.finished_ms is None and not alive else last.state

    @property
    def revision(self) -> int:
        """A number that grows with every commit of news; cheap to poll."""
        return int(self._database.rows("SELECT revision FROM counter")[0][0])


def _write_tables(path: Path, header: SweepHeader) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.executescript(TABLES)
        connection.execute("INSERT INTO meta VALUES ('header', ?)", (as_text(header.to_json(), "header"),))
        connection.commit()
    finally:
        connection.close()
