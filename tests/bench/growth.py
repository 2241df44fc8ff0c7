"""What grows with lanes and with runs: memory of a batch, and the time of whole sweeps of short runs.

* Memory: a batch of robots that differ in latency runs for a few blocks, in a process of its own for each number of
  lanes; what a further lane adds is the difference between what many and what some lanes take, over the lanes between.
* A queue: from the words to a queue of pending runs, ten cells of equally many seeds; planning, the ledger's rows, what
  is pending; CPU and peak of memory of a process of its own.
* Time: ``python -m sweep`` of the cart and pole for two steps, ten cells, without MLflow and canary, from the command
  to its table, the median of some repetitions.  What a further run costs is the difference between two numbers of runs
  over the runs between, so that what is done once is in neither; what it costs the driver alone, in CPU, and how that
  grows from the hundredth run on, is in :mod:`tests.bench.driver`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from tests.bench.fresh import cpu_s, peak_mb, printed, resident_bytes, tell, until_table

LANES = (1, 32, 128)
ROBOTS = ("arm", "humanoid")
TICKS = 600
"""Steps of a lane, some blocks."""

CELLS = 10


@dataclass(frozen=True)
class LaneMemory:
    """A process' peak with one lane [MB], and what each further one adds, between some and many [kB]."""

    robot: str
    trace: str
    one_mb: float
    lane_kb: float


@dataclass(frozen=True)
class RunTime:
    """A whole sweep of short runs: until its table [s], and what each run costs beyond those of the one before [ms]."""

    executor: str
    runs: int
    table_s: float
    run_ms: float


@dataclass(frozen=True)
class QueueCost:
    """What it takes until runs are queued: CPU [s], peak of memory [MB], and the ledger's file [MB]."""

    runs: int
    cpu_s: float
    peak_mb: float
    file_mb: float


def lane_memory(
    *, robots: Sequence[str] = ROBOTS, traces: Sequence[str] = ("summary", "full"), lanes: Sequence[int] = LANES
) -> Iterator[LaneMemory]:
    """The memory of each robot at each level of traces."""
    for robot in robots:
        for trace in traces:
            with tempfile.TemporaryDirectory() as folder:
                one, some, many = (printed("growth", robot, trace, count, folder=folder) for count in lanes)
            lane = (many["batch"] - some["batch"]) / (lanes[2] - lanes[1])
            yield LaneMemory(robot, trace, one["peak_mb"], lane / 1e3)


def queue_costs(*, counts: Sequence[int] = (100_000, 1_000_000)) -> Iterator[QueueCost]:
    """The cost of each number of runs."""
    for runs in counts:
        with tempfile.TemporaryDirectory() as folder:
            yield QueueCost(runs, **printed("growth", "queue", runs, folder=folder))


def run_times(
    *, counts: Sequence[int] = (100, 1_000, 10_000), executors: Sequence[str] = ("inline", "ray"), repeats: int = 5
) -> Iterator[RunTime]:
    """The time of all numbers of runs but the first, by executor."""
    for executor in executors:
        waited = {count: median(_table_s(executor, count) for _ in range(repeats)) for count in counts}
        for few, many in pairwise(counts):
            yield RunTime(executor, many, waited[many], (waited[many] - waited[few]) / (many - few) * 1e3)


def _table_s(executor: str, runs: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return until_table([*_words(runs), f"executor={executor}"], folder).table_s


def _words(runs: int) -> list[str]:
    latencies = ",".join(f"{0.001 * cell:g}" for cell in range(CELLS))
    words = [f"+latency={latencies}", f"seeds={runs // CELLS}", "manifest.runtime.duration_s=0.002"]
    return ["scene=cartpole", *words, "tracking=none", "canary=false"]


def _queue(runs: int) -> None:
    from sweep.config.load import load_spec
    from sweep.execution.folder import SweepFolder
    from sweep.execution.pending import pending_work
    from sweep.execution.planning import plan_sweep
    from sweep.execution.shards import ShardQueue
    from sweep.results import Ledger

    before = cpu_s()
    spec = load_spec(_words(runs))
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    with Ledger.open(folder.ledger) as ledger:
        ledger.add_cells(planned.cells)
        ledger.add_runs((run.run_id, run.cell_id, run.plan.plan_id, run.seed) for run in planned.runs)
        work = pending_work(planned, ledger, isolates=True, timeout_s=None)
        queue = ShardQueue(work.runs, leases=ledger.leases)
        assert len(queue) == runs
        tell({"cpu_s": cpu_s() - before, "peak_mb": peak_mb(), "file_mb": ledger.path.stat().st_size / 1e6})


def _measure(robot: str, trace: Any, lanes: int) -> None:
    from sweep.runtime import InstanceBatch

    plans = _plans(robot, lanes)
    for first in (plans[:1], plans[:2]):  # what any batch needs, of one lane and of several
        InstanceBatch(first, range(len(first)), trace=trace).advance(TICKS)
    before = resident_bytes()
    batch = InstanceBatch(plans, range(lanes), trace=trace)
    batch.advance(TICKS)
    tell({"peak_mb": peak_mb(), "batch": resident_bytes() - before})


def _plans(robot: str, lanes: int) -> list[Any]:
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep
    from tests.bench.lanes import plans_of, robots

    if robot == "humanoid":
        return plans_of(robots()[0], lanes, TICKS)
    words = ["scene=arm", "+latency=0,0.002,0.004,0.006", f"seeds={lanes}", "tracking=none", "canary=false"]
    return [run.plan for run in plan_sweep(load_spec(words)).runs[:lanes]]


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "queue":
        _queue(int(given[0]))
    else:
        _measure(what, given[0], int(given[1]))
