"""Leases: who has which run in hand, and every attempt there was; :mod:`sweep.results.attempts` has the rules."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from sweep.errors import LedgerError
from sweep.results.answers import FINAL, Answers
from sweep.results.attempts import HERE, Attempt, Ending, RunHistory
from sweep.results.database import AMONG, Database, Row
from sweep.results.record import Outcome, RunRecord, Status

_HISTORIES = """
SELECT run_id, status, number, session, worker, lanes, since_ms, until_ms, ending, detail
FROM attempts LEFT JOIN records USING (run_id) WHERE {} ORDER BY run_id, number
"""


class Leases:
    """The attempts of a ledger's runs; each call is one transaction, however many runs it is about.

    Args:
        database: the ledger's file.
        answers: where the records of lost runs go.
    """

    def __init__(self, database: Database, answers: Answers) -> None:
        self._database = database
        self._answers = answers

    def lease(self, run_ids: Sequence[str], worker: str = HERE) -> None:
        """A worker takes runs, to execute them in one call.

        Raises:
            LedgerError: one of them is in hand already; nothing was written.
        """
        with self._database.commit(is_news=False) as (connection, now_ms):
            (session,) = connection.execute("SELECT coalesce(max(number), 0) FROM sessions").fetchone()
            before = _histories(connection, run_ids)
            after = {}
            for run_id in run_ids:
                try:
                    after[run_id] = before.get(run_id, RunHistory()).leased(
                        worker, len(run_ids), session=session, now_ms=now_ms
                    )
                except LedgerError as error:
                    raise LedgerError(f"Run {run_id}: {error}.") from None
            connection.executemany("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _last(after))

    def give_back(self, run_ids: Sequence[str]) -> None:
        """Runs that a worker had, and never began."""
        with self._database.commit(is_news=False) as (connection, now_ms):
            self._end(connection, run_ids, Ending.RETURNED, now_ms=now_ms)

    def died(self, run_ids: Sequence[str], cause: str) -> list[RunRecord]:
        """A worker died while it executed runs.

        Args:
            run_ids: all that it had begun.
            cause: what is known of the death, for people.

        Returns:
            The records of the runs that are given up; they are committed.
        """
        with self._database.commit() as (connection, now_ms):
            return self._end(connection, run_ids, Ending.DIED, detail=cause, now_ms=now_ms)

    def overdue(self, run_ids: Sequence[str], detail: str) -> None:
        """Runs that shared a call took longer than one may.

        Args:
            run_ids: all of the call.
            detail: how long they had, for people.
        """
        with self._database.commit(is_news=False) as (connection, now_ms):
            self._end(connection, run_ids, Ending.OVERDUE, detail=detail, now_ms=now_ms)

    def end_all(self, ending: Ending, detail: str = "") -> list[RunRecord]:
        """Nobody has anything in hand any more; returns the records of the runs that are given up."""
        in_hand = [run_id for (run_id,) in self._database.rows("SELECT run_id FROM attempts WHERE ending IS NULL")]
        if not in_hand:
            return []
        with self._database.commit() as (connection, now_ms):
            return self._end(connection, in_hand, ending, detail=detail, now_ms=now_ms)

    def answered(self, connection: sqlite3.Connection, records: Iterable[RunRecord], now_ms: int) -> dict[str, int]:
        """Note in a transaction that records have come.

        Returns:
            run_id -> number of the attempt it came from, of the runs that were in hand.
        """
        statuses = {record.run_id: record.outcome.status for record in records}
        histories = _histories(connection, list(statuses))
        after = {
            run_id: history.answered(statuses[run_id], now_ms=now_ms)
            for run_id, history in histories.items()
            if history.attempts[-1].is_open
        }
        _close(connection, after)
        return {run_id: history.attempts[-1].number for run_id, history in after.items()}

    def histories(self, *, unanswered: bool = False) -> dict[str, RunHistory]:
        """The attempts of every run that has any, by run_id.

        Args:
            unanswered: only of runs without a final record.
        """
        condition = f"status IS NULL OR status NOT IN ({FINAL})" if unanswered else "true"
        return _read(self._database.rows(_HISTORIES.format(condition)))

    def pace_s(self) -> float | None:
        """Wall time for each run that the last session which ended any has ended [s]; None before the first."""
        rows = self._database.rows(
            "SELECT count(*), max(until_ms) - min(since_ms) FROM attempts WHERE ending = ? "
            "GROUP BY session ORDER BY session DESC LIMIT 1",
            Ending.ANSWERED,
        )
        return rows[0][1] / 1000 / rows[0][0] if rows else None

    def _end(
        self, connection: sqlite3.Connection, run_ids: Sequence[str], ending: Ending, *, now_ms: int, detail: str = ""
    ) -> list[RunRecord]:
        before = _histories(connection, run_ids)
        after = {run_id: before[run_id].ended(ending, now_ms=now_ms, detail=detail) for run_id in run_ids}
        _close(connection, after)
        given_up = [
            self._given_up(connection, run_id, history)
            for run_id, history in after.items()
            if history.attempts[-1].is_deadly and history.is_hopeless
        ]
        self._answers.put(connection, given_up, now_ms)
        return given_up

    def _given_up(self, connection: sqlite3.Connection, run_id: str, history: RunHistory) -> RunRecord:
        outcome = Outcome(status=Status.LOST, message=history.story)
        return self._answers.lost(connection, run_id, outcome, attempt=len(history.attempts))


def _histories(connection: sqlite3.Connection, run_ids: Sequence[str]) -> dict[str, RunHistory]:
    query = _HISTORIES.format(f"run_id IN {AMONG}")
    return _read(connection.execute(query, (json.dumps(run_ids),)))


def _read(rows: Iterable[Row]) -> dict[str, RunHistory]:
    found: dict[str, RunHistory] = {}
    for run_id, status, number, session, worker, lanes, since_ms, until_ms, ending, detail in rows:
        attempt = Attempt(
            number=number,
            session=session,
            worker=worker,
            lanes=lanes,
            since_ms=since_ms,
            until_ms=until_ms,
            ending=Ending(ending) if ending else None,
            detail=detail,
        )
        before = found[run_id].attempts if run_id in found else ()
        found[run_id] = RunHistory((*before, attempt), Status(status) if status else None)
    return found


def _close(connection: sqlite3.Connection, histories: Mapping[str, RunHistory]) -> None:
    rows = [(until, ending, told, run, number) for run, number, *_, until, ending, told in _last(histories)]
    connection.executemany(
        "UPDATE attempts SET until_ms = ?, ending = ?, detail = ? WHERE run_id = ? AND number = ?", rows
    )


def _last(histories: Mapping[str, RunHistory]) -> list[Row]:
    """The last attempt of each run as a row; those before it never change."""
    lasts = [(run_id, history.attempts[-1]) for run_id, history in histories.items()]
    return [
        (run_id, a.number, a.session, a.worker, a.lanes, a.since_ms, a.until_ms, a.ending, a.detail)
        for run_id, a in lasts
    ]
