"""What every device does: acquire on its own clock, let samples travel, show the last that arrived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.clock import GridSchedule
from sweep.plan.device import DeviceSpec
from sweep.plan.instants import LaneInstants
from sweep.plan.lane_clock import LaneSchedule
from sweep.plan.streams import stream_key
from sweep.plan.units import exact_seconds
from sweep.results.record import StreamReceipt
from sweep.runtime.block import Block, BlockView
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.noise import LaneStream
from sweep.runtime.output import DeviceOutput
from sweep.runtime.reads import STATE_ONLY, Reads
from sweep.runtime.tracing.sample_log import SampleLog
from sweep.runtime.tracing.trace import TraceColumn
from sweep.runtime.transport.channel import LOST, Channel
from sweep.runtime.transport.queue import SampleQueue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Device(ABC):
    """A sensor of all lanes of a batch.  A family member says what it measures and what is wrong with it.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
        width: numbers per sample.
    """

    reads: Reads = STATE_ONLY
    """What it needs of a boundary; a force reader is only asked for samples at a block's first boundary."""

    def __init__(self, name: str, specs: Sequence[DeviceSpec], context: BatchContext, width: int) -> None:
        self.name = name
        self.width = width
        self.grid = context.grid
        self._specs = specs
        self._initial = specs[0].initial_acquisition
        self._first = 0 if self._initial else 1
        self._schedules = [spec.schedule(context.grid, name) for spec in specs]
        self.schedule = LaneSchedule.of(self._schedules)
        # Lanes that share one schedule share one row of ticks and draws.
        offset = self.schedule.draw_offset[: 1 if self.schedule.uniform else None, None]
        self._draw_offset = offset if offset.any() else None
        self.streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], width)
            for stream in specs[0].streams
        }
        self.episode_streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], width)
            for stream in specs[0].episode_streams
        }
        latencies = [exact_seconds(spec.latency_s) for spec in specs]
        self._channel = Channel(name, specs, context, latencies)
        disabled = np.array([[not spec.enabled] for spec in specs])
        self._disabled = disabled if disabled.any() else None
        self._everyone = np.zeros(context.lanes, np.int64)
        self._clock = LaneInstants.of([spec.stamped(context.grid.timestep) for spec in specs])
        in_flight = _in_flight(self._schedules, self._channel.longest) + self._initial
        self._queue = SampleQueue(
            context.lanes, width, in_flight, overtaking=self._channel.overtaking, clock=self._clock
        )
        self._column = TraceColumn(context.lanes, 3 + width)
        self._log = SampleLog(context.lanes, width) if context.keep_events else None

    @classmethod
    @abstractmethod
    def problems(cls, spec: Any, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""

    @abstractmethod
    def sample(self, view: BlockView, ticks: Ints, draws: Ints) -> Floats:
        """What it acquires, whatever is wrong with it included.

        Args:
            view: the block.
            ticks: ``(lanes or 1, samples)`` boundaries.
            draws: ``(lanes or 1, samples)`` acquisition numbers.

        Returns:
            A fresh array ``(lanes, samples, width)``.
        """

    def draw(self, stream: str, draws: Ints) -> Floats:
        """Noise of a stream, ``(lanes, samples, width)``, the caller's own."""
        return self.streams[stream].rows(draws)

    def due(self, block: Block) -> tuple[Ints, Ints, Bools | None]:
        """Draws and ticks, ``(lanes or 1, samples)`` each, due in a block, and which are a lane's own; None if all."""
        draws, ticks, valid = self.schedule.due(block.start, block.stop)
        if self._draw_offset is not None:
            draws = draws + self._draw_offset
        if self._initial and block.start == 0:
            zero = np.zeros((len(draws), 1), np.int64)
            draws, ticks = np.hstack([zero, draws]), np.hstack([zero, ticks])
            valid = None if valid is None else np.hstack([zero == 0, valid])
        return draws, ticks, valid

    def update(self, view: BlockView) -> None:
        """Phase 5 of every tick of a block."""
        draws, ticks, valid = self.due(view.block)
        samples = ticks.shape[1]
        if not samples:
            return
        if view.through is not None:
            valid = (ticks <= view.through[:, None]) & (True if valid is None else valid)
        counts = None if valid is None else valid.sum(axis=1)
        values = self.sample(view, ticks, draws)
        delays = self._channel.delays(ticks, draws, counts)
        if self._disabled is not None:
            delays = np.where(self._disabled, LOST, delays)
        self._everyone.fill(samples)
        mine = self._everyone if counts is None else counts
        self._queue.push(values, ticks, delays, draws, mine, journal=self._column.room(samples))
        if self._log is not None:
            arrivals = np.where(delays == LOST, LOST, ticks + delays)
            self._log.append(draws, ticks, arrivals, values, counts)

    def output(self, tick: Ints) -> DeviceOutput:
        """What is visible in each lane after DeviceUpdate of ``tick (lanes,)``."""
        return self._queue.visible(tick)

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's samples."""
        return self._column.digest(lane)

    def receipts(self, lane: int) -> dict[str, StreamReceipt]:
        """Which draws the lane used, by stream."""
        # One draw per acquisition, in order, from the first.
        first, count = self._first, int(self._queue.acquired[lane])
        receipts = {name: stream.receipt(lane, 0, 1) for name, stream in self.episode_streams.items()}
        receipts |= {name: stream.receipt(lane, first, count) for name, stream in self.streams.items()}
        return receipts | self._channel.receipts(lane, first, count)

    def summary(self, lane: int, tick: int) -> dict[str, float]:
        """Counts, and mean actual latency [s], of samples up to DeviceUpdate of ``tick``."""
        acquired, lost = int(self._queue.acquired[lane]), int(self._queue.lost[lane])
        waiting, ahead = self._queue.waiting(lane, tick)
        delivered = acquired - lost - waiting
        summary = {"acquired": float(acquired), "delivered": float(delivered)}
        if not self._specs[lane].lossless:
            summary["lost"] = float(lost)
        if delivered:
            travel = int(self._queue.travel[lane]) - ahead
            summary["latency_actual_s"] = float(travel * self.grid.timestep / delivered)
        return summary

    def event_table(self, lane: int) -> dict[str, NDArray[Any]]:
        """The lane's samples in the order of acquisition, by column.

        Returns:
            ``index`` (acquisition number), ``nominal_acquisition_s``, ``actual_acquisition_s``,
            ``requested_delivery_s``, ``actual_delivery_s`` (NaN: lost), ``acquired_tick``, ``delivered_tick`` (-1:
            lost), ``values (n, width)``; ``stamp_s`` where the device's clock is not right, and ``lost`` where samples
            can be.
        """
        log = self._log or SampleLog(len(self._specs), self.width)
        draws, ticks, arrivals, values = log.lane(lane)
        spec, schedule = self._specs[lane], self._schedules[lane]
        time = LaneInstants.of([(self.grid.timestep, Fraction(0))])
        nominal = LaneInstants.of([(schedule.period, schedule.phase)])
        lost = arrivals == LOST
        table = {
            "index": draws,
            "nominal_acquisition_s": np.where(draws == 0, 0.0, nominal.at(draws - self.schedule.draw_offset[lane])),
            "actual_acquisition_s": time.at(ticks),
            "requested_delivery_s": self._channel.deadlines_s(lane, ticks, draws),
            "actual_delivery_s": np.where(lost, np.nan, time.at(arrivals)),
            "acquired_tick": ticks,
            "delivered_tick": arrivals,
            "values": values,
        }
        stamps = {} if spec.true_clock else {"stamp_s": self._clock.lane(lane).at(ticks)}
        return table | stamps | ({} if spec.lossless else {"lost": lost})


def _in_flight(schedules: Sequence[GridSchedule], longest: Ints) -> int:
    """The most scheduled samples of one lane that can be under way at once; ``longest (lanes,)`` in ticks."""
    periods = [schedule.period // schedule.grid.timestep for schedule in schedules]
    return max(int(ticks) // int(period) + 1 for ticks, period in zip(longest, periods, strict=True))
