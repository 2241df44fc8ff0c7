"""Traces: columns of rows in tick order, digested per lane whatever the batch, the block or the trace level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

Array = NDArray[Any]
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
        self._capacity = max(64, _CHUNK_BYTES // (8 * max(1, width)))
        self._buffer = np.zeros((lanes, self._capacity, width))
        self._fill = np.zeros(lanes, np.int64)
        self._even = True
        self._fullest = 0  # of all lanes
        self._hashes = [xxhash.xxh3_128() for _ in range(lanes)]

    def append(self, parts: Sequence[Any], counts: Counts | None = None) -> None:
        """Append rows.

        Args:
            parts: arrays ``(lanes or 1, rows)`` or ``(lanes, rows, width)``, or numbers, that stand side by side in a row.
            counts: how many of the rows are each lane's, the leading ones; None means all.
        """
        rows = parts[-1].shape[1]
        if rows <= self._capacity:
            self._append(parts, counts)
            return
        for start in range(0, rows, self._capacity):
            stop = min(rows, start + self._capacity)
            piece = [part[:, start:stop] if isinstance(part, np.ndarray) else part for part in parts]
            self._append(piece, None if counts is None else np.clip(counts - start, 0, stop - start))

    def _append(self, parts: Sequence[Any], counts: Counts | None) -> None:
        rows = parts[-1].shape[1]
        if self._fullest + rows > self._capacity:
            self._flush()
        if counts is None and self._even:
            fill = self._fullest
            self._write(parts, (slice(None), slice(fill, fill + rows)), (slice(None), slice(None)))
            self._fill += rows
            self._fullest += rows
            return
        self._even = False
        counts = np.full(len(self._fill), rows) if counts is None else counts
        lane, row = np.nonzero(np.arange(rows) < counts[:, None])
        self._write(parts, (lane, self._fill[lane] + row), (lane, row))
        self._fill += counts
        self._fullest = int(self._fill.max())

    def _write(self, parts: Sequence[Any], to: tuple[Any, Any], source: tuple[Any, Any]) -> None:
        column = 0
        for part in parts:
            if not isinstance(part, np.ndarray):
                self._buffer[(*to, column)] = part
                column += 1
            elif part.ndim == 2:
                self._buffer[(*to, column)] = _rows(part, len(self._fill))[source]
                column += 1
            else:
                self._buffer[(*to, slice(column, column + part.shape[2]))] = part[source]
                column += part.shape[2]

    def _flush(self) -> None:
        for lane, fill in enumerate(self._fill.tolist()):
            if fill:
                self._hashes[lane].update(self._buffer[lane, :fill].data)
        self._fill[:] = 0
        self._fullest = 0

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's rows so far; nothing is consumed."""
        state = self._hashes[lane].copy()
        state.update(self._buffer[lane, : int(self._fill[lane])].data)
        return state.digest()


def _rows(part: Array, lanes: int) -> Array:
    """A row that lanes share, as one for each."""
    return part if len(part) == lanes else np.broadcast_to(part, (lanes, part.shape[1]))


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
        kind: ``sample``, ``input``, ``end``, ``fault`` or ``cancelled``.
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
