"""The torque drive: commands travel, are watched, limited, and become controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.drivers import TorqueSpec
from sweep.runtime.block import Block, BlockView, as_slice
from sweep.runtime.command import Command
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.trace import TraceColumn, TraceEvent

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NEVER = np.iinfo(np.int64).max // 4


class Torque:
    """A driver of all lanes of a batch; see :class:`sweep.plan.drivers.TorqueSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[TorqueSpec], context: BatchContext) -> None:
        self.name = name
        self._grid = context.grid
        columns = context.index.controls(specs[0].actuators)
        self.width = len(columns)
        self._columns = as_slice(columns)
        low, high = context.index.control_limits(columns)
        limit = np.array([_spread(np.inf if s.limit is None else s.limit, self.width) for s in specs])
        self._low = np.maximum(low, -limit)[:, None]
        self._high = np.minimum(high, limit)[:, None]
        self._latency: Ints = per_lane_values(specs, lambda s: s.latency_ticks(context.grid), np.int64)
        timeouts = [s.timeout_ticks(context.grid) for s in specs]
        self._watched = any(t is not None for t in timeouts)
        self._timeout = np.array([_NEVER if t is None else t for t in timeouts])[:, None]
        self._holds = np.array([s.fallback == "hold" for s in specs])[:, None, None]
        self._fallback = np.array([_spread(_numbers(s.fallback), self.width) for s in specs])[:, None]
        self._current = np.array([_spread(0.0 if s.initial is None else s.initial, self.width) for s in specs])
        self._last_arrival = np.full(context.lanes, -1, np.int64)
        self._soonest, self._longest = int(self._latency.min()), int(self._latency.max())
        self._travelling: list[tuple[Command, Ints]] = []
        self._latest: dict[str, int] = {}
        self._stale: list[Command] = []  # of this block
        self._dropped: list[Command] | None = [] if context.keep_events else None
        self._committed = TraceColumn(context.lanes, 1 + self.width)
        self._counts = np.zeros((3, context.lanes), np.int64)  # commands, saturated steps, steps under fallback
        self._tripped: NDArray[np.bool_] | None = None
        self._saturated: NDArray[np.bool_] | None = None
        self._events: list[tuple[Command, Ints]] | None = [] if context.keep_events else None

    @classmethod
    def problems(cls, spec: TorqueSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        problems = index.actuator_problems(f"{path}.actuators", spec.actuators)
        if problems:
            return problems
        width = len(index.controls(spec.actuators))
        fallback = spec.fallback if isinstance(spec.fallback, tuple) else None
        for field, values in {"limit": spec.limit, "initial": spec.initial, "fallback": fallback}.items():
            if values is not None and len(values) not in (1, width):
                problems.append(Problem(f"{path}.{field}", f"{len(values)} numbers for {width} controls"))
        if spec.limit is not None and min(spec.limit) < 0:
            problems.append(Problem(f"{path}.limit", f"a magnitude is at least 0, not {min(spec.limit)}"))
        return problems

    def accept(self, command: Command) -> None:
        """Take a committed input; a sequence number not above its source's last is stale and dropped."""
        if command.sequenced:
            if command.source_sequence <= self._latest.get(command.source_id, command.source_sequence - 1):
                self._stale.append(command)
                return
            self._latest[command.source_id] = command.source_sequence
        self._travelling.append((command, command.commit_tick + self._latency))

    reads_state = False
    """Whether it needs P_n to compute the controls of tick n: blocks are then one tick long."""

    def apply(self, block: Block, controls: Floats, start: Floats) -> None:
        """Phase 6 of every tick of a block.

        Args:
            block: the ticks.
            controls: ``(lanes, length, nu)``, of which this drive fills its columns.
            start: ``(lanes, 1 + nq + nv + na)`` the boundary P_start.
        """
        ticks = np.arange(block.start, block.stop)
        asked = np.repeat(self._current[:, None], block.length, axis=1)
        last = np.repeat(self._last_arrival[:, None], block.length, axis=1) if self._watched else None
        for command, arrival in self._travelling:
            self._overlay(asked, last, command, arrival, ticks)
        self._tripped = None
        if last is not None:
            self._tripped = (last >= 0) & (ticks - last >= self._timeout)
            if self._tripped.any():
                asked = np.where(self._tripped[..., None] & ~self._holds, self._fallback, asked)
        applied = np.minimum(np.maximum(asked, self._low), self._high)
        over = applied != asked
        self._saturated = over.any(axis=2) if over.any() else None
        controls[:, :, self._columns] = applied

    def settle(self, view: BlockView) -> None:
        """After a block: account for what each lane lived to see, and keep what is still travelling."""
        stop = view.block.stop
        self._count(view)
        for command, arrival in self._travelling:
            if view.block.start <= command.commit_tick:
                self._record(command, view)
            if command.lanes is None and command.commit_tick + self._longest < stop:
                self._current = np.broadcast_to(command.values, self._current.shape)
                self._last_arrival = arrival
            elif command.commit_tick + self._soonest < stop:
                arrived = arrival < stop if command.lanes is None else command.lanes & (arrival < stop)
                self._current = np.where(arrived[:, None], command.values, self._current)
                self._last_arrival = np.where(arrived, arrival, self._last_arrival)
        self._travelling = [
            (c, a) for c, a in self._travelling if c.commit_tick + self._longest >= stop or self._missed(a, view)
        ]
        for command in self._stale:
            if self._missed(command.commit_tick, view):
                self._travelling.append((command, command.commit_tick + self._latency))
            elif self._dropped is not None:
                self._dropped.append(command)
        self._stale = []

    def _missed(self, ticks: Ints | int, view: BlockView) -> bool:
        """Whether a tick of this block came too late for every lane: what was meant for it remains to be cancelled."""
        return view.through is not None and bool((view.through < ticks).all())

    def _count(self, view: BlockView) -> None:
        saturated, tripped = self._saturated, self._tripped
        through: int | Ints = view.block.stop - 1
        if view.through is not None:
            lived = np.arange(view.block.start, view.block.stop) <= view.through[:, None]
            saturated = None if saturated is None else saturated & lived
            tripped = None if tripped is None else tripped & lived
            through = view.through
        for row, happened in ((1, saturated), (2, tripped)):
            if happened is not None:
                self._counts[row] += np.add.reduce(happened, axis=1)
        for command, arrival in self._travelling:
            if command.commit_tick + self._soonest < view.block.stop:
                fresh = (arrival >= view.block.start) & (arrival <= through)
                self._counts[0] += fresh if command.lanes is None else fresh & command.lanes

    def _record(self, command: Command, view: BlockView) -> None:
        lanes, counts = len(self._current), None
        if view.through is not None or command.lanes is not None:
            lived = np.ones(lanes, bool) if view.through is None else view.through >= command.commit_tick
            counts = (lived if command.lanes is None else lived & command.lanes).astype(np.int64)
        self._committed.append([float(command.commit_tick), command.values[:, None]], counts)
        if self._events is not None:
            self._events.append((command, np.ones(lanes, np.int64) if counts is None else counts))

    def _overlay(self, asked: Floats, last: Ints | None, command: Command, arrival: Ints, ticks: Ints) -> None:
        """Let a command hold from its arrival on, in the lanes it is for."""
        start = command.commit_tick + self._soonest - int(ticks[0])
        if start >= len(ticks):
            return
        if self._soonest == self._longest and command.lanes is None:
            asked[:, max(0, start) :] = command.values[:, None]
            if last is not None:
                last[:, max(0, start) :] = arrival[:, None]
            return
        hit = ticks >= arrival[:, None]
        if command.lanes is not None:
            hit &= command.lanes[:, None]
        np.copyto(asked, command.values[:, None], where=hit[..., None])
        if last is not None:
            np.copyto(last, arrival[:, None], where=hit)

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's committed inputs."""
        return self._committed.digest(lane)

    def summary(self, lane: int, steps: int) -> dict[str, float]:
        """Commands that arrived, and the shares of steps that were saturated or under fallback."""
        commands, saturated, tripped = (int(n) for n in self._counts[:, lane])
        summary = {"commands": float(commands), "saturated": saturated / max(1, steps)}
        if self._timeout[lane, 0] != _NEVER:
            summary["timed_out"] = tripped / max(1, steps)
        return summary

    def in_flight(self) -> list[Command]:
        """Commands that have not arrived; after an end also those of its block that were not even committed."""
        return [command for command, _ in self._travelling]

    def events(self, lane: int, episode: int) -> Iterator[TraceEvent]:
        """The lane's committed inputs, those that were stale among them."""
        for command, counts in self._events or ():
            if counts[lane]:
                arrival = command.commit_tick + int(self._latency[lane])
                yield self._event("input", command, lane, episode, {"arrival_tick": arrival})
        for command in self._dropped or ():
            yield self._event("stale", command, lane, episode, {})

    def _event(self, kind: str, command: Command, lane: int, episode: int, more: Mapping[str, Any]) -> TraceEvent:
        data = {
            "source_id": command.source_id,
            "source_sequence": command.source_sequence,
            "acceptance": command.acceptance,
            "effective_s": command.effective_s,
            "values": tuple(command.values[min(lane, len(command.values) - 1)].tolist()),
            **more,
        }
        return TraceEvent(kind=kind, episode_index=episode, tick=command.commit_tick, component=self.name, data=data)


def _numbers(fallback: str | tuple[float, ...]) -> float | tuple[float, ...]:
    return 0.0 if isinstance(fallback, str) else fallback


def _spread(values: float | tuple[float, ...], width: int) -> Floats:
    return np.broadcast_to(np.asarray(values, np.float64), (width,))
