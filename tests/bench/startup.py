"""Where the wall time of the main job goes: one fresh process per repetition, split by what it waits for."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROBE = """
import json, sys, time
start = time.perf_counter()
marks = {}
def mark(name):
    global start
    now = time.perf_counter()
    marks[name] = now - start
    start = now
from sweep.config.load import load_spec
from sweep.execution.planning import plan_sweep
from sweep.execution.folder import SweepFolder
from sweep.execution.collect import collect
import sweep.run, rich.console, analysis.table
mark("imports")
spec = load_spec(sys.argv[1:])
planned = plan_sweep(spec)
mark("planning")
folder = SweepFolder.prepare(planned, spec)
mark("folder")
import sweep.results.ledger as ledger
spent = [0.0]
append = ledger.Ledger.append
def timed(self, records):
    begin = time.perf_counter()
    committed = append(self, records)
    spent[0] += time.perf_counter() - begin
    return committed
ledger.Ledger.append = timed
import sweep.runtime.physics as physics
inside = [0.0]
advance = physics.LanePhysics.advance
def measured(self, *args):
    begin = time.perf_counter()
    try:
        return advance(self, *args)
    finally:
        inside[0] += time.perf_counter() - begin
physics.LanePhysics.advance = measured
report = collect(planned, folder, spec)
mark("running")
marks["ledger"], marks["physics"] = spent[0], inside[0]
marks["runtime"] = marks.pop("running") - spent[0] - inside[0]
from analysis import compare, render
rich.console.Console(file=open("/dev/null", "w")).print(render(compare(folder.path)))
mark("table")
print(json.dumps(marks))
"""


def split(words: tuple[str, ...] = ("+latency=0.002,0.005",), repeats: int = 5) -> dict[str, float]:
    """Median seconds of each part; ``total`` is the process from start to exit."""
    rows = [_once([*words, "tracking=none", "executor=inline"]) for _ in range(repeats)]
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def _once(words: list[str]) -> dict[str, float]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        code = f"import time; began = time.time()\n{PROBE}"
        done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, env=environment, check=True,
                              capture_output=True, text=True)  # fmt: skip
    parts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return {**parts, "total": sum(parts.values())}
