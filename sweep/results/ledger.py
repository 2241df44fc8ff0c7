"""The ledger: what was asked, what was answered, committed before anyone is told.

One SQLite file per sweep folder.  The driver is its only writer (a lock beside it sees to that); any
number of processes read it meanwhile.  There is no write-ahead log, because network disks do not carry one.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sweep.errors import LedgerError
from sweep.results.header import CellRow, SweepHeader
from sweep.results.lock import WriterLock, is_held
from sweep.results.record import RunRecord
from sweep.results.schema import TABLES, check_version, connect, in_words
from sweep.results.session import FINISHED, INTERRUPTED, NEW, RUNNING, RunRow, Session

LEDGER_NAME = "ledger.sqlite"
LOCK_NAME = "ledger.lock"


class Ledger:
    """The results of one sweep; open it with :meth:`create` or :meth:`open`, close it or use it in ``with``."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self._path = path
        self._connection = connection
        self._lock = lock
        self._began = False
        (text,) = connection.execute("SELECT value FROM meta WHERE key = 'header'").fetchone()
        self._header = SweepHeader.from_json(json.loads(text))

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
            lock.release()
            raise
        return cls._opened(path, lock)

    @classmethod
    def open(cls, path: Path | str, read_only: bool = False) -> Ledger:
        """Open a ledger, for writing unless asked otherwise.

        Raises:
            LedgerError: it is missing, not a ledger, written by a later version, or another driver writes it.
        """
        path = Path(path)
        if path.is_dir():
            path = path / LEDGER_NAME
        if not path.is_file():
            raise LedgerError(f"There is no ledger at {path}; is this the folder of a sweep?")
        return cls._opened(path, None if read_only else WriterLock(path.with_name(LOCK_NAME)))

    @classmethod
    def _opened(cls, path: Path, lock: WriterLock | None) -> Ledger:
        connection = None
        try:
            with in_words(path):
                connection = connect(path, writing=lock is not None)
                check_version(connection, path)
                return cls(path, connection, lock)
        except BaseException:
            if connection is not None:
                connection.close()
            if lock is not None:
                lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let the next writer in.  Closing twice is fine."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def header(self) -> SweepHeader:
        """What the sweep is."""
        return self._header

    # ------------------------------------------------------------------ what was asked

    def add_cells(self, cells: Iterable[CellRow]) -> None:
        """Add cells; one that is known keeps its row and takes the new ordinal and label."""
        rows = [
            (c.cell_id, c.ordinal, c.label, c.plan_id, _text(c.values, c.label), _text(c.parameters, c.label))
            for c in cells
        ]
        with self._commit():
            self._connection.executemany(
                "INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET ordinal = excluded.ordinal, label = excluded.label",
                rows,
            )

    def cells(self) -> list[CellRow]:
        """All cells, in the design's order."""
        rows = self._rows("SELECT cell_id, ordinal, label, axis_values, parameters, plan_id FROM cells ORDER BY 2, 1")
        return [
            CellRow(cell_id=i, ordinal=o, label=t, values=json.loads(v), parameters=json.loads(p), plan_id=plan)
            for i, o, t, v, p, plan in rows
        ]

    def add_runs(self, runs: Iterable[tuple[str, str, str, int]]) -> None:
        """Add ``(run_id, cell_id, plan_id, seed)`` rows; a known one is left alone.

        Raises:
            LedgerError: a cell is unknown, or has this seed already under another run_id (its Plan changed).
        """
        rows = [RunRow(*run) for run in runs]
        known = {(r.cell_id, r.seed): r.run_id for r in self.runs()}
        cells = {cell for (cell,) in self._rows("SELECT cell_id FROM cells")}
        for row in rows:
            if row.cell_id not in cells:
                raise LedgerError(f"Run {row.run_id} belongs to cell {row.cell_id}, which {self._path} does not have.")
            if known.setdefault((row.cell_id, row.seed), row.run_id) != row.run_id:
                raise LedgerError(
                    f"Cell {row.cell_id} with seed {row.seed} is another run than the one in {self._path}: its Plan "
                    "has changed. Give this sweep another name."
                )
        with self._commit():
            self._connection.executemany(
                "INSERT INTO runs (run_id, cell_id, plan_id, seed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", rows
            )

    def runs(self) -> list[RunRow]:
        """All runs, in the order they were added."""
        return [RunRow(*row) for row in self._rows("SELECT run_id, cell_id, plan_id, seed FROM runs ORDER BY position")]

    # ------------------------------------------------------------------ what was answered

    def append(self, records: Iterable[RunRecord]) -> None:
        """Commit records, all or none; when this returns they survive a power cut.

        A record replaces an earlier one of its run only if that was not final (``lost``, ``cancelled``) or
        came from other code; what is replaced is kept aside as an attempt.

        Raises:
            LedgerError: a run is unknown, a value is not finite, or the disk is full; nothing was written.
        """
        rows = [
            (r.run_id, r.outcome.status.is_final, r.code_id, _text(r.to_json(), f"run {r.run_id}")) for r in records
        ]
        with self._commit() as now_ms:
            for run_id, final, code_id, body in rows:
                self._put(run_id, final, code_id, (now_ms, body))

    def _put(self, run_id: str, final: bool, code_id: str, rest: tuple[int, str]) -> None:
        query = self._connection.execute
        if query("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is None:
            raise LedgerError(f"Run {run_id} is not one of the runs of {self._path}; add_runs() comes first.")
        old = query("SELECT final, code_id FROM records WHERE run_id = ?", (run_id,)).fetchone()
        if old is not None and old[0] and old[1] == code_id:
            return
        if old is not None:
            query("INSERT INTO superseded SELECT run_id, committed_ms, body FROM records WHERE run_id = ?", (run_id,))
        query("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)", (run_id, final, code_id, *rest))

    def records(self) -> list[RunRecord]:
        """The record of every run that has one, in the order of :meth:`runs`."""
        rows = self._rows(
            "SELECT body FROM records JOIN (SELECT run_id, min(position) AS place FROM runs GROUP BY run_id) "
            "USING (run_id) ORDER BY place"
        )
        return [RunRecord.from_json(json.loads(body)) for (body,) in rows]

    def superseded(self) -> list[RunRecord]:
        """Earlier attempts that a later record replaced, oldest first."""
        return [RunRecord.from_json(json.loads(b)) for (b,) in self._rows("SELECT body FROM superseded ORDER BY rowid")]

    def done(self, code_id: str) -> set[str]:
        """The run_ids that need not run again under this code."""
        return {run for (run,) in self._rows("SELECT run_id FROM records WHERE final AND code_id = ?", code_id)}

    def commits(self) -> dict[str, tuple[int, int]]:
        """cell_id -> times of the first and last commit of one of its records [ms since 1970]; strictly increasing."""
        rows = self._rows(
            "SELECT cell_id, min(committed_ms), max(committed_ms) FROM runs JOIN records USING (run_id) GROUP BY 1"
        )
        return {cell: (first, last) for cell, first, last in rows}

    # ------------------------------------------------------------------ who is at it

    def begin(self, provenance: Mapping[str, Any]) -> None:
        """Mark the start of a driver's session."""
        text = _text(provenance, "provenance")
        with self._commit() as now_ms:
            self._connection.execute(
                "INSERT INTO sessions (pid, host, started_ms, state, provenance) VALUES (?, ?, ?, ?, ?)",
                (os.getpid(), socket.gethostname(), now_ms, RUNNING, text),
            )
        self._began = True

    def finish(self, state: str = FINISHED) -> None:
        """Mark the end of the session that :meth:`begin` opened, as ``finished`` or ``interrupted``."""
        with self._commit() as now_ms:
            self._connection.execute(
                "UPDATE sessions SET finished_ms = ?, state = ? WHERE number = (SELECT max(number) FROM sessions)",
                (now_ms, state),
            )

    def session(self) -> Session | None:
        """The last session; None if no driver ever began."""
        rows = self._rows(
            "SELECT pid, host, started_ms, finished_ms, state, provenance FROM sessions ORDER BY number DESC LIMIT 1"
        )
        for pid, host, started, finished, state, text in rows:
            return Session(
                pid=pid, host=host, started_ms=started, finished_ms=finished, state=state, provenance=json.loads(text)
            )
        return None

    @property
    def state(self) -> str:
        """``new``, ``running``, ``interrupted`` (also: the driver is gone without a word) or ``finished``."""
        session = self.session()
        if session is None:
            return NEW
        # A writer holds the lock itself: an open session that it did not begin was left by one that died.
        alive = self._began if self._lock else is_held(self._path.with_name(LOCK_NAME))
        return INTERRUPTED if session.finished_ms is None and not alive else session.state

    @property
    def revision(self) -> int:
        """A number that grows with every commit; cheap to poll."""
        return int(self._rows("SELECT revision FROM counter")[0][0])

    # ------------------------------------------------------------------ SQLite

    @contextmanager
    def _commit(self) -> Iterator[int]:
        """One durable transaction; yields its time [ms since 1970], later than that of any before it."""
        if self._lock is None:
            raise LedgerError(f"{self._path} is open for reading only.")
        with in_words(self._path):
            execute = self._connection.execute
            execute("BEGIN IMMEDIATE")
            try:
                execute(
                    "UPDATE counter SET revision = revision + 1, committed_ms = max(committed_ms + 1, ?)",
                    (time.time_ns() // 1_000_000,),
                )
                yield execute("SELECT committed_ms FROM counter").fetchone()[0]
                execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    execute("ROLLBACK")
                raise

    def _rows(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        with in_words(self._path):
            return self._connection.execute(query, arguments).fetchall()


def _write_tables(path: Path, header: SweepHeader) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.executescript(TABLES)
        connection.execute("INSERT INTO meta VALUES ('header', ?)", (_text(header.to_json(), "header"),))
        connection.commit()
    finally:
        connection.close()


def _text(value: Any, subject: str) -> str:
    """JSON that keeps the order of keys, since the order of axes and metrics is the scene's."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise LedgerError(f"{subject}: cannot be kept in the ledger, {error}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):  # a NumPy scalar
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data")
