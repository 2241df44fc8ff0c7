"""The file under a ledger: rows out, durable transactions in, values as JSON text.

There is no write-ahead log, because network disks do not carry one.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sweep.errors import LedgerError
from sweep.results.schema import adapt, connect, in_words

Row = tuple[Any, ...]

AMONG = "(SELECT value FROM json_each(?))"
"""What ``IN`` takes for any number of values; they are bound as one JSON list."""

SEEDS = 2**64
"""Number of episode seeds: they are unsigned."""


class Database:
    """One SQLite file, open.

    Args:
        path: the file; it exists.
        writing: whether transactions are allowed; the caller sees to it that only one process has that.

    Raises:
        LedgerError: it is no ledger, or a later version wrote it.
    """

    def __init__(self, path: Path, *, writing: bool) -> None:
        self.path = path
        self.is_writing = writing
        with in_words(path):
            self._connection = connect(path)
        try:
            with in_words(path):
                adapt(self._connection, path, writing=writing)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file; what is not committed is gone."""
        self._connection.close()

    def rows(self, query: str, *arguments: object) -> list[Row]:
        """All rows that a query finds."""
        with in_words(self.path):
            return self._connection.execute(query, arguments).fetchall()

    @contextmanager
    def commit(self, *, is_news: bool = True) -> Iterator[tuple[sqlite3.Connection, int]]:
        """One transaction: what it wrote survives a power cut once this is left, or none of it was written.

        Args:
            is_news: whether readers that poll the revision should look.

        Yields:
            The connection, and the time [ms since 1970]; that of news is later than any before it.
        """
        if not self.is_writing:
            raise LedgerError(f"{self.path} is open for reading only.")
        with in_words(self.path):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection, _time(connection, is_news)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def _time(connection: sqlite3.Connection, is_news: bool) -> int:
    now_ms = time.time_ns() // 1_000_000
    if is_news:
        connection.execute(
            "UPDATE counter SET revision = revision + 1, committed_ms = max(committed_ms + 1, ?)", (now_ms,)
        )
        (now_ms,) = connection.execute("SELECT committed_ms FROM counter").fetchone()
    return now_ms


def stored_seed(seed: int) -> int:
    """An episode seed as SQLite keeps it, whose integers of 64 bits have a sign: the upper half is negative there.

    Raises:
        LedgerError: it is not an integer in 0 .. 2**64-1.
    """
    if not isinstance(seed, int) or not 0 <= seed < SEEDS:
        raise LedgerError(f"{seed!r} is no seed: seeds are integers from 0 to 2**64 - 1.")
    return seed if seed < SEEDS // 2 else seed - SEEDS


def seed_of(stored: int) -> int:
    """The episode seed that :func:`stored_seed` made a number of."""
    return stored % SEEDS


def as_text(value: Any, subject: str) -> str:
    """JSON that keeps the order of keys, since the order of axes and metrics is the scene's.

    Raises:
        LedgerError: it is not plain data, or not finite; ``subject`` says whose.
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise LedgerError(f"{subject}: cannot be kept in the ledger, {error}.") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item"):  # a NumPy scalar
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data")


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=_plain)
