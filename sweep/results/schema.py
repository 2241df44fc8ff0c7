"""The tables of ``ledger.sqlite``, how it is opened, and SQLite's complaints put into words for people.

A ledger of an older version is brought up to date when it is opened for writing; readers see it as if it were.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sweep.errors import LedgerError

APPLICATION_ID = 0x46425357
"""Marks an SQLite file as one of our ledgers (``PRAGMA application_id``)."""

SCHEMA_VERSION = 2
"""Raised with every change to the tables (``PRAGMA user_version``); 1 had no attempts, and ``final`` for a status."""

BUSY_MS = 20_000
"""How long a reader or a writer waits for the other one's short transaction [ms]."""

_RECORDS = """records (
    run_id TEXT PRIMARY KEY, status TEXT NOT NULL, code_id TEXT NOT NULL,
    committed_ms INTEGER NOT NULL, body TEXT NOT NULL
)"""
_ATTEMPTS = """attempts (
    run_id TEXT NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL, worker TEXT NOT NULL,
    lanes INTEGER NOT NULL, since_ms INTEGER NOT NULL, until_ms INTEGER, ending TEXT, detail TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID"""
_IN_HAND = "CREATE INDEX in_hand ON attempts (run_id) WHERE ending IS NULL"

TABLES = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counter (revision INTEGER NOT NULL, committed_ms INTEGER NOT NULL);
INSERT INTO counter VALUES (0, 0);
CREATE TABLE cells (
    cell_id TEXT PRIMARY KEY, ordinal INTEGER NOT NULL, label TEXT NOT NULL,
    plan_id TEXT NOT NULL, axis_values TEXT NOT NULL, parameters TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    position INTEGER PRIMARY KEY, run_id TEXT NOT NULL, cell_id TEXT NOT NULL REFERENCES cells,
    plan_id TEXT NOT NULL, seed INTEGER NOT NULL, UNIQUE (cell_id, seed)
);
CREATE INDEX runs_by_id ON runs (run_id);
CREATE TABLE {_RECORDS};
CREATE TABLE superseded (run_id TEXT NOT NULL, committed_ms INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE {_ATTEMPTS};
{_IN_HAND};
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, pid INTEGER NOT NULL, host TEXT NOT NULL,
    started_ms INTEGER NOT NULL, finished_ms INTEGER, state TEXT NOT NULL, provenance TEXT NOT NULL
);
"""

_UPGRADES = {
    1: (
        "ALTER TABLE records RENAME TO former",
        f"CREATE TABLE {_RECORDS}",
        "INSERT INTO records SELECT run_id, json_extract(body, '$.outcome.status'), code_id, committed_ms, body "
        "FROM former ORDER BY committed_ms",
        "DROP TABLE former",
        f"CREATE TABLE {_ATTEMPTS}",
        _IN_HAND,
    )
}
"""By version: what makes the next one of it."""

_DISGUISES = {
    1: (
        "CREATE TEMP VIEW records AS SELECT run_id, json_extract(body, '$.outcome.status') AS status, code_id, "
        "committed_ms, body FROM main.records",
        f"CREATE TEMP TABLE {_ATTEMPTS}",
    )
}
"""By version: what makes it look like the present one to a connection that may not change it."""


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing database file.

    A reader opens it for writing too where it may, because after a crash the first one to come must roll the torn
    transaction back.
    """
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_MS / 1000)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def adapt(connection: sqlite3.Connection, path: Path, *, writing: bool) -> None:
    """Bring a ledger of an older version up to date, or make it look so to a reader.

    Raises:
        LedgerError: it is not a ledger, or a later version of this package wrote it.
    """
    version = _version(connection, path)
    if writing and version < SCHEMA_VERSION:
        connection.execute("BEGIN IMMEDIATE")  # left by closing the connection if anything below fails
        for step in range(version, SCHEMA_VERSION):
            for statement in _UPGRADES[step]:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    elif not writing:
        for statement in _DISGUISES.get(version, ()):
            connection.execute(statement)
        connection.execute("PRAGMA query_only = ON")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise LedgerError(f"{path} is an SQLite database, but not the ledger of a sweep.")
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"{path} was written by a later version of this package (ledger schema {version}, this one reads up to "
            f"{SCHEMA_VERSION}); update the package to read it."
        )
    return int(version)


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a :class:`LedgerError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise LedgerError(_explain(path, error)) from error


def _explain(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "full" in text:
        return f"The disk is full: {path} could not grow. Nothing in it is damaged; free some space and start again."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written: its folder or the file is read-only, or gone ({text})."
    if "I/O error" in text:
        return (
            f"{path}: the disk failed, is full or over its quota, or was taken away ({text}). What was committed is "
            "safe if the disk is; start again when it works."
        )
    if "locked" in text or "busy" in text:
        return f"{path} stayed locked by another process for {BUSY_MS // 1000} s."
    if "not a database" in text or "malformed" in text:
        return f"{path} is not a readable ledger ({text}); a copy of it may still be."
    return f"{path}: {text}."
