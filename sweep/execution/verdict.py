"""Verdicts: the records of runs that gave no result of their own."""

from __future__ import annotations

from collections.abc import Mapping

from sweep.design.run import Run
from sweep.execution.code import code_id
from sweep.execution.deadline import Overdue
from sweep.execution.node import node_fingerprint
from sweep.results import Outcome, RunRecord, Status


def broken(run: Run, error: BaseException, wall_s: float) -> RunRecord:
    """Of a run outside whose phases something raised here, for example a controller's constructor."""
    text = " ".join(str(error).split())
    outcome = Outcome(status=Status.FAULTED, kind="component", message=f"{type(error).__name__}: {text}".rstrip(": "))
    return _without_result(run, outcome, wall_s=wall_s, node=node_fingerprint())


def timed_out(run: Run, overdue: Overdue) -> RunRecord:
    """Of a run that was overdue alone, wherever that was."""
    message = overdue.told(run.plan.manifest.runtime.duration_s)
    outcome = Outcome(status=Status.TIMED_OUT, time_s=overdue.time_s, message=message)
    return _without_result(run, outcome, wall_s=overdue.wall_s, node={})


def _without_result(run: Run, outcome: Outcome, *, wall_s: float, node: Mapping[str, str]) -> RunRecord:
    return RunRecord(
        run_id=run.run_id,
        plan_id=run.plan.plan_id,
        seed=run.seed,
        outcome=outcome,
        metrics=dict.fromkeys(run.plan.manifest.metrics),
        summaries={},
        trace_digest="",
        receipts={},
        code_id=_code_of(run),
        node=node,
        wall_s=wall_s,
    )


def _code_of(run: Run) -> str:
    try:
        return code_id(run.plan)
    except Exception:  # noqa: BLE001 - a controller that cannot be imported here has no code to speak of
        return ""
