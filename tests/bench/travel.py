"""What travels between driver, workers and MLflow, and what it weighs.

* A Plan: what ten times as many cells add to the pickled list that every worker gets, and to the memory of a process
  that reads it; cells of a Latin hypercube of the arm, which share no part that is swept.
* A run of the arm among 32 lanes: its CPU without traces, its record, pickled, and its files at each level of traces.
* A landing: what it costs the driver to wait for the first of many answers of Ray, of 4 workers and of 1,000, two each.
* A cell in MLflow: ``python -m sweep sync`` into a new SQLite database, the difference between some cells and many.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.fresh import cpu_s, environment, printed, resident_bytes, tell

if TYPE_CHECKING:
    from sweep.plan.sections import TraceLevel
    from sweep.runtime import InstanceBatch

RUNS = 32
LANDINGS = 100


@dataclass(frozen=True)
class Weights:
    """What is sent: a further Plan, pickled and in a worker's memory, a record, and the files of a run [bytes].

    And what the run took, without files [CPU s].
    """

    plan: float
    plan_in_memory: float
    record: float
    files: dict[str, float]
    run_s: float


@dataclass(frozen=True)
class Landing:
    """What one answer costs the driver that waits for so many: CPU and wall time [ms]."""

    waiting: int
    cpu_ms: float
    wall_ms: float


@dataclass(frozen=True)
class MirrorCost:
    """What a further cell costs MLflow: CPU and wall time of the sync [ms], and the database [bytes]."""

    cells: int
    cpu_ms: float
    wall_ms: float
    database: float


def weights(*, cells: int = 10_000, duration_s: float = 3.0) -> Weights:
    """What is sent in a sweep of the arm whose runs last so long."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = (printed("travel", "plans", count, folder=folder) for count in (cells // 10, cells))
        runs = printed("travel", "runs", duration_s, folder=folder)
    further = many["cells"] - few["cells"]
    return Weights(
        plan=(many["pickled"] - few["pickled"]) / further,
        plan_in_memory=(many["resident"] - few["resident"]) / further,
        record=runs.pop("record"),
        run_s=runs.pop("run_s"),
        files=runs,
    )


def landings(*, counts: Sequence[int] = (8, 2_000)) -> list[Landing]:
    """What an answer costs among so many that are awaited."""
    with tempfile.TemporaryDirectory() as folder:
        return [Landing(count, **printed("travel", "landing", count, folder=folder)) for count in counts]


def mirror_cost(*, few: int = 25, many: int = 225) -> MirrorCost:
    """What cells of ten runs each cost MLflow."""
    first, last = _mirrored(few), _mirrored(many)
    further = last["cells"] - first["cells"]
    cpu_s, wall_s, size = ((last[name] - first[name]) / further for name in ("cpu_s", "wall_s", "database"))
    return MirrorCost(int(last["cells"]), cpu_s * 1e3, wall_s * 1e3, size)


def _mirrored(cells: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        filled = printed("reading", "fill", cells, 10, folder=folder)
        place = {**environment(), "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db"}
        before, began = os.times(), time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "sweep", "sync", "."], cwd=folder, env=place, check=True, capture_output=True
        )
        wall, after = time.perf_counter() - began, os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        size = Path(folder, "mlflow.db").stat().st_size
        return {"cells": filled["cells"], "cpu_s": spent, "wall_s": wall, "database": size}


def _plans(cells: int) -> None:
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep
    from tests.bench.planning import AXES

    planned = plan_sweep(load_spec([*AXES, "design=lhs", f"design.n={cells}", "scene=arm", "seeds=1", "tracking=none"]))
    sent = pickle.dumps([run.plan for run in planned.runs], protocol=5)
    before = resident_bytes()
    kept = pickle.loads(sent)
    tell({"cells": len(kept), "pickled": len(sent), "resident": resident_bytes() - before})


def _runs(duration_s: float) -> None:
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep
    from sweep.runtime import InstanceBatch

    words = ["scene=arm", f"seeds={RUNS}", f"manifest.runtime.duration_s={duration_s}", "tracking=none"]
    plans = [run.plan for run in plan_sweep(load_spec(words)).runs]
    found: dict[str, float] = {}
    levels: tuple[TraceLevel, ...] = ("summary", "events", "full")
    for level in levels:
        batch, before = InstanceBatch(plans, range(RUNS), trace=level), cpu_s()
        records = batch.run()
        if level == "summary":
            found |= {"record": len(pickle.dumps(records)) / RUNS, "run_s": (cpu_s() - before) / RUNS}
            continue
        found[level] = _files(batch, level) / RUNS
    tell(found)


def _files(batch: InstanceBatch, level: TraceLevel) -> int:
    """The size of all runs' files [bytes]."""
    from sweep.execution.traces import keep_traces

    sizes: list[int] = []
    keep_traces(batch, [(f"run{lane}", "", level) for lane in range(RUNS)], lambda _, data: sizes.append(len(data)))
    return sum(sizes)


def _landing(waiting: int) -> None:
    import logging

    import ray

    ray.init(num_cpus=1, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    busy, quick = (ray.remote(num_cpus=0)(_Worker).remote() for _ in range(2))
    awaited = [busy.sleep.remote() for _ in range(waiting - 1)]
    ray.get(quick.answer.remote())
    before, began = cpu_s(), time.perf_counter()
    for _ in range(LANDINGS):
        done, _ = ray.wait([*awaited, quick.answer.remote()], num_returns=1)
        ray.get(done)
    cpu, wall = cpu_s() - before, time.perf_counter() - began
    ray.kill(busy)
    ray.shutdown()
    tell({"cpu_ms": cpu / LANDINGS * 1e3, "wall_ms": wall / LANDINGS * 1e3})


class _Worker:
    def answer(self) -> int:
        return 1

    def sleep(self) -> None:
        time.sleep(3600)


if __name__ == "__main__":
    what, amount = sys.argv[1:]
    if what == "plans":
        _plans(int(amount))
    elif what == "runs":
        _runs(float(amount))
    else:
        _landing(int(amount))
