"""Lane check: whether a run has the numbers among others that it has alone, which a user's own code may spoil."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sweep.errors import InvalidInputError
from sweep.execution.findings import Findings, executed_with
from sweep.execution.suspicion import habit, influence
from sweep.plan.component import Capability
from sweep.plan.plan import Plan
from sweep.plan.variant import with_parameters
from sweep.runtime.batch import InstanceBatch
from sweep.runtime.control.controller import load_controller

OURS = "sweep."
"""What the classes that come with the package start with; those have tests of their own."""

LANES = 7
"""Runs side by side: an odd number, which no kernel of a BLAS divides into whole blocks."""

CALLS = 8
"""Calls of each of the user's controllers that are compared ..."""

LEAST_CALLS = 2
"""... and where those take long, ..."""

SPAN_S = 0.1
"""... more than this for a run alone [s]."""

LATE = 3
"""Control periods by which one lane's inputs come late: state in a wrong place shows once lanes are not in step."""


def own_classes(plan: Plan) -> list[str]:
    """The user's own classes of a Plan."""
    return [name for name in plan.manifest.user_classes if not name.startswith(OURS)]


def lane_findings(plans: Iterable[Plan], varied: Sequence[Plan] = ()) -> Findings:
    """What there is to know of the user's own classes in a sweep; nothing if there are none.

    Args:
        plans: those of the sweep, the most usual first.
        varied: extremes of its axes, for lanes that differ.

    Raises:
        Exception: what user code raises for a run that is alone.
    """
    found, seen = Findings(), set[tuple[str, ...]]()
    for plan in plans:
        classes = tuple(own_classes(plan)) if plan.manifest.runtime.max_lanes != 1 else ()
        if classes and classes not in seen:
            seen.add(classes)
            found |= _Comparison(plan, varied).findings()
    return found


class _Comparison:
    """A few runs of one layout, each alone and all together."""

    def __init__(self, plan: Plan, varied: Sequence[Plan]) -> None:
        self._controllers = plan.manifest.controllers
        self._classes = own_classes(plan)
        others = list({p.plan_id: p for p in varied if p.layout == plan.layout and p.plan_id != plan.plan_id}.values())
        others = others[2 - LANES :]
        self._plans = [plan, _late(plan), *[plan] * (LANES - 2 - len(others)), *others]
        self._watched = sorted({0, 1, LANES - 2, LANES - 1})
        self._ticks = 0

    def findings(self) -> Findings:
        """Compare, and where the numbers differ find out what helps."""
        self._ticks = self._span()
        alone = self._alone()
        why, together = self._together(())
        if together == alone and not why:
            return Findings()
        if self._alone() != alone:
            return Findings(remarks=(self._irreproducible(),))
        suspects = [name for name in self._controllers if self._is_suspect(name)]
        if suspects and self._together(suspects) == ("", alone):
            guilty = [n for n in suspects if self._together(set(suspects) - {n}) != ("", alone)] or suspects
            return Findings(unbatched={self._controllers[n].class_: why or self._why(n) for n in guilty})
        return Findings(max_lanes=1, remarks=(self._one_by_one(),))

    def _span(self) -> int:
        """Ticks until the user's controllers were called often enough in the late lane."""
        batch, started = self._batch([1]), time.perf_counter()
        loops = [loop for name, loop in batch.parts.loops.items() if self._is_own(name)]
        step = max([1, *(batch.grid.ticks(self._controllers[loop.name].period_s) for loop in loops)])
        most = min(batch.horizon, (CALLS + 2 * LATE) * step)
        while batch.living and batch.tick < most:
            batch.advance(min(step, most - batch.tick))
            calls = min((int(loop.acted[0]) for loop in loops), default=batch.tick // CALLS)
            if calls >= (CALLS if time.perf_counter() - started < SPAN_S else LEAST_CALLS):
                break
        return batch.tick

    def _alone(self) -> list[str]:
        return [self._digests(self._batch([lane]))[0] for lane in self._watched]

    def _together(self, apart: Iterable[str]) -> tuple[str, list[str]]:
        """What goes wrong with many lanes at once, in words, and the digests of the lanes that are watched."""
        try:
            batch = self._batch(range(LANES), apart)
        except Exception as error:  # noqa: BLE001 - code that is made for one lane raises anything here
            return f"it cannot be made for many lanes ({type(error).__name__}: {error})", []
        digests = self._digests(batch)
        raised = next((loop.raised for loop in batch.parts.loops.values() if loop.raised), "")
        text = f"it raises for many lanes what it raises for none alone ({raised})" if raised else ""
        return text, [digests[lane] for lane in self._watched]

    def _batch(self, lanes: Iterable[int], apart: Iterable[str] = ()) -> InstanceBatch:
        """Some of the runs, with some controllers computing one lane at a time."""
        seeds, compared = list(lanes), dict.fromkeys(apart, "compared")
        plans = [self._plans[lane] for lane in seeds]
        plans = [executed_with(p, unbatched={**p.manifest.runtime.unbatched, **compared}) for p in plans]
        return InstanceBatch(plans, seeds, trace="summary")

    def _digests(self, batch: InstanceBatch) -> list[str]:
        batch.advance(self._ticks)
        return [batch.trace_digest(lane) for lane in range(batch.lanes)]

    def _is_own(self, name: str) -> bool:
        return self._controllers[name].class_ in self._classes

    def _is_suspect(self, name: str) -> bool:
        """Whether one object computes all lanes."""
        manifest = self._plans[0].manifest
        found = load_controller(self._controllers[name].class_, manifest.folder)
        return self._is_own(name) and name not in manifest.runtime.unbatched and not hasattr(found, "takes_acting")

    def _why(self, name: str) -> str:
        last = LANES - 1
        return habit(self._batch([0]), name, self._ticks) or influence(
            self._batch([last]), self._batch(range(LANES)), name, self._ticks
        )

    def _irreproducible(self) -> str:
        causes = (habit(self._batch([0]), name, self._ticks) for name in self._controllers if self._is_own(name))
        drawn = next((cause for cause in causes if "draws" in cause), "")
        cause = drawn or "it reads the time of day, has a generator without a seed, or a module remembers the last run"
        who = ", ".join(self._classes)
        return f"the same run twice gave other numbers, because of {who}: {cause}. Replays will not agree"

    def _one_by_one(self) -> str:
        who = ", ".join(self._classes)
        return (
            f"among {LANES} runs one has other numbers than alone, because of {who}: runs are simulated one by one, "
            "several times slower"
        )


def _late(plan: Plan) -> Plan:
    """The Plan with later inputs of the user's controllers; the same where that is not allowed."""
    try:
        return replace(plan, manifest=with_parameters(plan.manifest, dict(_late_inputs(plan))))
    except InvalidInputError:
        return plan


def _late_inputs(plan: Plan) -> Iterator[tuple[str, float]]:
    devices, grid = plan.manifest.components_with(Capability.DEVICE), plan.grid
    for controller in plan.manifest.controllers.values():
        for name in controller.inputs:
            ticks = grid.ticks(devices[name].latency_s) + LATE * grid.ticks(controller.period_s)
            yield f"components.{name}.latency_s", grid.time_s(ticks)
