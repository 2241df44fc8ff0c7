"""Findings: what the canary learned of how runs have to be executed, and what people should know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from sweep.execution.folder import SweepFolder
from sweep.execution.planning import PlannedSweep
from sweep.plan.plan import Plan
from sweep.plan.sections import RuntimeSpec
from sweep.results import Ledger

KEY = "canary"
"""Where provenance keeps what later sessions of a sweep must heed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found out; it changes how runs are executed and never what they are, so no id depends on it.

    Attributes:
        unbatched: controllers that compute one lane at a time: class to why, which their records tell.
        max_lanes: most runs in one call; None leaves it open.
        remarks: what people should know, a sentence each.
    """

    unbatched: Mapping[str, str] = field(default_factory=dict)
    max_lanes: int | None = None
    remarks: tuple[str, ...] = ()

    def __or__(self, other: Findings) -> Findings:
        """Both; what both say of a controller is taken from the other."""
        limits = [limit for limit in (self.max_lanes, other.max_lanes) if limit is not None]
        return Findings(
            unbatched={**self.unbatched, **other.unbatched},
            max_lanes=min(limits, default=None),
            remarks=tuple(dict.fromkeys((*self.remarks, *other.remarks))),
        )

    @classmethod
    def known(cls, folder: SweepFolder) -> Self:
        """What an earlier session of a sweep wrote down: the code is the same, so it holds."""
        if not folder.ledger.is_file():
            return cls()
        with Ledger.open(folder.ledger, read_only=True) as ledger:
            session = ledger.session()
            kept = (ledger.header if session is None else session).provenance.get(KEY, {})
        return cls(unbatched=kept.get("unbatched", {}), max_lanes=kept.get("max_lanes"))

    def told(self) -> Iterator[str]:
        """Everything, for people who see no records."""
        yield from self.remarks
        for name, why in self.unbatched.items():
            yield f"{name} will compute one lane at a time, which is slower: {why}"

    def applied(self, planned: PlannedSweep) -> PlannedSweep:
        """The sweep as it is to be executed; its header tells later sessions."""
        planned = replace(planned, warnings=self.remarks)
        if not self.unbatched and self.max_lanes is None:
            return planned
        plans = {run.plan.plan_id: run.plan for run in planned.runs}
        plans = {plan_id: self.heeded(plan) for plan_id, plan in plans.items()}
        kept = {"unbatched": dict(self.unbatched), "max_lanes": self.max_lanes}
        return replace(
            planned,
            header=replace(planned.header, provenance={**planned.header.provenance, KEY: kept}),
            runs=tuple(replace(run, plan=plans[run.plan.plan_id]) for run in planned.runs),
        )

    def heeded(self, plan: Plan) -> Plan:
        """A Plan as it is to be executed."""
        asked, controllers = plan.manifest.runtime, plan.manifest.controllers.items()
        found = {name: self.unbatched[spec.class_] for name, spec in controllers if spec.class_ in self.unbatched}
        limits = [limit for limit in (self.max_lanes, asked.max_lanes) if limit is not None]
        settings = {"unbatched": {**found, **asked.unbatched}, "max_lanes": min(limits, default=None)}
        return executed_with(plan, **settings) if found or limits else plan


def executed_with(plan: Plan, **settings: Any) -> Plan:
    """A Plan with other settings of :class:`RuntimeSpec` that are not of its identity."""
    runtime = RuntimeSpec.model_validate({**plan.manifest.runtime.opened(), **settings})
    return replace(plan, manifest=plan.manifest.model_copy(update={"runtime": runtime}))
