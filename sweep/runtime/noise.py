"""Noise draws: pure functions of (key, index), made in large blocks for many lanes.

Draw *i* of a stream is raw word *i* of numpy's Philox generator under the stream's key, from counter 0.
Numpy promises that integer stream; everything after it is our own arithmetic (:mod:`sweep.runtime.numerics.quantile`),
so a draw has the same bits in every process, on every CPU and with every numpy version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import xxhash
from numpy.random import Philox
from numpy.typing import NDArray

from sweep.results.record import StreamReceipt
from sweep.runtime.numerics.quantile import Floats, Words, Workspace
from sweep.runtime.numerics.quantile import normal_of as normal_of
from sweep.runtime.numerics.quantile import normals_of as normals_of
from sweep.runtime.numerics.quantile import uniforms_of as uniforms_of

NoiseKind = Literal["normal", "uniform"]
"""What a stream's words become."""

_FIRST_BLOCK_WORDS = 256


def raw_words(key: int, start: int, count: int) -> Words:
    """Raw words ``start .. start + count - 1`` of the stream ``key``, shape (count,).

    Raises:
        ValueError: the key is not in 0 .. 2**128-1, or start or count is negative.
    """
    if start < 0 or count < 0:
        raise ValueError(f"draws are counted from 0; found start {start}, count {count}")
    return _generator_at(key, start).random_raw(count)


def uniforms(key: int, start: int, count: int) -> Floats:
    """Uniform draws in (0, 1) of the stream ``key``, shape (count,); see :func:`raw_words`."""
    return uniforms_of(raw_words(key, start, count))


def normals(key: int, start: int, count: int) -> Floats:
    """Standard normal draws of the stream ``key``, shape (count,); see :func:`raw_words`."""
    return normals_of(uniforms(key, start, count))


def receipt_digest(key: int, first: int, count: int, width: int) -> str:
    """Digest of the raw words of draws ``first .. first + count - 1``, from the key alone.

    Two runs saw the same noise in their common prefix if its digests agree; the longer run's comes from here.
    """
    return _hasher(raw_words(key, first * width, count * width)).hexdigest()


class LaneStream:
    """The same noise source in many lanes, one key each, read by draw index.

    Every lane has a window of consecutive draws, already transformed; asking past it refills it in a large block,
    all lanes that need it together.  Draws may be asked for in any order, but only increasing ones are cheap.

    Args:
        keys: the stream key of each lane.
        width: numbers per draw.
        kind: ``"normal"`` or ``"uniform"``.
        block_words: most words generated per lane and refill; refills grow up to it, so short episodes cost little.
        first: index of the first draw that receipts begin with; None for the first one asked for.
        workspace: memory shared with other streams.
    """

    def __init__(
        self,
        keys: Sequence[int],
        width: int,
        kind: NoiseKind = "normal",
        block_words: int = 2048,
        *,
        first: int | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        if kind not in get_args(NoiseKind) or width < 1 or block_words < 1:
            raise ValueError(f"no noise of kind {kind!r}, width {width} and {block_words} words a block")
        lanes = len(keys)
        self.keys, self.width, self.kind = tuple(keys), width, kind
        self._block_words = block_words
        self._next_words = min(_FIRST_BLOCK_WORDS, block_words)
        self._generators: list[Philox | None] = [None] * lanes
        self._workspace = Workspace() if workspace is None else workspace
        # Room for a whole block and some draws kept from before; pages that are never written cost nothing.
        room = block_words // width + 64
        self._values = np.empty((lanes, room, width))
        # The window of a lane is draws base <= i < end; (base, end) of all lanes at once while they move together.
        self._base = np.zeros(lanes, dtype=np.int64)
        self._end = np.zeros(lanes, dtype=np.int64)
        self._common: tuple[int, int] | None = (0, 0)
        self._factor: Floats | None = None
        self._offset: Floats = np.zeros((lanes, width))
        self._lane_column = np.arange(lanes)[:, None]
        self._receipts = [_RunningReceipt(key, width, first) for key in keys]

    def rows(self, indices: NDArray[np.int64]) -> Floats:
        """The draws of each lane.

        Args:
            indices: (lanes, m) draw indices.

        Returns:
            (lanes, m, width), a copy.
        """
        m = indices.shape[1]
        if not indices.size:
            return np.empty((*indices.shape, self.width))
        top = indices[0].tolist()
        if top == list(range(top[0], top[0] + m)) and (indices == indices[0]).all():
            return self.span(top[0], m)
        self._ensure(indices.min(axis=1), indices.max(axis=1) + 1)
        return self._gather(indices)

    def scale(self, factor: Floats, offset: Floats) -> None:
        """Let every number be ``offset + factor * draw`` from now on; applied while a block is in the cache.

        Args:
            factor: (lanes, width).
            offset: (lanes, width).
        """
        self._factor, self._offset = factor, offset
        self._base[:], self._end[:], self._common = 0, 0, (0, 0)

    def span(self, first: int, count: int) -> Floats:
        """Draws ``first .. first + count - 1`` of every lane: (lanes, count, width), a copy."""
        return self.view(first, count).copy()

    def view(self, first: int, count: int) -> Floats:
        """The same without copying: not to be changed, and gone with the next request."""
        if self._common is None or first < self._common[0] or first + count > self._common[1]:
            low = np.full(len(self.keys), first, dtype=np.int64)
            self._ensure(low, low + count)
        if self._common is None:
            return self._gather(np.arange(first, first + count)[None, :])
        at = first - self._common[0]
        return self._values[:, at : at + count]

    def receipt(self, lane: int, first: int, count: int) -> StreamReceipt:
        """The receipt of draws ``first .. first + count - 1`` of a lane, whatever was asked for beyond them."""
        key = self.keys[lane]
        digest = self._receipts[lane].digest(first, count) or receipt_digest(key, first, count, self.width)
        return StreamReceipt(key=f"{key:032x}", first=first, count=count, width=self.width, digest=digest)

    def _gather(self, indices: NDArray[np.int64]) -> Floats:
        """Draws that are in the windows."""
        values: Floats = self._values[self._lane_column, indices - self._base[:, None]]
        return values

    def _ensure(self, low: NDArray[np.int64], stop: NDArray[np.int64]) -> None:
        """Sees to it that every lane's window holds draws ``low <= i < stop``."""
        lanes = np.flatnonzero((low < self._base) | (stop > self._end)).tolist()
        if lanes:
            self._refill(lanes, low, stop)

    def _refill(self, lanes: list[int], low: NDArray[np.int64], stop: NDArray[np.int64]) -> None:
        """Moves the windows of ``lanes`` so that they begin at ``low`` and reach far beyond ``stop``."""
        if low.min() < 0:
            raise ValueError(f"draws are counted from 0; found {int(low.min())}")
        span = int((stop - low)[lanes].max())
        rows = max(span, self._next_words // self.width, 1)
        self._next_words = min(2 * self._next_words, self._block_words)
        self._reserve(span + rows)
        at_once = max(1, self._workspace.words // (rows * self.width))
        for start in range(0, len(lanes), at_once):
            self._fill(lanes[start : start + at_once], low, rows)
        self._end[lanes] += rows
        together = (self._base == self._base[0]).all() and (self._end == self._end[0]).all()
        self._common = (int(self._base[0]), int(self._end[0])) if together else None

    def _fill(self, lanes: list[int], low: NDArray[np.int64], rows: int) -> None:
        """Moves the windows of a few lanes and puts ``rows`` new draws at the end of each."""
        held = [self._move(lane, int(low[lane])) for lane in lanes]
        raw = [self._generate(lane, rows) for lane in lanes]
        values = self._numbers(np.concatenate(raw)).reshape(len(lanes), rows, self.width)
        for row, (lane, start) in enumerate(zip(lanes, held, strict=True)):
            place = self._values[lane, start : start + rows]
            if self._factor is None:
                place[:] = values[row]
            else:
                np.multiply(values[row], self._factor[lane], out=place)
                place += self._offset[lane]

    def _numbers(self, raw: Words) -> Floats:
        """What flat raw words become."""
        if raw.size > self._workspace.words:  # a single lane that asks for that much at once
            return uniforms_of(raw) if self.kind == "uniform" else normals_of(uniforms_of(raw))
        uniform = self._workspace.uniforms(raw)
        return uniform if self.kind == "uniform" else self._workspace.normals(uniform)

    def _reserve(self, capacity: int) -> None:
        held = self._values.shape[1]
        if held < capacity:
            self._values = np.pad(self._values, ((0, 0), (0, capacity - held), (0, 0)))

    def _move(self, lane: int, low: int) -> int:
        """Lets a lane's window begin at draw ``low``, keeping what it holds from there on; returns how many draws."""
        base, end = int(self._base[lane]), int(self._end[lane])
        held = end - low if base <= low < end else 0
        if held:
            self._values[lane, :held] = self._values[lane, low - base : end - base]
        elif low != end or self._generators[lane] is None:
            self._generators[lane] = _generator_at(self.keys[lane], low * self.width)
        self._base[lane], self._end[lane] = low, low + held
        return held

    def _generate(self, lane: int, rows: int) -> Words:
        """The next draws after a lane's window, as raw words; its receipt takes note."""
        generator = self._generators[lane]
        if generator is None:
            raise AssertionError("a window is moved before it is filled")
        raw = generator.random_raw(rows * self.width)
        self._receipts[lane].take(int(self._end[lane]), raw, rows)
        return raw


class _RunningReceipt:
    """The hash of a lane's draws, kept as they are generated.

    Draws are generated ahead of their use, so the hash before the last block is kept too: a run ends somewhere in
    that block, whose used words are generated again from the key.

    Args:
        key: the stream's key.
        width: words per draw.
        first: the first draw of receipts; None for the first one generated.
    """

    __slots__ = ("after", "before", "end", "first", "key", "start", "width")

    def __init__(self, key: int, width: int, first: int | None) -> None:
        self.key, self.width = key, width
        self.first = first
        self.start = self.end = first
        self.before = self.after = xxhash.xxh3_128()

    def take(self, start: int, raw: Words, rows: int) -> None:
        """Draws from ``start`` on were generated."""
        if self.end is None:
            self.first = self.end = start
        if start != self.end:
            self.end = -1  # draws were skipped or asked for again: receipts come from the key alone
            return
        self.before, self.after = self.after, _hasher(raw, self.after.copy())
        self.start, self.end = start, start + rows

    def digest(self, first: int, count: int) -> str | None:
        """Digest of the draws from ``first`` on; None if this hash does not tell."""
        stop = first + count
        if first != self.first or self.start is None or self.end is None or not self.start <= stop <= self.end:
            return None
        rest = raw_words(self.key, self.start * self.width, (stop - self.start) * self.width)
        return _hasher(rest, self.before.copy()).hexdigest()


def _generator_at(key: int, word: int) -> Philox:
    """A generator whose next raw word is ``word``: four words a counter, and numpy counts before it generates."""
    generator = Philox(key=key, counter=word // 4)
    generator.random_raw(word % 4)
    return generator


def _hasher(raw: Words, hasher: xxhash.xxh3_128 | None = None) -> xxhash.xxh3_128:
    """The hash (a new one if None) after the raw words in little-endian order."""
    hasher = xxhash.xxh3_128() if hasher is None else hasher
    hasher.update(np.ascontiguousarray(raw, dtype="<u8").reshape(-1).data)
    return hasher
