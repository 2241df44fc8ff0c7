"""Pushes: wrenches on a body at times known in advance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.clock import Grid
from sweep.plan.disturbances import PushSpec, unit
from sweep.plan.problems import unknown_name
from sweep.plan.streams import stream_key
from sweep.plan.units import exact_seconds
from sweep.results.record import StreamReceipt
from sweep.runtime.block import Block, BlockView
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.noise import LaneStream
from sweep.runtime.numerics.sine import sines_and_cosines_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 16
"""Pushes that are worked out together."""

_NEVER = np.iinfo(np.int64).max // 4


class Push:
    """See :class:`sweep.plan.disturbances.PushSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[PushSpec], context: BatchContext) -> None:
        self.name = name
        self._schedule = PushSchedule(name, specs, context)
        self._body = int(context.index.model.body(specs[0].body).id)
        self._steps = per_lane_values(specs, lambda s: context.grid.ticks(s.duration_s), np.int64)[:, None]
        # Pushes that were worked out and are not over in all lanes: when they begin, when they are over, what they are.
        self._starts = self._stops = np.zeros((context.lanes, 0), np.int64)
        self._wrenches = np.zeros((context.lanes, 0, 6))
        self._worked_out, self._next_due = 0, self._schedule.earliest(0)
        self._quiet_until = 0
        self._begun = np.zeros(context.lanes, np.int64)

    @classmethod
    def problems(cls, spec: PushSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return unknown_name(f"{path}.body", "body", [spec.body], index.names("body")[1:])

    def apply(self, block: Block, wrenches: Floats) -> None:
        """Add to the wrenches of every step of a block; blocks come in order.

        Args:
            block: the ticks.
            wrenches: ``(lanes, length, nbody, 6)`` [N] and [N m].
        """
        if block.stop <= self._quiet_until:
            return
        while self._next_due < block.stop:
            self._work_out(block.start)
        ticks = np.arange(block.start, block.stop)
        acting = (self._starts < block.stop) & (self._stops > block.start)
        for push in np.flatnonzero(acting.any(axis=0)).tolist():
            now = (ticks >= self._starts[:, push, None]) & (ticks < self._stops[:, push, None])
            wrenches[:, :, self._body] += np.where(now[..., None], self._wrenches[:, push, None], 0.0)
        if not acting.any():
            self._quiet_until = int(self._starts[self._starts >= block.stop].min(initial=self._next_due))

    def settle(self, view: BlockView) -> None:
        """After a block: count the pushes that each lane lived to see begin."""
        block = view.block
        if block.stop > self._quiet_until:
            through = block.stop - 1 if view.through is None else view.through[:, None]
            self._begun += ((self._starts >= block.start) & (self._starts <= through)).sum(axis=1)

    def receipts(self, lane: int) -> dict[str, StreamReceipt]:
        """Which draws the lane used, by stream: one per push that began."""
        return self._schedule.receipts(lane, int(self._begun[lane]))

    def summary(self, lane: int) -> dict[str, float]:
        """How many pushes began."""
        return {"pushes": float(self._begun[lane])}

    def event_table(self, lane: int) -> dict[str, NDArray[np.generic]]:
        """The pushes that began, a row each: ``index``, ``tick``, ``stop_tick`` and ``values`` (force, torque)."""
        count = int(self._begun[lane])
        starts, wrenches = self._schedule.pushes(0, count)
        stops = starts[lane] + self._steps[lane]
        return {"index": np.arange(count), "tick": starts[lane], "stop_tick": stops, "values": wrenches[lane]}

    def _work_out(self, now: int) -> None:
        """Take up the next pushes, and forget those that are over."""
        ahead = ~(self._stops <= now).all(axis=0)
        starts, wrenches = self._schedule.pushes(self._worked_out, _AT_ONCE)
        self._starts = np.concatenate([self._starts[:, ahead], starts], axis=1)
        self._wrenches = np.concatenate([self._wrenches[:, ahead], wrenches], axis=1)
        self._stops = self._starts + self._steps
        self._worked_out += _AT_ONCE
        self._next_due = self._schedule.earliest(self._worked_out)


class PushSchedule:
    """When pushes begin and what they are: pure functions of a push's number.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[PushSpec], context: BatchContext) -> None:
        self._grid: Grid = context.grid
        self._distinct = list(dict.fromkeys(specs))
        self._which = np.array([self._distinct.index(spec) for spec in specs])
        self._streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], 1, "uniform")
            for stream in specs[0].streams
        }
        self._lateness = _bounds(
            specs, lambda s: (0.0, float(exact_seconds(s.interval_jitter_s) / self._grid.timestep))
        )
        self._force, self._torque = _bounds(specs, lambda s: s.force_n), _bounds(specs, lambda s: s.torque_nm)
        fixed = [unit(spec.direction) for spec in specs if not isinstance(spec.direction, str)]
        self._direction = np.array(fixed)[:, None] if fixed else None
        self._axis = np.array([unit(spec.torque_axis) for spec in specs])[:, None]

    def earliest(self, push: int) -> int:
        """The first tick at which a push may begin in some lane."""
        due = [spec.nominal(push, self._grid) for spec in self._distinct]
        return min(_NEVER if nominal is None else math.ceil(nominal) for nominal in due)

    def pushes(self, first: int, count: int) -> tuple[Ints, Floats]:
        """Pushes ``first`` .. ``first + count - 1`` of every lane.

        Returns:
            The step that each begins with ``(lanes, count)``, and its force and torque ``(lanes, count, 6)``.
        """
        force = self._drawn("force", self._force, first, count)[..., None] * self._directions(first, count)
        torque = self._drawn("torque", self._torque, first, count)[..., None] * self._axis
        return self._starts(first, count), np.concatenate([force, torque], axis=2)

    def receipts(self, lane: int, count: int) -> dict[str, StreamReceipt]:
        """The receipts of the first pushes of a lane."""
        return {name: stream.receipt(lane, 0, count) for name, stream in self._streams.items()}

    def _starts(self, first: int, count: int) -> Ints:
        whole = np.full((len(self._distinct), count), _NEVER)
        rest = np.zeros(whole.shape)
        for row, spec in enumerate(self._distinct):
            for column in range(count):
                nominal = spec.nominal(first + column, self._grid)
                if nominal is not None:
                    whole[row, column] = min(math.floor(nominal), _NEVER)
                    rest[row, column] = float(nominal - math.floor(nominal))
        late = rest[self._which] + self._drawn("time", self._lateness, first, count)
        starts: Ints = whole[self._which] + np.ceil(late).astype(np.int64)
        return starts

    def _directions(self, first: int, count: int) -> Floats:
        if self._direction is not None:
            return self._direction
        sines, cosines = sines_and_cosines_of(self._streams["direction"].span(first, count))
        return np.concatenate([cosines, sines, np.zeros_like(sines)], axis=2)

    def _drawn(self, stream: str, bounds: tuple[Floats, Floats], first: int, count: int) -> Floats:
        """A number of each push ``(lanes, count)``, uniform between each lane's bounds."""
        low, high = bounds
        if (low == high).all():
            return np.repeat(low, count, axis=1)
        return low + (high - low) * self._streams[stream].span(first, count)[:, :, 0]


def _bounds(specs: Sequence[PushSpec], numbers: Callable[[PushSpec], tuple[float, ...]]) -> tuple[Floats, Floats]:
    """Lowest and highest of a number of each lane, ``(lanes, 1)`` each."""
    given = [numbers(spec) for spec in specs]
    return np.array([[values[0]] for values in given]), np.array([[values[-1]] for values in given])
