"""InstanceBatch: many Instances of one layout, advanced together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index as as_index

import numpy as np
from numpy.typing import NDArray

from sweep.errors import FaultedError, InvalidInputError, Problem
from sweep.plan.plan import Plan
from sweep.plan.problems import unknown_name
from sweep.plan.sections import TRACE_LEVELS, TraceLevel
from sweep.results.record import Outcome, RunRecord
from sweep.runtime import accounting
from sweep.runtime.assembly import Assembly
from sweep.runtime.block import Block, BlockView, longest_in_memory
from sweep.runtime.context import BatchContext, reference_tables
from sweep.runtime.cycle import run_block
from sweep.runtime.domain.commit import Domain
from sweep.runtime.domain.deferred import DeferredActions
from sweep.runtime.fault import Stop
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.model import open_model
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.observation import Observation, Observer
from sweep.runtime.output import DeviceOutput
from sweep.runtime.phases import Phase
from sweep.runtime.physics import LanePhysics
from sweep.runtime.tracing.recorder import TraceRecorder
from sweep.runtime.tracing.trace import TraceColumn


class InstanceBatch:
    """Independent Instances that share a layout, one per lane.

    A lane's bits do not depend on its neighbours, on ``threads`` or on ``max_block``.

    Args:
        plans: the Plan of each lane; all of one layout.
        seeds: the episode seed of each lane.
        max_block: longest block of ticks executed at once; None means as long as semantics allow.
        threads: threads that physics of different lanes runs on.
        trace: how much is kept of every lane; as much as any of the Plans says by default.
        observers: further Observers, which see completed steps after the metrics.
        mailbox: where input comes from; a new one by default.

    Attributes:
        tick: the boundary that lanes alive have reached.
        alive: ``(lanes,)`` lanes that have neither faulted nor ended.
        living: their number.
        stops: why the others are not alive.
        recorder: what is kept for traces; None at the level of summaries.

    Raises:
        InvalidInputError: no plans, another number of seeds, or plans of different layouts.
    """

    def __init__(self, plans: Sequence[Plan], seeds: Sequence[int], max_block: int | None = None, threads: int = 1, *,
                 trace: TraceLevel | None = None, observers: Iterable[Observer] = (),
                 mailbox: Mailbox | None = None) -> None:  # fmt: skip
        _check(plans, seeds, max_block, threads, trace)
        self.plans = tuple(plans)
        self.seeds = tuple(int(seed) for seed in seeds)
        self.lanes = len(plans)
        self.grid = plans[0].grid
        self.horizon = plans[0].horizon
        self._max_block = max_block if max_block is not None else plans[0].manifest.runtime.max_block
        manifests = [plan.manifest for plan in plans]
        level = max((m.runtime.trace for m in manifests), key=TRACE_LEVELS.index) if trace is None else trace
        model = open_model(plans[0].model)
        self.context = BatchContext(
            lanes=self.lanes,
            index=ModelIndex(model),
            grid=self.grid,
            seeds=self.seeds,
            references=reference_tables([m.references for m in manifests], self.grid),
            keep_events=level != "summary",
            folder=manifests[0].folder,
            files=plans[0].files,
        )
        self.parts = Assembly.of(manifests, self.context)
        self.recorder = TraceRecorder(level, self.context) if self.context.keep_events else None
        observers, traced = tuple(observers), () if self.recorder is None else self.recorder.fields
        self.reading = self.parts.reading(manifests[0], model, observers, traced)
        self.physics = LanePhysics(manifests, model, threads, self.parts.input_layout(model))
        self.mailbox = Mailbox(self.grid) if mailbox is None else mailbox
        self.actions = DeferredActions(self.grid, self.context.index, plans[0].manifest.claimed)
        self.domain = Domain(
            self.lanes,
            self.actions,
            self.parts.interactions,
            self.parts.observers,
            keep_events=self.context.keep_events,
        )
        self.tick = 0
        self.alive: NDArray[np.bool_] = np.ones(self.lanes, bool)
        self.living = self.lanes
        self.stops: dict[int, Stop] = {}
        self._establish_poses()
        self.boundary = self.physics.boundary()
        widths = {"states": self.context.state_width, "controls": int(model.nu)}
        others = sum(part.shape[2] for part in self.physics.inputs(Block(0, 1)).others)
        if others:
            widths["inputs"] = others
        self.columns = {name: TraceColumn(self.lanes, width) for name, width in widths.items()}
        self.observation = Observation(
            [*self.parts.metrics.values(), *observers], self.columns, self.context.state_width, self.recorder
        )
        row_bytes = 8 * self.lanes * (3 * self.context.state_width + int(model.nu) + others)
        row_bytes += self.physics.record_bytes(self.reading.recorded)
        self._longest = 1 if self.parts.one_tick or self.reading.every_tick else longest_in_memory(row_bytes)
        if self._max_block is not None:
            self._longest = min(self._longest, self._max_block)
        self._torn = False  # whether something left a block before its end
        # Per lane, the last tick whose DeviceUpdate happened.
        self._updated = np.full(self.lanes, -1, np.int64)

    def advance(self, ticks: int) -> None:
        """Advance all lanes alive by a number of ticks, running controllers as they come due.

        Raises:
            ValueError: a negative number.
            FaultedError: a step was cut short before.
        """
        if as_index(ticks) < 0:
            raise ValueError(f"a batch advances by 0 or more ticks, not {ticks}")
        self._advance_to(self.tick + as_index(ticks))

    def run(self, after_block: Callable[[InstanceBatch], None] | None = None) -> list[RunRecord]:
        """Run to the horizon and return one record per lane, in order.

        Args:
            after_block: called after each block; what it raises ends the run there.
        """
        while self.advance_block():
            if after_block is not None:
                after_block(self)
        return self.records()

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do: the horizon is reached, or no lane lives."""
        return self.tick >= self.horizon or not self.living

    def advance_block(self) -> bool:
        """Run one block towards the horizon; False once there is nothing left to do."""
        if self.is_over:
            return False
        self._run(self._next(self.horizon))
        return True

    def records(self) -> list[RunRecord]:
        """One record per lane of what has happened so far."""
        return [self.record(lane) for lane in range(self.lanes)]

    def record(self, lane: int) -> RunRecord:
        """One lane's record."""
        return accounting.record(self, lane)

    def outcome(self, lane: int) -> Outcome:
        """How a lane stands: stopped, completed, or cancelled if it is still short of the horizon."""
        return accounting.outcome(self, lane)

    def trace_digest(self, lane: int) -> str:
        """Digest of the lane's trace so far: states and inputs, samples, commands, the domain, and how it stopped."""
        return accounting.trace_digest(self, lane)

    def outputs(self) -> dict[str, DeviceOutput]:
        """What each device shows now, in every lane."""
        return {name: device.output(self._updated) for name, device in self.parts.devices.items()}

    def outputs_tick(self, lane: int) -> int:
        """The lane's last tick whose DeviceUpdate happened, -1 before the first."""
        return int(self._updated[lane])

    def take_over_state(self) -> None:
        """Go on from what was written into the physics' state since the last step."""
        self.observation.flush()  # what it holds ends with the boundary as it was
        self.boundary = self.physics.boundary()

    # What follows is called by the cycle, in this order.

    def confine(self, view: BlockView, stops: dict[int, Stop]) -> None:
        """Say in the view how far each lane lived, if any did not live through the whole block."""
        if not stops and self.living == self.lanes:
            return
        through = np.where(self.alive, view.block.stop - 1, -1)
        settled = np.where(self.alive, view.block.length, 0)
        for lane, stop in stops.items():
            through[lane] = stop.tick - (stop.phase <= Phase.DEVICE_UPDATE)
            settled[lane] = stop.settled - view.block.start
        view.through, view.settled = through, settled

    def retire(self, view: BlockView, stops: dict[int, Stop], saved: NDArray[np.float64]) -> None:
        """Put stopped lanes where they stopped, and go on to the block's end with the others."""
        self.boundary = view.boundaries[:, -1].copy()
        if self.living == self.lanes:
            self._updated.fill(view.block.stop - 1)
        else:
            self._updated[self.alive] = view.block.stop - 1
        for lane, stop in stops.items():
            settled = stop.settled - view.block.start
            if settled < view.block.length:
                self.physics.rewind(lane, saved, view.inputs, settled)
            self.boundary[lane] = self.physics.boundary()[lane]
            self._updated[lane] = int(view.through[lane]) if view.through is not None else stop.tick
            self._stop(lane, stop)
        self.tick = view.block.stop

    def run_controllers(self, block: Block) -> None:
        """Run the controllers that are due after the block's last step."""
        last = block.stop - 1
        # In the order of their ids, so that of two that raise in one lane the least is its fault.
        shown: dict[str, DeviceOutput] = {}
        for loop in self.parts.loops.values():
            if not self.living or loop.next_due(last) != last:
                continue
            # 13 ExternalOutputPublish: immutable outputs of the completed boundary
            for name in loop.inputs:
                if name not in shown:
                    shown[name] = self.parts.devices[name].output(self._updated)
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
            self._run(self._next(tick))

    def _run(self, block: Block) -> None:
        if self._torn:
            message = "a step was cut short, by Ctrl-C for example, and what it left is no boundary"
            raise FaultedError(f"{message}; reset() begins a new episode")
        self._torn = True
        run_block(self, block)
        self._torn = False

    def _next(self, limit: int) -> Block:
        start = self.tick
        limit = min(limit, start + (1 if self.mailbox.open_producers else self._longest))
        if self.reading.forced:
            limit = min(limit, self.reading.next_forced(start))
        for loop in self.parts.loops.values():
            # It runs after the step at which it is due, so that is the last one whose inputs are known before.
            limit = min(limit, loop.next_due(start) + 1)
        return Block(start, limit)

    def _establish_poses(self) -> None:
        """Prescribed bodies stand where they are prescribed from the first boundary on."""
        inputs = self.physics.inputs(Block(0, 1))
        for prescribed in self.parts.prescribed.values():
            prescribed.apply(Block(0, 1), inputs)
        self.physics.pose(inputs, 0)


def _check(
    plans: Sequence[Plan], seeds: Sequence[int], max_block: int | None, threads: int, trace: TraceLevel | None
) -> None:
    problems = [
        Problem(name, f"must be a whole number of at least 1, not {value!r}")
        for name, value in (("max_block", max_block), ("threads", threads))
        if value is not None and not (isinstance(value, int | np.integer) and value >= 1)
    ]
    problems += unknown_name("trace", "level", () if trace is None else (trace,), TRACE_LEVELS)
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
