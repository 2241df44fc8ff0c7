"""What a lane leaves behind: its outcome, numbers, summaries and digest, read off the live batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sweep.plan.plan import run_id
from sweep.results.record import Outcome, RunRecord, Status
from sweep.runtime.fault import EpisodeEnd, Fault
from sweep.runtime.phases import Phase
from sweep.runtime.tracing.trace import combine

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch


def record(batch: InstanceBatch, lane: int) -> RunRecord:
    """One lane's record."""
    plan, seed = batch.plans[lane], batch.seeds[lane]
    stood = outcome(batch, lane)
    return RunRecord(
        run_id=run_id(plan.plan_id, seed),
        plan_id=plan.plan_id,
        seed=seed,
        outcome=stood,
        metrics=_metric_values(batch, lane, stood.status),
        summaries=_summaries(batch, lane),
        trace_digest=trace_digest(batch, lane),
        receipts={f"{n}/{s}": r for n, part in batch.parts.drawing.items() for s, r in part.receipts(lane).items()},
        remarks=tuple(remark for loop in batch.parts.loops.values() for remark in loop.remarks),
    )


def outcome(batch: InstanceBatch, lane: int) -> Outcome:
    """How a lane stands: stopped, completed, or cancelled if it is still short of the horizon."""
    stop, grid = batch.stops.get(lane), batch.grid
    if isinstance(stop, Fault):
        return Outcome(status=Status.FAULTED, tick=stop.tick, time_s=grid.time_s(stop.tick), phase=stop.phase.title,
                       kind=stop.kind, component=stop.component or None, message=stop.message)  # fmt: skip
    if isinstance(stop, EpisodeEnd):
        # The step completes, so what ended is the time at its end.
        return Outcome(status=Status.ENDED, tick=stop.tick, time_s=grid.time_s(stop.tick + 1), phase=stop.phase.title,
                       component=stop.component, reason=stop.reason, success=stop.success)  # fmt: skip
    status = Status.COMPLETED if batch.tick >= batch.horizon else Status.CANCELLED
    return Outcome(status=status, tick=batch.tick, time_s=grid.time_s(batch.tick))


def trace_digest(batch: InstanceBatch, lane: int) -> str:
    """Digest of the lane's trace so far."""
    batch.observation.flush()
    parts = {name: column.digest(lane) for name, column in batch.columns.items()}
    parts |= {f"device/{name}": device.digest(lane) for name, device in batch.parts.devices.items()}
    parts |= {f"driver/{name}": driver.digest(lane) for name, driver in batch.parts.drivers.items()}
    domain = batch.domain.digest(lane)
    if domain is not None:
        parts["domain"] = domain
    stop = batch.stops.get(lane)
    ending = "" if stop is None else f"{type(stop).__name__} {stop.tick} {stop.phase.name} {stop.component}"
    return combine(parts, ending)


def steps(batch: InstanceBatch, lane: int) -> int:
    """Steps whose ActuatorApplication happened."""
    stop = batch.stops.get(lane)
    return batch.tick if stop is None else stop.tick + (stop.phase > Phase.ACTUATOR_APPLICATION)


def _metric_values(batch: InstanceBatch, lane: int, status: Status) -> dict[str, float | None]:
    """The lane's metrics; None where the metric's window was not completed."""
    complete = status is Status.COMPLETED
    ended = complete or status is Status.ENDED
    batch.observation.flush()
    return {
        name: metric.value(lane) if (complete if metric.spec.window == "horizon" else ended) else None
        for name, metric in batch.parts.metrics.items()
    }


def _summaries(batch: InstanceBatch, lane: int) -> dict[str, float]:
    """Trace summaries of the lane, ``component/quantity``."""
    parts, count = batch.parts, steps(batch, lane)
    found: dict[str, dict[str, float]] = {
        name: device.summary(lane, batch.outputs_tick(lane)) for name, device in parts.devices.items()
    }
    found |= {name: driver.summary(lane, count) for name, driver in parts.drivers.items()}
    found |= {name: push.summary(lane) for name, push in parts.disturbances.items()}
    found |= {name: loop.summary(lane) for name, loop in parts.loops.items()}
    found |= {name: observer.summary(lane) for name, observer in parts.observers.items()}
    return {f"{name}/{key}": value for name, part in found.items() for key, value in part.items()}
