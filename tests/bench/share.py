"""How much of the cores does physics in a whole sweep, from the command to its end.

``python -m sweep`` of the arm on Ray, one worker a core, without MLflow, and with as many seeds as take about a minute.
Its wall time is that of the process: imports, planning, canary, the start of Ray, the table.  Of cores times that wall
time,

* ``runs`` is what the records say that runs took: the sum of their shares of the wall time of their shards;
* ``physics`` is what C needs for the same steps: the recorded controls of a few of the runs replayed by
  ``mujoco.rollout`` on one thread (as in :mod:`tests.bench.lanes`), CPU seconds a step before the sweep and after it,
  their mean times the steps of all records.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sweep.config.load import load_spec
from sweep.execution.executor import cores
from sweep.execution.planning import plan_sweep
from sweep.results import Ledger
from tests.bench.fresh import environment
from tests.bench.lanes import Replay

LANES = 16
GUESS = 0.7
"""Share that is assumed when seeds are counted."""

SCENE = ("scene=arm", "+latency=0.002,0.005", "tracking=none", "executor=ray")


@dataclass(frozen=True)
class Share:
    """One sweep: its runs and wall time [s], and the shares of cores x wall time."""

    runs: int
    wall_s: float
    in_runs: float
    in_physics: float


def physics_share(*, about_s: float = 60.0, words: tuple[str, ...] = SCENE) -> Share:
    """Run a sweep of about so many seconds and share its time out."""
    plans = [run.plan for run in plan_sweep(load_spec([*words, f"seeds={LANES // 2}"])).runs]
    replay = Replay(plans, plans[0].horizon)
    before = replay.cpu_s() / (LANES * plans[0].horizon)
    seeds = max(1, round(GUESS * about_s * cores() / (before * plans[0].horizon) / 2))
    with tempfile.TemporaryDirectory() as folder:
        wall = _wall_s([*words, f"seeds={seeds}"], folder)
        (place,) = Path(folder).glob("sweeps/*/ledger.sqlite")
        with Ledger.open(place, read_only=True) as ledger:
            records = ledger.records()
    step = (before + replay.cpu_s() / (LANES * plans[0].horizon)) / 2
    steps = sum(record.outcome.tick or 0 for record in records)
    capacity = cores() * wall
    return Share(len(records), wall, sum(r.wall_s for r in records) / capacity, steps * step / capacity)


def _wall_s(words: list[str], folder: str) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-m", "sweep", *words]
    subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True)
    return time.perf_counter() - began
