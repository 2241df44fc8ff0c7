"""What the ledger costs a run: written as a driver writes, and read; in CPU, wall time and bytes of its file.

The record of a real run of the arm, many times under other ids, in shards of 32: a lease of each, then its records,
both durable when the call returns.  The file is in the folder for temporary files; CPU is what the ledger costs, wall
time what the disk adds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sweep.config.load import load_spec
from sweep.execution.planning import PlannedSweep, plan_sweep
from sweep.results import Ledger, RunRecord
from sweep.runtime import InstanceBatch

SHARD = 32


@dataclass(frozen=True)
class LedgerCost:
    """One thing that is done to a ledger of some runs: CPU and wall time a run [us]."""

    what: str
    runs: int
    cpu_us: float
    wall_us: float


@dataclass(frozen=True)
class LedgerCosts:
    """A ledger of some runs: what is done to it, and the size of its file by run [bytes]."""

    runs: int
    costs: Sequence[LedgerCost]
    bytes_a_run: float


def ledger_costs(*, counts: Sequence[int] = (1_000, 10_000, 100_000)) -> list[LedgerCosts]:
    """The costs by number of runs."""
    planned = plan_sweep(load_spec(["scene=arm", "seeds=1", "tracking=none"]))
    (record,) = InstanceBatch([planned.base], [0]).run()
    return [_costs(planned, record, count) for count in counts]


def _costs(planned: PlannedSweep, record: RunRecord, count: int) -> LedgerCosts:
    records = [replace(record, run_id=f"{seed:016x}", seed=seed) for seed in range(count)]
    rows = [(r.run_id, planned.cells[0].cell_id, r.plan_id, r.seed) for r in records]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ledger.sqlite"
        with Ledger.create(file, planned.header) as ledger:
            ledger.add_cells(planned.cells)
            added = _timed("runs added", count, lambda: ledger.add_runs(rows))
            ledger.begin({})
            committed = _timed("leased, committed", count, lambda: _committed(ledger, records))
            ledger.finish()
        with Ledger.open(file, read_only=True) as ledger:
            read = _timed("records read", count, ledger.records), _timed("statuses read", count, ledger.statuses)
        return LedgerCosts(count, (added, committed, *read), file.stat().st_size / count)


def _committed(ledger: Ledger, records: Sequence[RunRecord]) -> None:
    for start in range(0, len(records), SHARD):
        shard = records[start : start + SHARD]
        ledger.leases.lease([record.run_id for record in shard], "worker 1")
        ledger.append(shard)


def _timed(what: str, count: int, call: Callable[[], object]) -> LedgerCost:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return LedgerCost(what, count, cpu / count * 1e6, wall / count * 1e6)
