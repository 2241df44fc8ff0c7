"""What every device does: acquire on its own clock, let samples travel, show the last that arrived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.clock import GridSchedule
from sweep.plan.device import DeviceSpec
from sweep.plan.lane_clock import LaneSchedule
from sweep.plan.streams import stream_key
from sweep.plan.units import exact_seconds
from sweep.results.record import StreamReceipt
from sweep.runtime.block import BlockView
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.noise import LaneStream
from sweep.runtime.output import DeviceOutput
from sweep.runtime.reads import STATE_ONLY, Reads
from sweep.runtime.trace import TraceColumn, TraceEvent
from sweep.runtime.transport import SampleQueue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        self._initial = specs[0].initial_acquisition
        self._first = 0 if self._initial else 1
        self._schedules = [spec.schedule(context.grid, name) for spec in specs]
        self.schedule = LaneSchedule.of(self._schedules)
        self._latency: Ints = per_lane_values(specs, lambda s: s.latency_ticks(context.grid), np.int64)
        self._latency_s = [exact_seconds(spec.latency_s) for spec in specs]
        self._lane_column = np.arange(context.lanes)[:, None]
        self._latency_column = self._latency[:, None]
        # Lanes that share one schedule share one row of ticks and draws.
        self._draw_offset = self.schedule.draw_offset[: 1 if self.schedule.uniform else None, None]
        self.streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], width, first=self._first)
            for stream in specs[0].streams
        }
        self.episode_streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], width, first=0)
            for stream in specs[0].episode_streams
        }
        self._queue = SampleQueue(context.lanes, width, _in_flight(self._schedules, self._latency))
        self._column = TraceColumn(context.lanes, 3 + width)
        self._events: list[tuple[Ints, Ints, Ints, Floats, Ints]] | None = [] if context.keep_events else None

    @classmethod
    @abstractmethod
    def problems(cls, spec: Any, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""

    @abstractmethod
    def measure(self, view: BlockView, ticks: Ints) -> Floats:
        """The truth at boundaries ``ticks (lanes, samples)``, as a fresh array ``(lanes, samples, width)``."""

    @abstractmethod
    def imperfect(self, values: Floats, draws: Ints) -> Floats:
        """The truth with the device's imperfections; ``draws (lanes, samples)`` are acquisition numbers."""

    def draw(self, stream: str, draws: Ints) -> Floats:
        """Noise of a stream, ``(lanes, samples, width)``; not to be changed."""
        if self.schedule.uniform:
            first = int(draws[0, 0])
            return self.streams[stream].view(first, int(draws[0, -1]) - first + 1)
        return self.streams[stream].rows(draws)

    def update(self, view: BlockView) -> None:
        """Phase 5 of every tick of a block."""
        due = self.schedule.due(view.block.start, view.block.stop)
        draws, ticks, valid = due.indices + self._draw_offset, due.ticks, due.valid
        if self._initial and view.block.start == 0:
            zero = np.zeros((len(draws), 1), np.int64)
            draws, ticks = np.hstack([zero, draws]), np.hstack([zero, ticks])
            valid = None if valid is None else np.hstack([zero == 0, valid])
        if not ticks.shape[1]:
            return
        if view.through is not None:
            valid = (ticks <= view.through[:, None]) & (True if valid is None else valid)
        self._acquire(view, draws, ticks, None if valid is None else valid.sum(axis=1))

    def _acquire(self, view: BlockView, draws: Ints, ticks: Ints, counts: Ints | None) -> None:
        values = self.imperfect(self.measure(view, ticks), draws)
        delivered = ticks + self._latency_column
        self._queue.push(values, ticks, delivered, draws, counts)
        self._column.append([draws, ticks, delivered, values], counts)
        if self._events is not None:
            kept = np.full(len(values), values.shape[1]) if counts is None else counts
            self._events.append((draws, ticks, delivered, values, kept))

    def output(self, tick: Ints) -> DeviceOutput:
        """What is visible in each lane after DeviceUpdate of ``tick (lanes,)``."""
        return self._queue.visible(tick)

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's samples."""
        return self._column.digest(lane)

    def receipts(self, lane: int) -> dict[str, StreamReceipt]:
        """Which draws the lane used, by stream."""
        # One draw per acquisition, in order, from the first.
        count = int(self._queue.acquired[lane])
        receipts = {name: stream.receipt(lane, 0, 1) for name, stream in self.episode_streams.items()}
        return receipts | {name: stream.receipt(lane, self._first, count) for name, stream in self.streams.items()}

    def summary(self, lane: int, tick: int) -> dict[str, float]:
        """Counts and actual latency [s] of samples up to DeviceUpdate of ``tick``."""
        acquired = int(self._queue.acquired[lane])
        delivered = self._queue.delivered_by(lane, tick)
        summary = {"acquired": float(acquired), "delivered": float(delivered)}
        if delivered:
            summary["latency_actual_s"] = self.grid.time_s(int(self._latency[lane]))
        return summary

    def in_flight(self, lane: int, tick: int) -> int:
        """Samples that were acquired but not delivered by DeviceUpdate of ``tick``."""
        return int(self._queue.acquired[lane]) - self._queue.delivered_by(lane, tick)

    def events(self, lane: int, episode: int) -> Iterator[TraceEvent]:
        """The lane's samples, each with its four times."""
        schedule, offset = self._schedules[lane], int(self.schedule.draw_offset[lane])
        for draws, ticks, delivered, values, counts in self._events or ():
            for row in range(int(counts[lane])):
                shared = min(lane, len(draws) - 1)
                draw, tick = int(draws[shared, row]), int(ticks[shared, row])
                data: Mapping[str, Any] = {
                    "index": draw,
                    "nominal_acquisition_s": 0.0 if draw == 0 else schedule.nominal_s(draw - offset),
                    "actual_acquisition_s": self.grid.time_s(tick),
                    "requested_delivery_s": float(tick * self.grid.timestep + self._latency_s[lane]),
                    "actual_delivery_s": self.grid.time_s(int(delivered[lane, row])),
                    "acquired_tick": tick,
                    "delivered_tick": int(delivered[lane, row]),
                    "values": tuple(values[lane, row].tolist()),
                }
                yield TraceEvent(kind="sample", episode_index=episode, tick=tick, component=self.name, data=data)


def _in_flight(schedules: Sequence[GridSchedule], latency: Ints) -> int:
    """The most samples of one lane that can be under way at once."""
    periods = [schedule.period // schedule.grid.timestep for schedule in schedules]
    return max(int(ticks) // int(period) + 1 for ticks, period in zip(latency, periods, strict=True))
