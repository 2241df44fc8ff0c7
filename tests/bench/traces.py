"""What a trace costs: the same runs at every level, their files written, as ratios to the level of summaries."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sweep.execution.traces import keep_traces
from sweep.plan import Plan
from sweep.plan.sections import TRACE_LEVELS, TraceLevel
from sweep.runtime import InstanceBatch
from tests.bench.lanes import Robot, plans_of


@dataclass(frozen=True)
class TraceCost:
    """Attributes: the ratio of CPU time to that of summaries, and the size of a run's file by simulated second."""

    level: TraceLevel
    ratio: float
    bytes_per_s: float


def trace_costs(robot: Robot, *, lanes: int = 32, ticks: int = 2500, repeats: int = 5) -> list[TraceCost]:
    """Events and full against summary, alternating, in runs of five seconds; CPU time, since nothing waits."""
    plans = plans_of(robot, lanes, ticks)
    spent: dict[TraceLevel, list[float]] = {level: [] for level in TRACE_LEVELS}
    written = dict.fromkeys(TRACE_LEVELS, 0)
    for _ in range(repeats):
        for level in TRACE_LEVELS:
            start = time.process_time()
            written[level] = _run(plans, level)
            spent[level].append(time.process_time() - start)
    return [
        TraceCost(
            level,
            statistics.median(a / b for a, b in zip(spent[level], spent["summary"], strict=True)),
            written[level] / lanes / (ticks * robot.timestep_s),
        )
        for level in TRACE_LEVELS[1:]
    ]


def _run(plans: list[Plan], level: TraceLevel) -> int:
    """Run, write the files, and return their size."""
    batch = InstanceBatch(plans, range(len(plans)), trace=level)
    batch.run()
    if level == "summary":
        return 0
    sizes: list[int] = []
    with tempfile.TemporaryDirectory() as folder:

        def keep(place: str, content: bytes) -> None:
            sizes.append(Path(folder, Path(place).name).write_bytes(content))

        keep_traces(batch, [(f"run{lane}", "", level) for lane in range(len(plans))], keep)
    return sum(sizes)
