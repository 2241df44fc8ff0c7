"""InstanceBatch: many Instances of one layout, advanced together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem
from sweep.plan.component import Capability
from sweep.plan.plan import Plan, run_id
from sweep.results.record import Outcome, RunRecord, Status
from sweep.runtime.block import Block, BlockView, next_block, next_due
from sweep.runtime.components import live_class
from sweep.runtime.components.metric import Metric
from sweep.runtime.context import BatchContext, reference_tables
from sweep.runtime.control_loop import ControlLoop
from sweep.runtime.cycle import run_block
from sweep.runtime.fault import EpisodeEnd, Fault, Stop
from sweep.runtime.mailbox import Mailbox
from sweep.runtime.model import open_model
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.observation import Observation, Observer
from sweep.runtime.output import DeviceOutput
from sweep.runtime.physics import LanePhysics
from sweep.runtime.trace import TraceColumn, combine


class InstanceBatch:
    """Independent Instances that share a layout, one per lane.

    A lane's bits do not depend on its neighbours, on ``threads`` or on ``max_block``.

    Args:
        plans: the Plan of each lane; all of one layout.
        seeds: the episode seed of each lane.
        max_block: longest block of ticks executed at once; None means as long as semantics allow.
        threads: threads that physics of different lanes runs on.
        keep_events: remember every sample and input, for :meth:`SimulationInstance.events`.
        observers: further Observers, which see completed steps after the metrics.
        mailbox: where input comes from; a new one by default.

    Attributes:
        tick: the boundary that lanes alive have reached.
        alive: ``(lanes,)`` lanes that have neither faulted nor ended.
        living: their number.
        stops: why the others are not alive.

    Raises:
        InvalidInputError: no plans, another number of seeds, or plans of different layouts.
    """

    def __init__(self, plans: Sequence[Plan], seeds: Sequence[int], max_block: int | None = None, threads: int = 1, *,
                 keep_events: bool = False, observers: Iterable[Observer] = (),
                 mailbox: Mailbox | None = None) -> None:  # fmt: skip
        _check(plans, seeds, max_block, threads)
        self.plans = tuple(plans)
        self.seeds = tuple(int(seed) for seed in seeds)
        self.lanes = len(plans)
        self.grid = plans[0].grid
        self.horizon = plans[0].horizon
        self._max_block = max_block if max_block is not None else plans[0].manifest.runtime.max_block
        manifests = [plan.manifest for plan in plans]
        first = manifests[0]
        model = open_model(plans[0].model)
        self.physics = LanePhysics(manifests, model, threads)
        self.context = BatchContext(
            lanes=self.lanes,
            index=ModelIndex(model),
            grid=self.grid,
            seeds=self.seeds,
            references=reference_tables([m.references for m in manifests], self.grid),
            keep_events=keep_events,
        )
        self.mailbox = Mailbox(self.grid) if mailbox is None else mailbox
        self.devices = self._live(Capability.DEVICE)
        self.drivers = self._live(Capability.ACTUATOR_DRIVER)
        self.interactions = self._live(Capability.INTERACTION)
        self.metrics = {name: Metric(spec, self.context) for name, spec in first.metrics.items()}
        self.loops = {
            name: ControlLoop(
                name,
                [m.controllers[name] for m in manifests],
                self.context,
                devices=self.devices,
                drivers=self.drivers,
                components=first.components,
                folder=first.folder,
            )
            for name in first.controllers
        }
        self.tick = 0
        self.alive: NDArray[np.bool_] = np.ones(self.lanes, bool)
        self.living = self.lanes
        self.stops: dict[int, Stop] = {}
        self.boundary = self.physics.boundary()
        self._states = TraceColumn(self.lanes, self.context.state_width)
        self._controls = TraceColumn(self.lanes, int(model.nu))
        self.observation = Observation([*self.metrics.values(), *observers], self._states, self._controls)
        self._row_bytes = 8 * self.lanes * (3 * self.context.state_width + int(model.nu))
        # Per lane, the last tick whose DeviceUpdate happened.
        self._updated = np.full(self.lanes, -1, np.int64)

    def advance(self, ticks: int) -> None:
        """Advance all lanes alive by a number of ticks, running controllers as they come due."""
        self._advance_to(self.tick + ticks)

    def run(self) -> list[RunRecord]:
        """Run to the horizon and return one record per lane, in order."""
        while self.advance_block():
            pass
        return self.records()

    def advance_block(self) -> bool:
        """Run one block towards the horizon; False once there is nothing left to do."""
        if self.tick >= self.horizon or not self.living:
            return False
        run_block(self, self._next(self.horizon))
        return True

    def records(self) -> list[RunRecord]:
        """One record per lane of what has happened so far."""
        return [self.record(lane) for lane in range(self.lanes)]

    def record(self, lane: int) -> RunRecord:
        """One lane's record."""
        plan, seed = self.plans[lane], self.seeds[lane]
        outcome = self.outcome(lane)
        return RunRecord(
            run_id=run_id(plan.plan_id, seed),
            plan_id=plan.plan_id,
            seed=seed,
            outcome=outcome,
            metrics=self.metric_values(lane, outcome.status),
            summaries=self.summaries(lane),
            trace_digest=self.trace_digest(lane),
            receipts={f"{n}/{s}": r for n, d in self.devices.items() for s, r in d.receipts(lane).items()},
        )

    def outcome(self, lane: int) -> Outcome:
        """How a lane stands: stopped, completed, or cancelled if it is still short of the horizon."""
        stop = self.stops.get(lane)
        if isinstance(stop, Fault):
            time_s = self.grid.time_s(stop.tick)
            return Outcome(status=Status.FAULTED, tick=stop.tick, time_s=time_s, phase=stop.phase.title,
                           kind=stop.kind, component=stop.component or None, message=stop.message)  # fmt: skip
        if isinstance(stop, EpisodeEnd):
            # The step completes, so what ended is the time at its end.
            time_s = self.grid.time_s(stop.tick + 1)
            return Outcome(status=Status.ENDED, tick=stop.tick, time_s=time_s, phase=stop.phase.title,
                           component=stop.component, reason=stop.reason, success=stop.success)  # fmt: skip
        status = Status.COMPLETED if self.tick >= self.horizon else Status.CANCELLED
        return Outcome(status=status, tick=self.tick, time_s=self.grid.time_s(self.tick))

    def metric_values(self, lane: int, status: Status) -> dict[str, float | None]:
        """The lane's metrics; None where the metric's window was not completed."""
        complete = status is Status.COMPLETED
        ended = complete or status is Status.ENDED
        self.observation.flush()
        return {
            name: metric.value(lane) if (complete if metric.spec.window == "horizon" else ended) else None
            for name, metric in self.metrics.items()
        }

    def summaries(self, lane: int) -> dict[str, float]:
        """Trace summaries of the lane, ``component/quantity``."""
        tick, steps = int(self._updated[lane]), self.steps(lane)
        found: dict[str, dict[str, float]] = {n: d.summary(lane, tick) for n, d in self.devices.items()}
        found |= {name: driver.summary(lane, steps) for name, driver in self.drivers.items()}
        found |= {name: loop.summary(lane) for name, loop in self.loops.items()}
        return {f"{name}/{key}": value for name, part in found.items() for key, value in part.items()}

    def steps(self, lane: int) -> int:
        """Steps whose ActuatorApplication happened."""
        stop = self.stops.get(lane)
        return self.tick if stop is None else stop.tick + 1

    def trace_digest(self, lane: int) -> str:
        """Digest of the lane's trace so far: states and controls, samples, committed inputs, and how it stopped."""
        self.observation.flush()
        columns = {"states": self._states.digest(lane), "controls": self._controls.digest(lane)}
        columns |= {f"device/{name}": device.digest(lane) for name, device in self.devices.items()}
        columns |= {f"driver/{name}": driver.digest(lane) for name, driver in self.drivers.items()}
        stop = self.stops.get(lane)
        ending = "" if stop is None else f"{type(stop).__name__} {stop.tick} {stop.phase.name} {stop.component}"
        return combine(columns, ending)

    def outputs(self) -> dict[str, DeviceOutput]:
        """What each device shows now, in every lane."""
        return {name: device.output(self._updated) for name, device in self.devices.items()}

    def outputs_tick(self, lane: int) -> int:
        """The lane's last tick whose DeviceUpdate happened, -1 before the first."""
        return int(self._updated[lane])

    # What follows is called by the cycle, in this order.

    def least_stops(self, view: BlockView, faults: dict[int, Stop]) -> dict[int, Stop]:
        """Phases 9 and 10: evaluate interactions; where several things stop a lane, the least of them happened."""
        stops = dict(faults)
        for interaction in self.interactions.values():
            for lane, end in interaction.evaluate(view).items():
                if lane not in stops or end.order < stops[lane].order:
                    stops[lane] = end
        return stops

    def confine(self, view: BlockView, stops: dict[int, Stop]) -> None:
        """Say in the view how far each lane lived, if any did not live through the whole block."""
        if not stops and self.living == self.lanes:
            return
        through = np.where(self.alive, view.block.stop - 1, -1)
        settled = np.where(self.alive, view.block.length, 0)
        for lane, stop in stops.items():
            through[lane] = stop.tick
            settled[lane] = stop.settled - view.block.start
        view.through, view.settled = through, settled

    def retire(self, view: BlockView, stops: dict[int, Stop], saved: NDArray[np.float64]) -> None:
        """Put stopped lanes where they stopped, and go on to the block's end with the others."""
        self.boundary = view.boundaries[:, -1].copy()
        self._updated[self.alive] = view.block.stop - 1
        for lane, stop in stops.items():
            settled = stop.settled - view.block.start
            if settled < view.block.length:
                self.physics.rewind(lane, saved, view.controls[lane, :settled])
            self.boundary[lane] = view.boundaries[lane, settled]
            self._updated[lane] = stop.tick
            self._stop(lane, stop)
        self.tick = view.block.stop

    def run_controllers(self, block: Block) -> None:
        """Run the controllers that are due after the block's last step."""
        last = block.stop - 1
        # In the order of their ids, so that of two that raise in one lane the least is its fault.
        due = [self.loops[name] for name in sorted(self.loops) if next_due(self.loops[name].schedule, last) == last]
        if not due or not self.living:
            return
        shown = self.outputs()  # 13 ExternalOutputPublish: an immutable output of the completed boundary
        for loop in due:
            for lane, fault in loop.run(last, shown, self.alive, self.mailbox).items():
                self._stop(lane, fault)

    def _stop(self, lane: int, stop: Stop) -> None:
        known = self.stops.get(lane)
        if known is None or stop.order < known.order:
            self.stops[lane] = stop
        self.alive = self.alive.copy()
        self.alive[lane] = False
        self.living = int(self.alive.sum())

    def _advance_to(self, tick: int) -> None:
        while self.tick < tick and self.living:
            run_block(self, self._next(tick))

    def _next(self, limit: int) -> Block:
        schedules = [loop.schedule for loop in self.loops.values()]
        return next_block(self.tick, limit, schedules, max_block=self._max_block, row_bytes=self._row_bytes)

    def _live(self, capability: Capability) -> dict[str, Any]:
        names = self.plans[0].manifest.components_with(capability)
        return {
            name: live_class(spec)(name, [p.manifest.components[name] for p in self.plans], self.context)
            for name, spec in names.items()
        }


def _check(plans: Sequence[Plan], seeds: Sequence[int], max_block: int | None, threads: int) -> None:
    problems = [
        Problem(name, f"must be at least 1, not {value}")
        for name, value in (("max_block", max_block), ("threads", threads))
        if value is not None and value < 1
    ]
    if not plans or len(plans) != len(seeds):
        problems.append(Problem("", f"{len(plans)} plans and {len(seeds)} seeds; each lane has one of both"))
    if len({plan.layout for plan in plans}) > 1:
        problems.append(
            Problem("plans", "lanes of one batch share a layout: the same components, joints and schedules")
        )
    problems += [
        Problem("seeds", f"{seed!r} is not an integer in 0 .. 2**64-1")
        for seed in seeds
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= int(seed) < 2**64
    ]
    if problems:
        raise InvalidInputError("batch", problems)
