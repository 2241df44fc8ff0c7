"""``python -m tests.bench [FILE]``: one table of ratios, and the same as JSON.

Every ratio compares two things measured in this process in turn, so that a noisy machine cancels; absolute times
are shown for proportion only.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.derived import derived_costs
from tests.bench.lanes import measure, robots
from tests.bench.startup import split
from tests.bench.traces import trace_costs

LIMITS = {"humanoid": 1.3, "half_cheetah": 1.6, "cartpole": 2.2}
"""What many lanes may cost against C."""

TRACE_LIMITS = {"events": 1.15, "full": 1.5}
"""What a trace may cost against none."""


def main() -> None:
    warnings.simplefilter("ignore")  # of the packaged models
    console = Console()
    lanes = Table(title="InstanceBatch against C replaying the recorded controls", title_justify="left", box=None)
    for heading in ("robot", "lanes", "ratio", "limit", "C, us a step"):
        lanes.add_column(heading, justify="right")
    ratios = [measure(robot, count) for robot in robots() for count in (1, 32, 64)]
    for row in ratios:
        limit = f"{LIMITS[row.robot]}" if row.lanes > 1 else ""
        lanes.add_row(row.robot, str(row.lanes), f"{row.ratio:.2f}", limit, f"{row.us_per_step:.1f}")
    console.print(lanes)
    costs = trace_costs(robots()[0])
    traces = Table(title="traces of 32 lanes of humanoid, files written", title_justify="left", box=None)
    for heading in ("level", "ratio", "limit", "kB a simulated s"):
        traces.add_column(heading, justify="right")
    for cost in costs:
        traces.add_row(cost.level, f"{cost.ratio:.2f}", f"{TRACE_LIMITS[cost.level]}", f"{cost.bytes_per_s / 1e3:.0f}")
    console.print(traces)
    readers = derived_costs(robots()[0])
    derived = Table(title="derived state of 32 lanes of humanoid, against none", title_justify="left", box=None)
    for heading in ("who reads", "ratio"):
        derived.add_column(heading, justify="right")
    for name, ratio in readers.items():
        derived.add_row(name, f"{ratio:.2f}")
    console.print(derived)
    parts = split()
    start = Table(title="the main job, inline, where its wall time goes", title_justify="left", box=None)
    for heading in ("part", "s", "share"):
        start.add_column(heading, justify="right")
    for name, seconds in parts.items():
        start.add_row(name, f"{seconds:.2f}", f"{seconds / parts['total']:.0%}")
    console.print(start)
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("bench.json")
    document = {
        "lanes": [{"robot": r.robot, "lanes": r.lanes, "ratio": round(r.ratio, 3)} for r in ratios],
        "traces": [{"level": c.level, "ratio": round(c.ratio, 3), "bytes_per_s": round(c.bytes_per_s)} for c in costs],
        "derived_state": {name: round(ratio, 3) for name, ratio in readers.items()},
        "main_job_shares": {name: round(s / parts["total"], 3) for name, s in parts.items()},
    }
    target.write_text(json.dumps(document, indent=2) + "\n")
    console.print(f"written: {target}")


if __name__ == "__main__":
    main()
