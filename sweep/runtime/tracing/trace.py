"""Traces: columns of rows in tick order, digested per lane whatever the batch, the block or the trace level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_CHUNK_BYTES = 16 * 1024
"""Rows are hashed a chunk per lane at a time: a call of the hash costs as much as a kilobyte of data."""


class TraceColumn:
    """Rows of one kind for many lanes, hashed in order.

    A column is a stream of float64 rows per lane, hashed by XXH3-128: digests prove equality, they guard no secret,
    and a cryptographic hash costs five percent of the physics.  A digest depends on the rows alone, never on how many
    arrived at once or on what other lanes did.

    Args:
        lanes: number of lanes.
        width: numbers per row.
    """

    def __init__(self, lanes: int, width: int) -> None:
        self.lanes, self._width = lanes, width
        self._capacity = max(64, _CHUNK_BYTES // (8 * max(1, width)))
        self._rows: Floats = np.empty((lanes, 0, width))
        self._filled = np.zeros(lanes, np.int64)
        self._most = 0  # no lane has more rows waiting
        self._hashes = [xxhash.xxh3_128() for _ in range(lanes)]

    def append(self, rows: Floats, counts: Counts | None = None) -> None:
        """Hash rows where they lie.

        Args:
            rows: ``(lanes, rows, width)``.
            counts: how many of them are each lane's, the leading ones; None means all.
        """
        self._flush()
        self._hash(rows, [rows.shape[1]] * len(rows) if counts is None else counts.tolist())

    def room(self, count: int) -> tuple[Floats, Counts]:
        """Room for rows that are hashed later, many at once.

        Args:
            count: the most that any lane gets.

        Returns:
            Where they go, ``(lanes, capacity, width)``, and how many are there of each lane, ``(lanes,)``: the caller
            puts its rows behind them, and counts them.
        """
        if self._most + count > self._rows.shape[1]:
            self._flush()
            self._capacity = max(self._capacity, count)
            if self._capacity > self._rows.shape[1]:
                self._rows = np.empty((self.lanes, self._capacity, self._width))
        self._most += count
        return self._rows, self._filled

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's rows so far; nothing is consumed."""
        self._flush()
        digest: bytes = self._hashes[lane].digest()
        return digest

    def _flush(self) -> None:
        if self._most:
            self._hash(self._rows, self._filled.tolist())
            self._filled[:] = self._most = 0

    def _hash(self, rows: Floats, counts: Sequence[int]) -> None:
        for lane, count in enumerate(counts):
            if count:
                self._hashes[lane].update(rows[lane, :count].data)


def combine(columns: Mapping[str, bytes], ending: str) -> str:
    """The trace digest of one lane: its columns by name, and how it ended."""
    total = xxhash.xxh3_128()
    for name in sorted(columns):
        total.update(name.encode() + b"\0" + columns[name])
    total.update(ending.encode())
    return total.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """Something that happened in one lane's episode.

    Attributes:
        kind: one of those that :mod:`sweep.runtime.tracing.file` lists, but for the signals of a full trace.
        episode_index: the episode it belongs to.
        tick: when (of a sample: its actual acquisition).
        component: whose.
        data: what; a sample carries its index and four times.
    """

    kind: str
    episode_index: int
    tick: int
    component: str
    data: Mapping[str, Any]
