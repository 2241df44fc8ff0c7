"""execute_shard: the one function that travels to where runs execute."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sweep.design.run import Run
from sweep.errors import LedgerError
from sweep.execution.code import code_id
from sweep.execution.node import node_fingerprint
from sweep.execution.run_files import Keep
from sweep.execution.traces import keep_traces
from sweep.results import Outcome, RunRecord, Status
from sweep.runtime.batch import InstanceBatch


def execute_shard(runs: Sequence[Run], *, threads: int = 1, keep: Keep | None = None) -> list[RunRecord]:
    """Simulate runs, those of one layout together; one record each, in the order given.

    It raises nothing but KeyboardInterrupt, and LedgerError if ``keep`` does: an exception is isolated by halving, and
    a run that raises alone is a fault of that run.

    Args:
        runs: what to simulate.
        threads: threads that physics of different lanes runs on.
        keep: takes the traces of the runs that ask for one; None drops them.
    """
    records: dict[str, RunRecord] = {}
    for lanes in _by_layout(runs):
        for record in _isolated(lanes, threads, keep):
            records[record.run_id] = record
    return [records[run.run_id] for run in runs]


def _by_layout(runs: Sequence[Run]) -> Iterator[list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.plan.layout, []).append(run)
    for group in groups.values():
        most = group[0].plan.manifest.runtime.max_lanes or len(group)
        yield from (group[start : start + most] for start in range(0, len(group), most))


def _isolated(runs: Sequence[Run], threads: int, keep: Keep | None) -> list[RunRecord]:
    started = time.perf_counter()
    try:
        return _simulate(runs, threads, keep)
    except LedgerError:
        raise  # nobody's run, but the place where results go
    except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything, sys.exit() too
        if len(runs) == 1:
            return [_broken(runs[0], error, time.perf_counter() - started)]
    half = len(runs) // 2
    return [*_isolated(runs[:half], threads, keep), *_isolated(runs[half:], threads, keep)]


def _simulate(runs: Sequence[Run], threads: int, keep: Keep | None) -> list[RunRecord]:
    started = time.perf_counter()
    code = [code_id(run.plan) for run in runs]
    batch = InstanceBatch(
        [run.plan for run in runs],
        [run.seed for run in runs],
        threads=threads,
        trace="summary" if keep is None else None,
    )
    records = batch.run()
    if keep is not None and batch.recorder is not None:
        asked = [(run.run_id, its, run.plan.manifest.runtime.trace) for run, its in zip(runs, code, strict=True)]
        keep_traces(batch, asked, keep)
    share = (time.perf_counter() - started) / len(runs)
    node = node_fingerprint()
    return [
        replace(record, code_id=its_code, node=node, wall_s=share)
        for record, its_code in zip(records, code, strict=True)
    ]


def _broken(run: Run, error: BaseException, wall_s: float) -> RunRecord:
    """The record of a run outside whose phases something raised, for example a controller's constructor."""
    text = " ".join(str(error).split())
    outcome = Outcome(status=Status.FAULTED, kind="component", message=f"{type(error).__name__}: {text}".rstrip(": "))
    return _without_result(run, outcome, wall_s=wall_s, code=_code_of(run))


def _without_result(run: Run, outcome: Outcome, *, wall_s: float = 0.0, code: str) -> RunRecord:
    return RunRecord(
        run_id=run.run_id,
        plan_id=run.plan.plan_id,
        seed=run.seed,
        outcome=outcome,
        metrics=dict.fromkeys(run.plan.manifest.metrics),
        summaries={},
        trace_digest="",
        receipts={},
        code_id=code,
        node=node_fingerprint(),
        wall_s=wall_s,
    )


def _code_of(run: Run) -> str:
    try:
        return code_id(run.plan)
    except Exception:  # noqa: BLE001 - a controller that cannot be imported here has no code to speak of
        return ""
