"""GridSchedules of many lanes as one: which samples are due in a block of ticks, for all lanes at once.

Called once per block of a few ticks, so it counts numpy calls: lanes that share one schedule cost the
arithmetic of one row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import index as as_index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sweep.plan.clock import GridSchedule

_INT64_SAFE = 2**62

_AHEAD = 1024
"""Samples worked out at once where all lanes share a schedule."""


class DueSamples(NamedTuple):
    """The samples due in a block, a rectangle over all lanes.

    Attributes:
        indices: (lanes, m) index of each sample; m is the largest number of samples of any lane.  Lanes that share
            one schedule share one row, (1, m).
        ticks: (lanes, m) its tick, or (1, m).
        valid: (lanes, m) whether the entry is a sample; None if all are.  Samples come first, in order; an entry
            that is none repeats the index of the lane's last sample, with some tick of the block, so that it can
            be looked up without harm.
    """

    indices: NDArray[np.int64]
    ticks: NDArray[np.int64]
    valid: NDArray[np.bool_] | None


class LaneSchedule:
    """One GridSchedule per lane, in units of the timestep.  Indices and ticks must stay below 2**62.

    Attributes:
        lanes: number of lanes.
        uniform: whether all lanes have the same schedule.
        first_index: (lanes,) index of each lane's first sample.
        draw_offset: (lanes,) what to add to an index for its noise draw: scheduled samples have draws 1, 2, ...
            whatever the phase, draw 0 is the initial acquisition's.
    """

    __slots__ = (
        "_ahead_exact",
        "_ahead_from",
        "_ahead_indices",
        "_ahead_ticks",
        "_column",
        "_exact",
        "_fast",
        "_fast_until",
        "_next",
        "_one",
        "draw_offset",
        "first_index",
        "lanes",
        "uniform",
    )

    def __init__(self, schedules: Sequence[GridSchedule]) -> None:
        self.lanes = len(schedules)
        # The lattice is what all the arithmetic rests on; policy and names may differ.
        self.uniform = len({schedule.lattice for schedule in schedules}) <= 1
        self._one = schedules[0] if schedules else None
        self._column = np.zeros((self.lanes, 1), dtype=np.int64)
        self._next = -1, 0  # a tick, and the index of the first sample that is not before it
        # Samples worked out: the first one's index; the indices and the ticks of all, (1, n); the ticks once more, to
        # be bisected, for which a list takes a tenth of the time.
        self._ahead_from = 0
        self._ahead_indices = self._ahead_ticks = np.empty((1, 0), np.int64)
        self._ahead_exact: list[int] = []
        self.first_index = np.array([schedule.first_index for schedule in schedules], dtype=np.int64)
        self.draw_offset = 1 - self.first_index
        self._exact = np.array([schedule.lattice for schedule in schedules], dtype=object).reshape(-1, 3).T
        self._fast_until = _int64_horizon([schedule.lattice for schedule in schedules])
        self._fast = self._exact.astype(np.int64) if self._fast_until > 0 else self._exact

    @classmethod
    def of(cls, schedules: Sequence[GridSchedule]) -> LaneSchedule:
        """The batched form of ``schedules``, one per lane in this order."""
        return cls(schedules)

    def due(self, start: int, stop: int) -> DueSamples:
        """All samples of all lanes with ``start <= tick < stop``, none dropped or merged; not to be changed."""
        if not self.uniform or self._one is None:
            return self._due_rectangle(as_index(start), as_index(stop))
        one = self._one
        # A row for all lanes, cut from many samples that were worked out at once.  Blocks follow each other, so the
        # first sample is mostly the one after the last of the block before.
        first = self._next[1] if start == self._next[0] else one.last_index_at(start - 1) + 1
        a = first - self._ahead_from
        if not (0 <= a < len(self._ahead_exact) and stop <= self._ahead_exact[-1]):
            self._look_ahead(one, first, max(start, stop))
            a = 0
        b = bisect_left(self._ahead_exact, stop, a)
        self._next = stop, self._ahead_from + b
        return DueSamples(self._ahead_indices[:, a:b], self._ahead_ticks[:, a:b], None)

    def _look_ahead(self, one: GridSchedule, first: int, stop: int) -> None:
        """Work out the samples from an index on: many, at least up to the first one that is not before ``stop``."""
        last = max(one.last_index_at(stop - 1) + 1, min(first + _AHEAD, one.last_index_at(_INT64_SAFE)))
        indices, ticks = one.due(one.tick(first), one.tick(last) + 1)
        self._ahead_from, self._ahead_exact = first, ticks.tolist()
        self._ahead_indices, self._ahead_ticks = (np.array(row, np.int64)[None] for row in (indices, ticks))

    def last_index_at(self, tick: int) -> NDArray[np.int64]:
        """(lanes,) largest index whose tick is not after ``tick``; ``first_index - 1`` where there is none."""
        if self.uniform and self._one is not None:
            return self._column[:, 0] + self._one.last_index_at(tick)
        exact = as_index(tick)
        return self._last_index_at(exact, self._lattice(exact)).astype(np.int64, copy=False)

    def next_tick(self, tick: int) -> NDArray[np.int64]:
        """(lanes,) tick of the first sample at or after ``tick``."""
        if self.uniform and self._one is not None:
            return self._column[:, 0] + self._one.tick(self._one.last_index_at(tick - 1) + 1)
        phase, period, denominator = lattice = self._lattice(tick + 1)
        index = self._last_index_at(tick - 1, lattice) + 1
        ticks: NDArray[np.int64] = (-(-(phase + index * period) // denominator)).astype(np.int64, copy=False)
        return ticks

    def _lattice(self, tick: int) -> NDArray[Any]:
        """(3, lanes) phase, period, denominator: int64 if no product up to ``tick`` can overflow, else exact."""
        return self._fast if tick <= self._fast_until else self._exact

    def _last_index_at(self, tick: int, lattice: NDArray[Any]) -> NDArray[Any]:
        phase, period, denominator = lattice
        last: NDArray[Any] = np.maximum((tick * denominator - phase) // period, self.first_index - 1)
        return last

    def _due_rectangle(self, start: int, stop: int) -> DueSamples:
        lattice = self._lattice(stop)
        phase, period, denominator = lattice[:, :, None]
        before = self._last_index_at(start - 1, lattice)
        last = self._last_index_at(max(start, stop) - 1, lattice)
        counts = last - before
        m = int(counts.max(initial=0))
        indices = np.minimum(before[:, None] + np.arange(1, m + 1), last[:, None])
        ticks = (-(-(phase + indices * period) // denominator)).astype(np.int64, copy=False)
        indices = indices.astype(np.int64, copy=False)
        if int(counts.min(initial=m)) == m:
            return DueSamples(indices, ticks, None)
        return DueSamples(indices, np.maximum(ticks, start), np.arange(m) < counts[:, None])


def _int64_horizon(lattices: Sequence[tuple[int, int, int]]) -> int:
    """The tick up to which no product of the arithmetic leaves 62 bits; 0 if that is too soon to be of use."""
    widest = max((max(lattice) for lattice in lattices), default=1)
    horizon = (_INT64_SAFE - 2 * widest) // widest
    return horizon if horizon >= 2**40 else 0
