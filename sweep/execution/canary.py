"""Canary: what is looked at before a sweep begins, and its first run, which goes ahead of all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, TypeVar

from sweep.design import Run
from sweep.execution.apart import DiedError, call_apart
from sweep.execution.findings import Findings
from sweep.execution.landing import landing_remarks
from sweep.execution.lane_check import lane_findings, own_classes
from sweep.execution.planning import PlannedSweep
from sweep.plan.plan import Plan
from sweep.results import RunRecord, Status

T = TypeVar("T")

LIMIT_S = 20.0
"""Wall time after which a look at the user's own code is given up [s]; it should take a tenth of a second."""

ANYWAY = "canary=false"
"""What is typed to do without all of it."""

OF_PHYSICS = ("diverged", "overflow")
"""Kinds of fault that a sweep may be looking for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """The run that goes first: the baseline's first seed.

    Attributes:
        run: it.
        label: its cell, for people.
        is_reference: whether its cell is the nominal one, or the baseline that was asked for.
    """

    run: Run
    label: str
    is_reference: bool

    @classmethod
    def of(cls, planned: PlannedSweep) -> Self:
        """The canary of a sweep."""
        run = _first_run(planned)
        label = next(cell.label for cell in planned.cells if cell.cell_id == run.cell_id)
        is_nominal = run.plan.plan_id == planned.base.plan_id
        return cls(run=run, label=label, is_reference=is_nominal or planned.header.baseline == run.cell_id)

    def ahead(self, runs: Sequence[Run]) -> tuple[Run, ...]:
        """Runs in their order, but for the canary, which comes first if it is among them."""
        return tuple(sorted(runs, key=lambda run: run.run_id != self.run.run_id))

    def alarm(self, records: Iterable[RunRecord]) -> str:
        """Why the sweep should not go on after some records; empty if it should, and if the canary's is not there.

        A cell that nobody called the baseline may be where the physics breaks; its code should work there, too.
        """
        outcome = next((record.outcome for record in records if record.run_id == self.run.run_id), None)
        if outcome is None or outcome.status is not Status.FAULTED:
            return ""
        if not self.is_reference and outcome.kind in OF_PHYSICS:
            return ""
        first = f"the first run ({self.label}, seed {self.run.seed})"
        return f"stopping: {first} faulted, and the others may do the same; {ANYWAY} runs them in any case"


def examine(planned: PlannedSweep) -> Findings:
    """Look at a sweep before it begins: whether each axis lands, and whether the user's own code keeps runs apart.

    Nothing of it is a run.  It takes about a tenth of a second, up to one more where an axis changes nothing, and more
    where a control period of the user's own takes long.  Their code is tried in a process of its own: it may crash or
    hang, and what it remembers must not reach runs.
    """
    own = sorted({name for plan in _plans(planned) for name in own_classes(plan)})
    if not own:
        return _looked(planned)
    try:
        return call_apart(partial(_looked, planned), LIMIT_S)
    except DiedError as error:
        return Findings(remarks=(f"the look ahead at {', '.join(own)} {error}; runs begin without it",))


def _looked(planned: PlannedSweep) -> Findings:
    first = _first_run(planned)
    varied = [plan for contrast in planned.contrasts for plan in contrast.plans]
    found = _attempted(partial(lane_findings, [first.plan, *_plans(planned)], varied)) or Findings()
    # The lanes of a controller that mixes them would all land, or none.
    contrasts = [replace(c, plans=(found.heeded(c.plans[0]), found.heeded(c.plans[1]))) for c in planned.contrasts]
    remarks = _attempted(partial(landing_remarks, contrasts, first.seed)) or ()
    return replace(found, remarks=(*remarks, *found.remarks))


def _attempted(look: Callable[[], T]) -> T | None:
    """What a look shows; None where user code raises, which the runs themselves tell of."""
    try:
        return look()
    except (Exception, SystemExit):  # noqa: BLE001 - it may raise anything
        return None


def _first_run(planned: PlannedSweep) -> Run:
    """Of the baseline; of the nominal cell if none is chosen, as in a sweep that is resumed."""
    of_baseline = (run for run in planned.runs if run.cell_id == planned.baseline)
    nominal = (run for run in planned.runs if run.plan.plan_id == planned.base.plan_id)
    return next(of_baseline, next(nominal, planned.runs[0]))


def _plans(planned: PlannedSweep) -> list[Plan]:
    """One Plan of each layout, to which classes belong."""
    return [*{run.plan.layout: run.plan for run in reversed(planned.runs)}.values()]
