"""Commands on their way to a driver: stale ones are dropped, the others arrive late, all at once, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sweep.plan.clock import GridSchedule
from sweep.plan.drivers import DriverSpec
from sweep.plan.lane_clock import LaneSchedule
from sweep.plan.units import exact_seconds
from sweep.results.record import StreamReceipt
from sweep.runtime.block import Block, BlockView
from sweep.runtime.context import BatchContext
from sweep.runtime.ingress.command import Command
from sweep.runtime.transport.channel import LOST, Channel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NEVER = np.iinfo(np.int64).max // 4
"""A tick that no episode reaches."""

_DRAWS = 2**62
"""Draw indices stay below this; a sender's own count may be any integer."""


class Flight(NamedTuple):
    """A command that was accepted, and what becomes of it.

    Attributes:
        command: the command.
        numbers: ``(lanes,)`` its source's count of it in each lane, which is its draw index; None if nobody asks.
        arrival: ``(lanes,)`` when it arrives; :data:`NEVER` where it does not.
        lost: ``(lanes,)`` where it is lost, of those that it is for; None if nowhere.
        first: the earliest of its arrivals, NEVER if there is none.
        last: the latest of them, -1 if there is none.
        uniform: whether it arrives in all lanes at once.
    """

    command: Command
    numbers: Ints | None
    arrival: Ints
    lost: Bools | None
    first: int
    last: int
    uniform: bool

    def arrives(self, first: int, last: Ints | int) -> Bools:
        """In which lanes it arrives at one of the ticks ``first`` .. ``last``."""
        hit: Bools = (self.arrival >= first) & (self.arrival <= last)
        return hit


class CommandTransport:
    """What carries the commands of one driver, in all lanes.

    The draw index of a command is its source's count of it: the sender's own sequence number if it keeps one
    (a negative one modulo 2**62), else how many commands of this source the lane has had, this one included.

    Args:
        name: the driver's id.
        specs: its spec in each lane.
        context: the batch.
        initial: ``(lanes, width)`` what stands for the command before the first arrival.
        dated: whether :meth:`arrived` must say when what holds has arrived.
    """

    def __init__(self, name: str, specs: Sequence[DriverSpec], context: BatchContext, initial: Floats, *,
                 dated: bool) -> None:  # fmt: skip
        self._flights: list[Flight] = []  # commands that were accepted and have not arrived everywhere
        self._delivered = np.zeros(context.lanes, np.int64)
        self._delivered_everywhere = 0  # commands that came to all lanes at once
        latencies = [exact_seconds(spec.command_latency_s) for spec in specs]
        self._channel = Channel(name, specs, context, latencies)
        self._soonest, self._longest = int(self._channel.latency.min()), int(self._channel.latency.max())
        schedules = [spec.command_schedule(context.grid, name) for spec in specs]
        self._waits = np.array([schedule is not None for schedule in schedules])
        every_tick = GridSchedule(context.grid, context.grid.timestep)
        self._schedule = LaneSchedule.of([every_tick if s is None else s for s in schedules])
        self._simple = self._channel.steady and not self._waits.any()
        self._overtaking = specs[0].ordering == "overtaking" and not self._channel.steady
        self._dated = dated or self._overtaking
        self._numbered = not self._channel.steady or context.keep_events
        self._lanes = context.lanes
        self._current = initial
        self._last = np.full(context.lanes, -1, np.int64)
        self._latest: dict[str, int] = {}
        self._counts: dict[str, Ints] = {}
        # Per lane: the first and the last draw used, and whether each followed the one before.
        self._first_draw, self._last_draw = np.ones(context.lanes, np.int64), np.zeros(context.lanes, np.int64)
        self._gapless = np.ones(context.lanes, bool)

    def accept(self, command: Command) -> Flight | None:
        """Take a command; None if it is stale: its sender has already sent a later one."""
        if command.sequenced:
            if command.source_sequence <= self._latest.get(command.source_id, command.source_sequence - 1):
                return None
            self._latest[command.source_id] = command.source_sequence
        flight = self._sent(command)
        self._flights.append(flight)
        return flight

    def arrived(self, block: Block) -> tuple[Floats, Ints | None]:
        """What holds at the ticks of a block, and since when.

        Returns:
            The last command that has arrived ``(lanes, ticks, width)``, and the tick of its arrival ``(lanes, ticks)``,
            -1 before the first; None if that is not asked for.
        """
        lanes, width = self._current.shape
        held = np.empty((lanes, block.length, width))
        held[:] = self._current[:, None]
        last = np.repeat(self._last[:, None], block.length, axis=1) if self._dated else None
        for flight in self._flights:
            if flight.first < block.stop:
                self._overlay(held, last, flight, block)
        self._current = held[:, -1]
        if last is not None:
            self._last = last[:, -1]
        return held, last

    def settle(self, view: BlockView) -> None:
        """After a block: count what each lane lived to see arrive, and forget what has arrived everywhere."""
        block, under_way = view.block, []
        for flight in self._flights:
            if flight.last >= block.stop:
                under_way.append(flight)
            if flight.first >= block.stop:
                continue
            if flight.uniform and view.through is None:
                self._delivered_everywhere += flight.first >= block.start
            else:
                self._delivered += flight.arrives(block.start, block.stop - 1 if view.through is None else view.through)
        self._flights = under_way

    def delivered(self, lane: int) -> int:
        """How many commands a lane lived to see arrive."""
        return self._delivered_everywhere + int(self._delivered[lane])

    def committed(self, numbers: Ints, lanes: Bools | None) -> None:
        """A command with these draws ``(lanes,)`` was committed in some lanes (None: in all): they are used there."""
        if self._channel.steady:
            return
        mine = np.ones(self._lanes, bool) if lanes is None else lanes
        unused = self._last_draw < self._first_draw
        self._first_draw = np.where(mine & unused, numbers, self._first_draw)
        self._gapless &= ~mine | unused | (numbers == self._last_draw + 1)
        self._last_draw = np.where(mine, numbers, self._last_draw)

    def receipts(self, lane: int) -> dict[str, StreamReceipt]:
        """Which draws a lane used, by stream; none if a sender's count left gaps or senders shared numbers."""
        if not self._gapless[lane]:
            return {}
        first, last = int(self._first_draw[lane]), int(self._last_draw[lane])
        return self._channel.receipts(lane, first, last - first + 1)

    def _sent(self, command: Command) -> Flight:
        numbers = self._numbers_of(command) if self._numbered else None
        tick = command.commit_tick
        if self._simple and command.lanes is None:
            first, last = tick + self._soonest, tick + self._longest
            arrival = tick + self._channel.latency
            return Flight(command, numbers, arrival, None, first, last, first == last)
        draws = np.zeros((1, 1), np.int64) if numbers is None else numbers[:, None]
        counts = None if command.lanes is None else command.lanes.astype(np.int64)
        arrival = self._channel.arrivals(np.array([[tick]]), draws, counts)[:, 0]
        lost = arrival == LOST
        if command.lanes is not None:
            arrival = np.where(command.lanes, arrival, NEVER)
        arrival = self._taken_up(np.where(lost, NEVER, arrival))
        arrives = arrival < NEVER
        first, last = int(arrival.min()), int(arrival.max(where=arrives, initial=-1))
        uniform = first == last and bool(arrives.all())
        return Flight(command, numbers, arrival, lost if lost.any() else None, first, last, uniform)

    def _numbers_of(self, command: Command) -> Ints:
        if command.sequenced:
            return np.full(self._lanes, command.source_sequence % _DRAWS, np.int64)
        before = self._counts.get(command.source_id, np.zeros(self._lanes, np.int64))
        self._counts[command.source_id] = before + (1 if command.lanes is None else command.lanes)
        return self._counts[command.source_id]

    def _taken_up(self, arrival: Ints) -> Ints:
        """Arrivals, where a lane takes commands up on a schedule, at its next instant."""
        if not self._waits.any():
            return arrival
        taken = arrival.copy()
        for tick in np.unique(arrival[self._waits & (arrival < NEVER)]).tolist():
            taken = np.where(self._waits & (arrival == tick), self._schedule.next_tick(tick), taken)
        return taken

    def _overlay(self, held: Floats, last: Ints | None, flight: Flight, block: Block) -> None:
        """Let a command hold from its arrival on, in the lanes where it arrives in this block."""
        start, values = block.start, flight.command.values
        if flight.uniform and not self._overtaking:
            held[:, flight.first - start :] = values[:, None]
            if last is not None:
                last[:, flight.first - start :] = flight.first
            return
        arrival = flight.arrival
        if flight.first < start:  # what arrived in an earlier block is carried over already
            arrival = np.where(arrival < start, NEVER, arrival)
        hit = np.arange(start, block.stop) >= arrival[:, None]
        if self._overtaking and last is not None:
            hit &= arrival[:, None] >= last
        np.copyto(held, values[:, None], where=hit[..., None])
        if last is not None:
            np.copyto(last, arrival[:, None], where=hit)
