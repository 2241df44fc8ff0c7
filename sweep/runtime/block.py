"""A block: a stretch of ticks whose physics nothing outside can change, and the coherent view of its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.plan.clock import GridSchedule
from sweep.runtime.inputs import BlockInputs
from sweep.runtime.numerics.draws import gather
from sweep.runtime.reads import Reads, StateLevel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MEMORY_BOUND = 32 * 2**20
"""Bytes of records one block may hold; longer blocks gain nothing, since they fall out of the cache."""


@dataclass(slots=True, init=False)
class Block:
    """Ticks ``start`` .. ``stop - 1``, ``length`` of them; not to be changed."""

    start: int
    stop: int
    length: int  # kept, since everyone asks for it

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop, self.length = start, stop, stop - start


class NextDue:
    """When a schedule is due next; asked for ticks that mostly grow, it works each instant out once."""

    def __init__(self, schedule: GridSchedule) -> None:
        self._schedule = schedule
        self._since, self._tick = 0, -1

    def __call__(self, tick: int) -> int:
        """The first tick at or after ``tick`` at which it is due."""
        if self._since <= tick <= self._tick:
            return self._tick
        self._since, self._tick = tick, self._schedule.tick(self._schedule.last_index_at(tick - 1) + 1)
        return self._tick


def longest_in_memory(row_bytes: int) -> int:
    """Most ticks of a block whose records need so many bytes a tick."""
    return max(1, _MEMORY_BOUND // max(1, row_bytes))


@dataclass(slots=True)
class BlockView:
    """What a block's records say of its boundaries, for all lanes.

    Attributes:
        block: the ticks.
        boundaries: ``(lanes, length + 1, 1 + nq + nv + na)``: time, qpos, qvel, act at P_start .. P_stop.
        inputs: what physics was fed in each step.
        derived: MjData fields that depend on position and velocity, each ``(lanes, length + 1, ...)``: row j describes
            boundary ``start + j``; the last row only where an Interaction or Observer asked for it.
        opening: fields of the full forward at ``P_start``, as DeviceUpdate sees it, each ``(lanes, ...)``.
        promoted: sensordata of the full forward at some ticks, as DeviceUpdate sees it, ``(lanes, nsensordata)`` each;
            at the others the step's own record says the same.
        closing: fields of the full forward at ``P_stop``, as phases 9 to 11 see it, each ``(lanes, ...)``.
        whole_at_start: makes a private MjData of a lane at ``P_start`` with everything computed, as DeviceUpdate sees.
        whole_at_stop: the same at ``P_stop``, as phases 9 to 11 see it.
        through: per lane, the last tick whose phases up to PhysicsStep exist; None when that is ``stop - 1`` for all.
        settled: per lane, how many steps were completed and settled; None when all of them were.
        alive: lanes that took part in this block.
    """

    block: Block
    boundaries: Floats
    inputs: BlockInputs
    alive: NDArray[np.bool_]
    derived: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    opening: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    promoted: Mapping[int, Floats] = field(default_factory=dict)
    closing: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    whole_at_start: Callable[[int], mujoco.MjData] | None = None
    whole_at_stop: Callable[[int], mujoco.MjData] | None = None
    through: Ints | None = None
    settled: Ints | None = None

    @property
    def counts(self) -> Ints:
        """``(lanes,)`` how many steps were completed and settled."""
        return np.full(len(self.boundaries), self.block.length, np.int64) if self.settled is None else self.settled

    @property
    def controls(self) -> Floats:
        """``(lanes, length, nu)``: what was applied in each step."""
        return self.inputs.controls

    def after(self, columns: slice | Sequence[int] | NDArray[np.intp]) -> Floats:
        """State columns at P_(t+1) for each step t of the block, ``(lanes, length, width)``."""
        return self.boundaries[:, 1:, columns]

    def sensed(self, reads: Reads, ticks: Ints, columns: NDArray[np.intp]) -> Floats:
        """Sensordata as DeviceUpdate sees it, as a fresh array ``(lanes, samples, width)``.

        Args:
            reads: the device's declaration.
            ticks: ``(lanes or 1, samples)`` boundaries of the block.
            columns: of sensordata.
        """
        rows = self.derived["sensordata"]
        found = np.empty((len(rows), ticks.shape[1], len(columns)))
        gather(rows, ticks, self.block.start, columns, found)
        for tick, values in self.promoted.items() if reads.level is StateLevel.FULL else ():
            lanes, samples = np.nonzero(np.broadcast_to(ticks == tick, found.shape[:2]))
            found[lanes, samples] = values[lanes[:, None], columns]
        return found


def as_slice(columns: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """The same columns as a slice where they lie side by side, which numpy reads without copying."""
    if len(columns) and np.array_equal(columns, np.arange(columns[0], columns[0] + len(columns))):
        return slice(int(columns[0]), int(columns[0]) + len(columns))
    return columns
