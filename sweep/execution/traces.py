"""The traces of runs, beside the ledger: who writes them, and which are missing.

Only whoever asks for traces imports Arrow, which takes a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.design.run import Run
from sweep.execution.node import node_fingerprint
from sweep.execution.run_files import Keep
from sweep.plan.sections import TRACE_LEVELS, TraceLevel
from sweep.results import Ledger
from sweep.results.traces import trace_place

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch


def keep_traces(batch: InstanceBatch, runs: Sequence[tuple[str, str, TraceLevel]], keep: Keep) -> None:
    """Keep the traces of a batch that has run.

    Args:
        batch: the batch; nothing can be sent to it any more.
        runs: of each lane, the run_id, the code_id, and how much is asked for.
        keep: takes the files.

    Raises:
        LedgerError: ``keep`` does.
    """
    from sweep.runtime.tracing.file import TraceTables, parquet_bytes

    tables = TraceTables(batch)
    for lane, (run_id, code, level) in enumerate(runs):
        if level != "summary":
            table = tables.lane(lane, level, code_id=code, **node_fingerprint())
            keep(trace_place(run_id), parquet_bytes(table))


def untraced_runs(runs: Iterable[Run], ledger: Ledger) -> set[str]:
    """The run_ids whose trace is not there, or tells less than is asked for.

    What faulted before its first step, or was lost, has none.
    """
    asked = {run.run_id: run.plan.manifest.runtime.trace for run in runs}
    if set(asked.values()) <= {"summary"}:
        return set()
    without = {record.run_id for record in ledger.records() if not record.trace_digest}
    return {
        run_id
        for run_id, level in asked.items()
        if run_id not in without and _level(ledger.path.parent / trace_place(run_id)) < TRACE_LEVELS.index(level)
    }


def _level(file: Path) -> int:
    from sweep.runtime.tracing.file import trace_metadata  # brings Arrow, which summaries do without

    metadata = trace_metadata(file) or {"trace": "summary"}
    return TRACE_LEVELS.index(metadata["trace"])
