"""Answers: the record of every run that has one, and what later records replaced."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sweep.errors import LedgerError
from sweep.results.database import AMONG, Database, as_text, seed_of
from sweep.results.header import SweepHeader
from sweep.results.record import Outcome, RunRecord, Status

FINAL = ", ".join(f"'{status}'" for status in Status if status.is_final)
"""The final statuses, as SQL writes them."""

_IN_ORDER = """
SELECT body FROM runs CROSS JOIN records USING (run_id)
WHERE NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.run_id = runs.run_id AND other.position < runs.position)
"""
"""Each record once, where its run stands first; the outer loop is over positions, so that no body is sorted."""


_Answer = tuple[str, Status, str, int, str]
"""A row: run_id, status, code_id, time of its commit [ms since 1970], body."""


class Answers:
    """The records of a ledger.

    Args:
        database: the ledger's file.
        header: what the sweep is.
    """

    def __init__(self, database: Database, header: SweepHeader) -> None:
        self._database = database
        self._header = header

    def put(self, connection: sqlite3.Connection, records: Iterable[RunRecord], now_ms: int) -> None:
        """Write records in a transaction.

        One replaces an earlier one of its run only if that was not final (``lost``, ``cancelled``) or came from other
        code; what is replaced is kept aside.

        Raises:
            LedgerError: a run is unknown, or a value is not finite.
        """
        rows = [
            (r.run_id, r.outcome.status, r.code_id, now_ms, as_text(r.to_json(), f"run {r.run_id}")) for r in records
        ]
        there = self._there(connection, [row[0] for row in rows])
        replaced, new = [], []
        for row in rows:
            old = there[row[0]]
            if old is not None and ((old[1].is_final and old[2] == row[2]) or old[4] == row[4]):
                continue
            replaced += [] if old is None else [(old[0], *old[3:])]
            new.append(row)
            there[row[0]] = row
        connection.executemany("INSERT INTO superseded VALUES (?, ?, ?)", replaced)
        connection.executemany("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)", new)

    def _there(self, connection: sqlite3.Connection, run_ids: Sequence[str]) -> dict[str, _Answer | None]:
        """The rows there are, by run_id; None for a run without one."""
        query = "SELECT run_id, status, code_id, committed_ms, body FROM runs LEFT JOIN records USING (run_id)"
        rows = connection.execute(f"{query} WHERE run_id IN {AMONG}", (json.dumps(run_ids),))
        there = {row[0]: None if row[1] is None else (row[0], Status(row[1]), *row[2:]) for row in rows}
        for run_id in run_ids:
            if run_id not in there:
                raise LedgerError(f"Run {run_id} is not a run of {self._database.path}; add_runs() comes first.")
        return there

    def lost(self, connection: sqlite3.Connection, run_id: str, outcome: Outcome, attempt: int) -> RunRecord:
        """The record of a run that is given up; a final one that it has already, instead."""
        found = connection.execute("SELECT body FROM records WHERE run_id = ?", (run_id,)).fetchone()
        if found is not None and (record := _record(found[0])).outcome.status.is_final:
            return record
        plan_id, seed = connection.execute("SELECT plan_id, seed FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return RunRecord(
            run_id=run_id,
            plan_id=plan_id,
            seed=seed_of(seed),
            outcome=outcome,
            metrics=dict.fromkeys(self._header.metrics),
            summaries={},
            trace_digest="",
            receipts={},
            code_id=self._header.code_id,
            attempt=attempt,
        )

    def records(self, statuses: Collection[Status] | None = None) -> list[RunRecord]:
        """The records there are, those of some statuses or all, in the order of the runs."""
        query, asked = _IN_ORDER, tuple(statuses or ())
        if statuses is not None:
            query += f" AND status IN ({', '.join('?' * len(asked))})"
        return [_record(body) for (body,) in self._database.rows(query + " ORDER BY position", *asked)]

    def parts(self, *paths: str) -> list[tuple[Any, ...]]:
        """Parts of records without the cost of decoding all of them; see :meth:`Ledger.parts`."""
        wanted = "".join(", json_extract(body, ?)" for _ in paths)
        query = f"SELECT cell_id, seed, status, committed_ms, body{wanted} FROM runs LEFT JOIN records USING (run_id)"
        rows = self._database.rows(query + " ORDER BY position", *paths)
        if all(row[1] >= 0 for row in rows):  # nearly always, and copying many rows takes a while
            return rows
        return [(cell_id, seed_of(seed), *rest) for cell_id, seed, *rest in rows]

    def superseded(self) -> list[RunRecord]:
        """Records that a later one replaced, oldest first."""
        return [_record(body) for (body,) in self._database.rows("SELECT body FROM superseded ORDER BY rowid")]

    def statuses(self) -> dict[str, Status]:
        """run_id -> status of its record."""
        return {run: Status(status) for run, status in self._database.rows("SELECT run_id, status FROM records")}

    def remarks(self) -> list[str]:
        """What controllers said about how they work, each remark once, sorted."""
        query = "SELECT DISTINCT value FROM records, json_each(body, '$.remarks') ORDER BY 1"
        return [remark for (remark,) in self._database.rows(query)]

    def done(self, code_id: str) -> set[str]:
        """The run_ids that need not run again under this code."""
        query = f"SELECT run_id FROM records WHERE code_id = ? AND status IN ({FINAL})"
        return {run for (run,) in self._database.rows(query, code_id)}


def _record(body: str) -> RunRecord:
    return RunRecord.from_json(json.loads(body))
