"""How long a person waits for the table of the main job, ``python -m sweep +latency=0.002,0.005``, and for what.

A fresh process whose bytecode is compiled, in an empty folder, as anyone types it: MLflow is fed meanwhile.  The clock
stops when the table comes out of its stdout.  Beside it, in turn, a process that does no more than import Hydra, MuJoCo
and Ray: the ratio is what machines have in common.

Where the time goes is told by another fresh process that takes the steps of the command one by one:

* imports; planning, with Hydra's part; the look ahead at axes and controllers, and the sweep's folder;
* the executor: from there to the first committed run, without what that run took itself.  With Ray it is the start of
  the cluster and of its workers;
* the first run, which goes alone, by its record; all others; the comparison and the table.

Medians, of each step for itself.  ``python -m tests.bench.start WORDS`` takes the steps once.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tests.bench.fresh import environment, printed, tell, until_table

WORDS = ("+latency=0.002,0.005",)
EXECUTORS = ("inline", "ray")
REFERENCE = "import hydra, mujoco, ray"


@dataclass(frozen=True)
class Start:
    """One executor: wall time until the table [s], its ratio to the imports alone, and where it goes, step -> [s]."""

    table_s: float
    against_imports: float
    steps_s: Mapping[str, float]


def starts(
    *, repeats: int = 5, words: Sequence[str] = WORDS, executors: Sequence[str] = EXECUTORS
) -> Mapping[str, Start]:
    """By executor."""
    with tempfile.TemporaryDirectory() as folder:
        until_table([*words, "executor=inline"], folder)  # compiles what is not, and fills the disk's cache
    return {executor: _start([*words, f"executor={executor}"], repeats) for executor in executors}


def _start(words: Sequence[str], repeats: int) -> Start:
    tables, ratios, steps = [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            tables.append(until_table(words, folder).table_s)
        ratios.append(tables[-1] / _imports_s())
        with tempfile.TemporaryDirectory() as folder:
            steps.append(printed("start", *words, folder=folder))
    medians = {name: statistics.median(row[name] for row in steps) for name in steps[0]}
    return Start(statistics.median(tables), statistics.median(ratios), medians)


def _imports_s() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", REFERENCE], env=environment(), check=True)
    return time.perf_counter() - began


class Clock:
    """Names the time since it was last asked."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.steps_s: dict[str, float] = {}

    def mark(self, name: str) -> None:
        """A step is over."""
        now = time.perf_counter()
        self.steps_s[name], self._last = now - self._last, now


def _take_steps(words: Sequence[str]) -> Mapping[str, float]:
    """In a folder where nothing ran before."""
    clock = Clock()
    import_module("sweep.cli.running")  # with what the command loads besides
    from analysis import render
    from sweep.cli.screen import console
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep
    from sweep.run import SweepRun

    clock.mark("imports")
    spec = load_spec(words)
    planned = plan_sweep(spec)
    clock.mark("planning")

    def hear(progress: Any) -> None:
        if progress.records and "executor" not in clock.steps_s:
            clock.mark("executor")
            clock.steps_s["first run"] = progress.records[0].wall_s
            clock.steps_s["executor"] -= progress.records[0].wall_s

    result = SweepRun(planned, spec, hear)
    clock.mark("look ahead, folder")
    result.commit()
    clock.mark("other runs")
    console().print(render(result.comparison()))
    clock.mark("comparison, table")
    result.finish()
    if result.syncer is not None:
        result.syncer.wait()
    return clock.steps_s


if __name__ == "__main__":
    tell(_take_steps(sys.argv[1:]))
