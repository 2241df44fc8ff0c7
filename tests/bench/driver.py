"""What the driver itself costs: CPU a run, and memory as runs get more; no MLflow, no canary.

Runs of two steps of the cart and pole, ten cells of equally many seeds, many runs against a tenth of them; a process of
its own each, which tells

* its CPU seconds, all threads, user and system, from the first call of ``collect`` to its return: cells and runs into
  the ledger, leases, the queue, what comes back and its commit.  Planning has happened before.  Inline what
  ``execute_shard`` spends is taken off; with Ray it is spent in workers, and Ray's own threads in the driver count;
* its peak of memory, and with Ray the largest one of a worker just before the end.

CPU a run is the difference of both counts over the difference in runs: what is done once, as starting Ray is, is in
both.  Its growth is seen within the larger sweep: what a run costs there once a tenth of them is done, over what it
costs between a hundredth and a tenth.  Growth of memory is the ratio of the peaks.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.fresh import cpu_s, peak_mb, printed, tell

CELLS = 10
WORKER = b"ray::ShardWorker"
"""How a worker's command line begins."""


@dataclass(frozen=True)
class DriverCost:
    """One executor.

    Attributes:
        executor: its name.
        runs: how many.
        run_ms: CPU of the driver for each further run [ms] ...
        run_growth: how much more a run costs late in the sweep than early.
        driver_mb: peak of the driver's memory [MB] ...
        driver_growth: ... and its ratio to that of a tenth of the runs.
        worker_growth: the same of the largest worker; None without workers.
    """

    executor: str
    runs: int
    run_ms: float
    run_growth: float
    driver_mb: float
    driver_growth: float
    worker_growth: float | None


def driver_costs(*, runs: int = 10_000, executors: Sequence[str] = ("inline", "ray")) -> list[DriverCost]:
    """The cost for each executor."""
    return [_cost(executor, runs) for executor in executors]


def _cost(executor: str, runs: int) -> DriverCost:
    found = []
    for count in (runs // 10, runs):
        with tempfile.TemporaryDirectory() as folder:
            found.append(printed("driver", executor, count // CELLS, folder=folder))
    few, many = found
    return DriverCost(
        executor=executor,
        runs=many["runs"],
        run_ms=(many["cpu_s"] - few["cpu_s"]) / (many["runs"] - few["runs"]) * 1e3,
        run_growth=many["run_growth"],
        driver_mb=many["driver_mb"],
        driver_growth=many["driver_mb"] / few["driver_mb"],
        worker_growth=many["worker_mb"] / few["worker_mb"] if few["worker_mb"] else None,
    )


def _growth(spent: Sequence[tuple[int, float]]) -> float:
    """What a run costs late in a sweep over what it costs early, from how much was spent when so many were done."""
    total, end = spent[-1]
    (few, first), (some, then) = (next(known for known in spent if known[0] >= total * part) for part in (0.01, 0.1))
    return ((end - then) / (total - some)) / ((then - first) / (some - few))


def _measure(executor: str, seeds: int) -> None:
    from sweep.config.load import load_spec
    from sweep.execution import executor as inline
    from sweep.execution.collect import collect
    from sweep.execution.folder import SweepFolder
    from sweep.execution.planning import plan_sweep

    latencies = ",".join(f"{0.001 * cell:g}" for cell in range(CELLS))
    words = ["scene=cartpole", f"+latency={latencies}", f"seeds={seeds}", "manifest.runtime.duration_s=0.002"]
    spec = load_spec([*words, f"executor={executor}", "tracking=none", "canary=false"])
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    simulated, workers, execute = [0.0], [0.0], inline.execute_shard
    spent: list[tuple[int, float]] = []

    def timed(*given: Any, **named: Any) -> Any:
        before = cpu_s()
        try:
            return execute(*given, **named)
        finally:
            simulated[0] += cpu_s() - before

    def look(progress: Any) -> None:
        spent.append((progress.done, cpu_s() - before - simulated[0]))
        if progress.done == progress.total:
            workers[0] = max([0.0, *_worker_peaks()])

    inline.execute_shard = timed  # type: ignore[attr-defined]
    before = cpu_s()
    report = collect(planned, folder, spec, look)
    assert report.ran == report.total == seeds * CELLS
    own = cpu_s() - before - simulated[0]
    found = {"runs": report.ran, "cpu_s": own, "run_growth": _growth(spent)}
    tell({**found, "driver_mb": peak_mb(), "worker_mb": workers[0]})


def _worker_peaks() -> Iterator[float]:
    """The peaks of memory of this driver's workers [MB]."""
    import os

    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = place.joinpath("cmdline").read_bytes().startswith(WORKER)
            if is_worker and os.getpid() in _ancestors(int(place.name)):
                yield peak_mb(int(place.name))
        except (OSError, StopIteration):
            continue  # it has just ended


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        status = Path(f"/proc/{pid}/status").read_text()
        pid = int(status.partition("PPid:")[2].split()[0])
        yield pid


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]))
