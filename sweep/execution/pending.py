"""What is to be run, and why: every run of a plan against what the ledger has of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sweep.design.run import Run, distinct_runs
from sweep.execution.code import code_id
from sweep.execution.planning import PlannedSweep
from sweep.execution.traces import untraced_runs
from sweep.results import Ledger, Status
from sweep.results.attempts import Ending, RunHistory


class Reason(StrEnum):
    """Why a run is run, in words that follow a count."""

    NEW = "new"
    CANCELLED = "stopped before"
    ORPHANED = "in hand when the driver died"
    DIED = "whose worker died"
    LOST = "lost before"
    TIMED_OUT = "out of time before"
    CODE = "whose code changed"
    TRACE = "without the trace asked for"


_AFTER = {
    Ending.CANCELLED: Reason.CANCELLED,
    Ending.ORPHANED: Reason.ORPHANED,
    Ending.DIED: Reason.DIED,
    Ending.OVERDUE: Reason.TIMED_OUT,
    None: Reason.ORPHANED,  # still in hand, and whoever had it is gone
}
"""Why a run is run again whose last attempt ended like this."""

_AS_BEFORE = {
    Status.LOST: Reason.LOST,
    Status.CANCELLED: Reason.CANCELLED,
    Status.TIMED_OUT: Reason.TIMED_OUT,
}
"""Why a run is run again whose record is this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The runs of a plan, told apart.

    Attributes:
        runs: what is to be run, in the plan's order, each once.
        reasons: how many of them for which reason.
        suspects: run_ids of those that may kill the process they run in, because they may have done so before.
        reused: runs that are answered, or would be out of time again.
        left: lost runs that are left alone: they killed their process, and would now kill the driver.
    """

    runs: tuple[Run, ...]
    reasons: Mapping[Reason, int]
    suspects: frozenset[str]
    reused: int
    left: int


def pending_work(
    planned: PlannedSweep, ledger: Ledger, *, isolates: bool = True, timeout_s: float | None = None
) -> Work:
    """What of a plan is not answered under the code it would run with now, or lacks the trace asked for.

    A run that has its record keeps it: running again for a trace gives an equal one.

    Args:
        planned: the sweep.
        ledger: what there is of it.
        isolates: whether the executor outlives a run that kills its process.
        timeout_s: wall time that one of them may take now [s]; None is no limit.
    """
    histories, statuses = ledger.leases.histories(unanswered=True), ledger.statuses()
    done, untraced = _done(planned, ledger, timeout_s), untraced_runs(distinct_runs(planned.runs), ledger)
    runs, reasons, suspects = [], Counter[Reason](), set()
    left = reused = 0
    for run in distinct_runs(planned.runs):
        history, status = histories.get(run.run_id, RunHistory()), statuses.get(run.run_id)
        if run.run_id in done and run.run_id not in untraced:
            reused += 1
        elif status is Status.LOST and not isolates:
            left += 1
        else:
            runs.append(run)
            reasons[_reason(history, status, is_done=run.run_id in done)] += 1
            suspects.update([run.run_id] if history.deaths or status is Status.LOST else [])
    return Work(runs=tuple(runs), reasons=reasons, suspects=frozenset(suspects), reused=reused, left=left)


def _done(planned: PlannedSweep, ledger: Ledger, timeout_s: float | None) -> set[str]:
    """The run_ids whose record is final under the code that they would run with now, or would be much the same."""
    plans = {run.plan.plan_id: run.plan for run in planned.runs}
    codes = {plan_id: code_id(plan) for plan_id, plan in plans.items()}
    final = {code: ledger.done(code) for code in set(codes.values())}
    for record in ledger.records([Status.TIMED_OUT]):
        if timeout_s is not None and timeout_s <= record.wall_s and record.code_id in final:
            final[record.code_id].add(record.run_id)
    return {run.run_id for run in planned.runs if run.run_id in final[codes[run.plan.plan_id]]}


def _reason(history: RunHistory, status: Status | None, *, is_done: bool) -> Reason:
    if is_done:
        return Reason.TRACE
    if status is not None and status.is_final:
        return Reason.CODE
    if status in _AS_BEFORE:
        return _AS_BEFORE[status]
    told = [attempt.ending for attempt in history.attempts if attempt.ending is not Ending.RETURNED]
    return _AFTER.get(told[-1], Reason.NEW) if told else Reason.NEW
