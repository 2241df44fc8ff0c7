"""Noise draws: pure functions of (key, index), for many lanes.

Draw *i* of a stream is raw word *i* of numpy's Philox generator under the stream's key, from counter 0, made a number
by :mod:`sweep.runtime.numerics.draws`.  So a draw has the same bits in every process, on every CPU and with every numpy
version, and any draw can be made at any time: nothing is remembered between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import xxhash
from numpy.typing import NDArray

from sweep.results.record import StreamReceipt
from sweep.runtime.numerics import draws
from sweep.runtime.numerics.draws import Floats, Ints, Words

NoiseKind = Literal["normal", "uniform"]
"""What a stream's words become."""

Columns = NDArray[np.intp]

_HALF = 2**64


def raw_words(key: int, start: int, count: int) -> Words:
    """Raw words ``start .. start + count - 1`` of the stream ``key``, shape (count,).

    Raises:
        ValueError: the key is not in 0 .. 2**128-1, or start or count is negative.
    """
    if start < 0 or count < 0:
        raise ValueError(f"draws are counted from 0; found start {start}, count {count}")
    low, high = _halves(key)
    first, skipped = divmod(start, 4)
    carry, counter = divmod(first + 1, _HALF)  # numpy counts before it generates
    found = np.empty((-(-(skipped + count) // 4), 4), np.uint64)
    draws.fill_words(np.uint64(low), np.uint64(high), np.uint64(counter), np.uint64(carry), found)
    return found.reshape(-1)[skipped : skipped + count]


def uniforms(key: int, start: int, count: int) -> Floats:
    """Uniform draws in (0, 1) of the stream ``key``, shape (count,); see :func:`raw_words`."""
    return uniforms_of(raw_words(key, start, count))


def normals(key: int, start: int, count: int) -> Floats:
    """Standard normal draws of the stream ``key``, shape (count,); see :func:`raw_words`."""
    return normals_of(uniforms(key, start, count))


def uniforms_of(raw: Words) -> Floats:
    """Uniform numbers in (0, 1) of raw words, same shape: ``((raw >> 11) + 0.5) * 2**-53``, never 0 or 1."""
    return _each(draws.fill_uniforms, np.ascontiguousarray(raw))


def normals_of(uniform: Floats) -> Floats:
    """Standard normal numbers of uniforms in (0, 1), same shape."""
    return _each(draws.fill_normals, np.ascontiguousarray(uniform, np.float64))


def receipt_digest(key: int, first: int, count: int, width: int) -> str:
    """Digest of the raw words of draws ``first .. first + count - 1``, in little-endian order.

    Two runs saw the same noise in their common prefix if its digests agree.
    """
    words = raw_words(key, first * width, count * width)
    return xxhash.xxh3_128(np.ascontiguousarray(words, "<u8").data).hexdigest()


class LaneStream:
    """The same noise source in many lanes, one key each, read by draw index.

    Args:
        keys: the stream key of each lane.
        width: numbers per draw.
        kind: ``"normal"`` or ``"uniform"``.
    """

    def __init__(self, keys: Sequence[int], width: int, kind: NoiseKind = "normal") -> None:
        if kind not in get_args(NoiseKind) or width < 1:
            raise ValueError(f"no noise of kind {kind!r} and width {width}")
        self.keys, self.width, self.kind = tuple(keys), width, kind
        self._halves = np.array([_halves(key) for key in keys], np.uint64).reshape(-1, 2)
        self._is_normal = kind == "normal"
        self._factor, self._offset = np.ones((len(keys), width)), np.zeros((len(keys), width))

    def rows(self, indices: Ints) -> Floats:
        """The draws of each lane.

        Args:
            indices: ``(lanes or 1, m)`` draw indices; one row is every lane's.

        Returns:
            ``(lanes, m, width)``, the caller's own.

        Raises:
            ValueError: a negative index.
        """
        made = np.empty((len(self.keys), indices.shape[1], self.width))
        made.fill(-0.0)  # what changes nothing that is added to it, the sign of a zero included
        self.add(made, indices)
        return made

    def add(self, values: Floats, indices: Ints) -> None:
        """Add the draws of each lane to ``values (lanes, m, width)``; see :meth:`rows`."""
        if not draws.add(self._halves, indices, self._is_normal, self._factor, self._offset, values):
            raise _negative(indices)

    def added(self, rows: Floats, places: Ints, first: int, columns: Columns, indices: Ints) -> Floats:
        """Some numbers of some rows, with the draws of each lane added to them.

        Args:
            rows: ``(lanes, n, wide)``.
            places: ``(lanes or 1, m)`` which rows; one row of places is every lane's.
            first: the number of row 0.
            columns: ``(width,)`` which numbers.
            indices: ``(lanes or 1, m)`` draw indices.

        Returns:
            ``(lanes, m, width)``, the caller's own.
        """
        made = np.empty((len(self.keys), places.shape[1], self.width))
        if not draws.read(rows, places, first, columns, self._halves, indices, self._is_normal,
                          self._factor, self._offset, made):  # fmt: skip
            raise _negative(indices)
        return made

    def span(self, first: int, count: int) -> Floats:
        """Draws ``first .. first + count - 1`` of every lane, ``(lanes, count, width)``."""
        return self.rows(np.arange(first, first + count)[None])

    def scale(self, factor: Floats, offset: Floats) -> None:
        """Let every number be ``offset + factor * draw`` from now on.

        Args:
            factor: (lanes, width).
            offset: (lanes, width).
        """
        self._factor, self._offset = (np.array(numbers, np.float64) for numbers in (factor, offset))

    def receipt(self, lane: int, first: int, count: int) -> StreamReceipt:
        """The receipt of draws ``first .. first + count - 1`` of a lane, whatever was asked for."""
        key = self.keys[lane]
        digest = receipt_digest(key, first, count, self.width)
        return StreamReceipt(key=f"{key:032x}", first=first, count=count, width=self.width, digest=digest)


def _negative(indices: Ints) -> ValueError:
    return ValueError(f"draws are counted from 0; found {int(indices.min())}")


def _halves(key: int) -> tuple[int, int]:
    """The lower and the upper half of a key."""
    if not 0 <= key < _HALF**2:
        raise ValueError(f"a key is in 0 .. 2**128-1, not {key}")
    return key % _HALF, key // _HALF


def _each(transform: Callable[[Any, Floats], None], values: NDArray[Any]) -> Floats:
    made = np.empty(values.shape)
    transform(values.reshape(-1), made.reshape(-1))
    return made
