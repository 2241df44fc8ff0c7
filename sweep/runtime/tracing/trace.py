"""Traces: columns of rows in tick order, digested per lane whatever the batch, the block or the trace level."""

from __future__ import annotations

import itertools
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
        self.lanes, self._width = lanes, width
        self._capacity = max(64, _CHUNK_BYTES // (8 * max(1, width)))
        self._waiting: list[tuple[Sequence[Any], Counts | None]] = []
        self._rows = 0
        self._hashes = [xxhash.xxh3_128() for _ in range(lanes)]

    def append(self, parts: Sequence[Any], counts: Counts | None = None) -> None:
        """Append rows; several arrays are kept until they are hashed and must not change.

        Args:
            parts: arrays ``(lanes or 1, rows)`` or ``(lanes, rows, width)``, or numbers, that stand side by side in
                a row; the last one is an array.
            counts: how many of the rows are each lane's, the leading ones; None means all.
        """
        if len(parts) == 1:
            # A lone array needs no packing: each lane's rows are hashed where they lie, before it may change.
            self._flush()
            self._hash(parts[0], counts)
            return
        self._waiting.append((parts, counts))
        self._rows += parts[-1].shape[1]
        if self._rows >= self._capacity:
            self._flush()

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's rows so far; nothing is consumed."""
        self._flush()
        digest: bytes = self._hashes[lane].digest()
        return digest

    def _flush(self) -> None:
        """Hash what is waiting.  Packing many blocks at once is why it waited."""
        waiting, self._waiting, self._rows = self._waiting, [], 0
        for ragged, group in itertools.groupby(waiting, key=lambda entry: entry[1] is not None):
            if not ragged:
                self._hash(self._packed([parts for parts, _ in group]), None)
                continue
            for parts, counts in group:
                self._hash(self._packed([parts]), counts)

    def _packed(self, blocks: Sequence[Sequence[Any]]) -> Array:
        """Rows of many blocks as one array ``(lanes, rows, width)``."""
        counts = [parts[-1].shape[1] for parts in blocks]
        packed, column = np.empty((self.lanes, sum(counts), self._width)), 0
        for parts in zip(*blocks, strict=True):
            joined = self._joined(parts) if isinstance(parts[0], np.ndarray) else np.repeat(parts, counts)
            wide = joined.ndim == 3
            to = slice(column, column + joined.shape[2]) if wide else column
            packed[:, :, to] = joined
            column += joined.shape[2] if wide else 1
        return packed

    def _joined(self, parts: Sequence[Array]) -> Array:
        """One after the other; what is every lane's may be mixed with what is not."""
        if len({len(part) for part in parts}) > 1:
            parts = [np.broadcast_to(part, (self.lanes, *part.shape[1:])) for part in parts]
        return np.concatenate(parts, axis=1)

    def _hash(self, rows: Array, counts: Counts | None) -> None:
        lengths = [rows.shape[1]] * self.lanes if counts is None else counts.tolist()
        for lane, length in enumerate(lengths):
            if length:
                self._hashes[lane].update(rows[lane, :length].data)


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
