"""execute_shard: the one function that travels to where runs execute."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import overload

from sweep.design.run import Run
from sweep.errors import LedgerError
from sweep.execution.code import code_id
from sweep.execution.deadline import Deadline, Overdue, OverdueError
from sweep.execution.node import node_fingerprint
from sweep.execution.run_files import Keep
from sweep.execution.traces import keep_traces
from sweep.execution.verdict import broken
from sweep.results import RunRecord
from sweep.runtime.batch import InstanceBatch


@overload
def execute_shard(runs: Sequence[Run], *, threads: int = 1, keep: Keep | None = None) -> list[RunRecord]: ...


@overload
def execute_shard(
    runs: Sequence[Run], *, threads: int = 1, keep: Keep | None = None, timeout_s: float | None
) -> list[RunRecord] | Overdue: ...


def execute_shard(
    runs: Sequence[Run], *, threads: int = 1, keep: Keep | None = None, timeout_s: float | None = None
) -> list[RunRecord] | Overdue:
    """Simulate runs, those of one layout together; one record each, in the order given.

    It raises nothing but KeyboardInterrupt, and LedgerError if ``keep`` does: an exception is isolated by halving, and
    a run that raises alone is a fault of that run.

    Args:
        runs: what to simulate.
        threads: threads that physics of different lanes runs on.
        keep: takes the traces of the runs that ask for one; None drops them.
        timeout_s: wall time that all of it may take [s], looked at between blocks of steps; None is no limit.

    Returns:
        The records; in their place, what there is to say if there was no time for all of them.
    """
    deadline = None if timeout_s is None else Deadline(timeout_s)
    records: dict[str, RunRecord] = {}
    try:
        for lanes in _by_layout(runs):
            for record in _isolated(lanes, threads, keep, deadline):
                records[record.run_id] = record
    except OverdueError as error:
        return error.overdue
    return [records[run.run_id] for run in runs]


def _by_layout(runs: Sequence[Run]) -> Iterator[list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.plan.layout, []).append(run)
    for group in groups.values():
        most = group[0].plan.manifest.runtime.max_lanes or len(group)
        yield from (group[start : start + most] for start in range(0, len(group), most))


def _isolated(runs: Sequence[Run], threads: int, keep: Keep | None, deadline: Deadline | None) -> list[RunRecord]:
    started = time.perf_counter()
    try:
        return _simulate(runs, threads, keep, deadline)
    except (LedgerError, OverdueError):
        raise  # nobody's fault: the place where results go, the time for all of them
    except (Exception, SystemExit) as error:  # noqa: BLE001 - user code may raise anything, sys.exit() too
        if len(runs) == 1:
            return [broken(runs[0], error, time.perf_counter() - started)]
    half = len(runs) // 2
    return [*_isolated(runs[:half], threads, keep, deadline), *_isolated(runs[half:], threads, keep, deadline)]


def _simulate(runs: Sequence[Run], threads: int, keep: Keep | None, deadline: Deadline | None) -> list[RunRecord]:
    started = time.perf_counter()
    code = [code_id(run.plan) for run in runs]
    batch = InstanceBatch(
        [run.plan for run in runs],
        [run.seed for run in runs],
        threads=threads,
        trace="summary" if keep is None else None,
    )
    records = batch.run(None if deadline is None else deadline.check)
    if keep is not None and batch.recorder is not None:
        asked = [(run.run_id, its, run.plan.manifest.runtime.trace) for run, its in zip(runs, code, strict=True)]
        keep_traces(batch, asked, keep)
    share = (time.perf_counter() - started) / len(runs)
    node = node_fingerprint()
    return [
        replace(record, code_id=its_code, node=node, wall_s=share)
        for record, its_code in zip(records, code, strict=True)
    ]
