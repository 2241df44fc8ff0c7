"""The traces of a batch's lanes: everything that happened in each, read off the live batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.plan.component import Capability
from sweep.runtime.accounting import steps
from sweep.runtime.fault import Fault
from sweep.runtime.ingress.command import Command
from sweep.runtime.tracing.rows import Columns, TraceRows, rows_of_events
from sweep.runtime.tracing.sent_inputs import SentInputs
from sweep.runtime.tracing.trace import TraceEvent

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch

SIGNALS = ("boundary", "sensor", "control")
"""Kinds that only a full trace has: a row per tick."""

_WAITING = ("index", "nominal_acquisition_s", "actual_acquisition_s", "requested_delivery_s", "values")
"""What is known of a sample that was not delivered."""


class BatchTrace:
    """What happened in the lanes of a batch so far.  A lane's rows depend on no other lane, on no block or thread.

    Args:
        batch: a batch that keeps events.
        left: once the episode is over, the inputs that nothing committed; they and whatever else is under way are
            then cancelled.  None while it goes on.
    """

    def __init__(self, batch: InstanceBatch, left: Sequence[Command] | None = None) -> None:
        assert batch.recorder is not None, "a batch at the level of summaries keeps no trace"
        self._batch, self._recorder = batch, batch.recorder
        self._is_over = left is not None
        self._sent = SentInputs(batch.lanes, batch.recorder.commands, left or ())
        self._driven = driven_columns(batch)

    def events(self, lane: int, episode: int = 0) -> list[TraceEvent]:
        """All of a lane but its signals, in the order of ticks and components."""
        events = [e for rows in self.rows(lane) if rows.kind not in SIGNALS for e in rows.events(episode)]
        return sorted(events, key=lambda event: (event.tick, event.component))

    def rows(self, lane: int) -> list[TraceRows]:
        """All of a lane, in the order of what happens within a step, then of ids."""
        parts = self._batch.parts
        inputs = [rows for name, driver in parts.drivers.items() for rows in self._inputs(lane, name, driver)]
        samples = [_samples(name, device.event_table(lane)) for name, device in parts.devices.items()]
        found = [
            *self._recorder.signals(lane),
            *(_pushes(name, disturbance.event_table(lane)) for name, disturbance in parts.disturbances.items()),
            *inputs,
            *samples,
            *self._applications(lane),
            *rows_of_events([*self._batch.domain.events(lane, 0), *self._stop(lane)]),
        ]
        if self._is_over:
            found += [*(self._cancelled_samples(lane, rows) for rows in samples), *self._cancelled_inputs(lane)]
            found += rows_of_events(self._cancelled_actions(lane))
        return [rows for rows in found if len(rows)]

    def _inputs(self, lane: int, name: str, driver: Any) -> Iterator[TraceRows]:
        """Committed inputs, and those that were dropped at the commit because a later one of their source was there."""
        table = dict(driver.event_table(lane))
        ticks, stale = table.pop("tick"), table.pop("stale")
        table |= self._sent.counts(lane, table["acceptance"])
        inputs = TraceRows(kind="input", component=name, ticks=ticks, columns=table)
        if not stale.any():
            yield inputs
            return
        yield inputs.where(~stale)
        known = {key: column for key, column in table.items() if key != "arrival_tick"}
        yield TraceRows(kind="stale", component=name, ticks=ticks, columns=known).where(stale)

    def _applications(self, lane: int) -> Iterator[TraceRows]:
        """What each driver applied: a row for the first step, and for each step in which it changed."""
        controls = self._recorder.controls(lane)[: steps(self._batch, lane)]
        for name, columns in self._driven.items():
            applied = np.ascontiguousarray(controls[:, columns])
            changed, seen = np.ones(len(applied), bool), applied.view(np.int64)
            changed[1:] = (seen[1:] != seen[:-1]).any(axis=1)
            ticks = np.flatnonzero(changed)
            yield TraceRows(kind="application", component=name, ticks=ticks, columns={"values": applied[changed]})

    def _stop(self, lane: int) -> Iterator[TraceEvent]:
        stop = self._batch.stops.get(lane)
        if stop is None:
            return
        data: dict[str, Any]
        if isinstance(stop, Fault):
            kind, data = "fault", {"phase": stop.phase.title, "kind": stop.kind, "message": stop.message}
        else:
            kind, data = "end", {"reason": stop.reason, "success": stop.success}
        yield TraceEvent(kind=kind, episode_index=0, tick=stop.tick, component=stop.component, data=data)

    def _cancelled_samples(self, lane: int, samples: TraceRows) -> TraceRows:
        """Samples that were to be delivered after the lane's last DeviceUpdate."""
        waiting = samples.where(samples.columns["delivered_tick"] > self._batch.outputs_tick(lane))
        columns = {name: waiting.columns[name] for name in _WAITING}
        return self._cancelled(lane, samples.component, columns, "sample")

    def _cancelled_inputs(self, lane: int) -> Iterator[TraceRows]:
        """Inputs on their way to a driver after the lane's last step, and those that were not even committed."""
        last = steps(self._batch, lane) - 1
        tables = [driver.event_table(lane) for driver in self._batch.parts.drivers.values()]
        late = [table["acceptance"][table["arrival_tick"] > last] for table in tables]
        under_way = np.concatenate(late) if late else np.empty(0, np.int64)
        for target, columns in self._sent.left_behind(lane, last, under_way).items():
            yield self._cancelled(lane, target, columns, "input")

    def _cancelled_actions(self, lane: int) -> Iterator[TraceEvent]:
        """Physical actions whose boundary the lane did not reach."""
        for pending in self._batch.actions.waiting(lane):
            if pending.tick >= steps(self._batch, lane):
                data = {"what": "action", "action": type(pending.action).__name__, "due_tick": pending.tick}
                tick, component = self._reached(lane), pending.component
                yield TraceEvent(kind="cancelled", episode_index=0, tick=tick, component=component, data=data)

    def _cancelled(self, lane: int, component: str, columns: Columns, what: str) -> TraceRows:
        count = len(columns["values"])
        ticks, details = np.full(count, self._reached(lane)), [{"what": what}] * count
        return TraceRows(kind="cancelled", component=component, ticks=ticks, columns=columns, details=details)

    def _reached(self, lane: int) -> int:
        stop = self._batch.stops.get(lane)
        return self._batch.tick if stop is None else stop.settled


def driven_columns(batch: InstanceBatch) -> dict[str, NDArray[np.intp]]:
    """The columns of ctrl that each driver has."""
    specs = batch.plans[0].manifest.components_with(Capability.ACTUATOR_DRIVER)
    return {name: batch.context.index.controls(spec.actuators) for name, spec in specs.items()}


def _samples(name: str, table: Columns) -> TraceRows:
    return TraceRows(kind="sample", component=name, ticks=table["acquired_tick"], columns=table)


def _pushes(name: str, table: Columns) -> TraceRows:
    columns = {key: column for key, column in table.items() if key != "tick"}
    return TraceRows(kind="push", component=name, ticks=table["tick"], columns=columns)
