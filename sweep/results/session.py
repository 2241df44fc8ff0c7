"""Rows of the ledger that only its readers need: the runs of the design, and who worked on them."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sweep.results.database import Database, as_text

RUNNING, INTERRUPTED, FINISHED, NEW = "running", "interrupted", "finished", "new"


class RunRow(NamedTuple):
    """One run of the design: a Plan with a seed, in a cell.  Cells that resolve to one Plan share their runs."""

    run_id: str
    cell_id: str
    plan_id: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One driver's time with the ledger.

    Attributes:
        pid: its process, on ``host``.
        started_ms: when it began [ms since 1970].
        finished_ms: when it ended; None while open, or for ever when the driver was killed.
        state: ``running`` until finished, then what :meth:`Ledger.finish` was told.
        provenance: what the driver said about itself.
    """

    pid: int
    host: str
    started_ms: int
    finished_ms: int | None
    state: str
    provenance: Mapping[str, Any]


def begin(database: Database, provenance: Mapping[str, Any]) -> None:
    """Note that this process begins a session."""
    text = as_text(provenance, "provenance")
    with database.commit() as (connection, now_ms):
        connection.execute(
            "INSERT INTO sessions (pid, host, started_ms, state, provenance) VALUES (?, ?, ?, ?, ?)",
            (os.getpid(), socket.gethostname(), now_ms, RUNNING, text),
        )


def finish(database: Database, state: str) -> None:
    """Note that the last session is over."""
    with database.commit() as (connection, now_ms):
        connection.execute(
            "UPDATE sessions SET finished_ms = ?, state = ? WHERE number = (SELECT max(number) FROM sessions)",
            (now_ms, state),
        )


def last(database: Database) -> Session | None:
    """The last session; None if no driver ever began."""
    rows = database.rows(
        "SELECT pid, host, started_ms, finished_ms, state, provenance FROM sessions ORDER BY number DESC LIMIT 1"
    )
    for pid, host, started, finished, state, text in rows:
        return Session(
            pid=pid, host=host, started_ms=started, finished_ms=finished, state=state, provenance=json.loads(text)
        )
    return None
