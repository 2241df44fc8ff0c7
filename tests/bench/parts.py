"""The parts of ``make bench``: what each measures, under names that stay, with what it shall be.

A further part is a function here that yields measures, and a line in :data:`PARTS`; a further measure is one more
:func:`tests.bench.measures.ratio` or :class:`tests.bench.measures.Measure` that is yielded.  How it is measured, and
why so, is in the module that measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import median

from sweep.execution.executor import cores
from tests.bench.driver import driver_costs
from tests.bench.growth import lane_memory, queue_costs, run_times
from tests.bench.lanes import CELLS, READERS, TICKS, Ratio, against_c, cells_of, plans_of, robots
from tests.bench.ledger import ledger_costs
from tests.bench.measures import Measure, ratio, share
from tests.bench.peers.rates import rates
from tests.bench.planning import planning_costs
from tests.bench.reading import reading_costs
from tests.bench.start import starts
from tests.bench.traces import trace_costs
from tests.bench.travel import landings, mirror_cost, weights
from tests.bench.whole import whole_sweeps

LANE_LIMITS = {"humanoid": 1.10, "half_cheetah": 1.2, "cartpole": 1.5}
"""What the best number of lanes may cost against C, the same cell in each or another ..."""

LONE_LIMITS = {"humanoid": 2.5, "half_cheetah": 4.0}
"""... what a lone lane may ..."""

READER_LIMITS = {"accelerometer at 200 Hz": 1.35, "metric on a site's position": 1.25}
"""... and what it may where somebody reads derived state."""

MANY = (32, 64, 128, 256)
"""Numbers of lanes of which the best counts."""

TRACE_LIMITS = {"events": 1.15, "full": 1.5}
"""What a trace may cost against none."""

PLANNING_LIMITS_S = {10_000: 3.0, 100_000: 30.0}
"""CPU seconds that about so many cells may take to plan [s]."""

PLANNING_LIMIT_MB = 2000.0
"""Peak of memory of any of them [MB]."""

DRIVER_LIMIT_MS = 0.3
"""CPU that a run may cost the driver [ms]."""

GROWTH_LIMIT = 1.1
"""What memory may grow by with ten times the runs."""

CPU_GROWTH_LIMIT = 1.5
"""What CPU of a run may grow by within a sweep; its first tenth takes too little to be exact."""

START_LIMITS_S = {"inline": 4.0, "ray": 12.0}
"""When the table of the main job shall be there [s]."""


def _lanes() -> Iterator[Measure]:
    for robot in robots():
        alone: list[Ratio] = []
        found: dict[int, float] = {}
        for lanes in MANY:
            # A lone run takes so little that one busy moment of the machine would be all of it: once before each other.
            alone.append(against_c(plans_of(robot, 1, TICKS)))
            found[lanes] = against_c(plans_of(robot, lanes, TICKS)).ratio
        best = min(found, key=lambda lanes: found[lanes])
        cells = against_c(cells_of(robot, max(best, CELLS), TICKS)).ratio
        yield ratio(f"{robot.name}, one lane", median(a.ratio for a in alone), aim=LONE_LIMITS.get(robot.name))
        for lanes, against in found.items():
            yield ratio(f"{robot.name}, {lanes} lanes", against)
        yield ratio(f"{robot.name}, best of these", found[best], aim=LANE_LIMITS[robot.name])
        yield ratio(f"{robot.name}, the same of {CELLS} cells", cells, aim=LANE_LIMITS[robot.name])
        yield Measure(what=f"{robot.name}, C", value=median(a.us_per_step for a in alone), unit="us a step")


def _derived() -> Iterator[Measure]:
    for name, more in READERS.items():
        found = against_c(plans_of(robots()[0], 64, TICKS, more))
        yield ratio(f"humanoid, 64 lanes, {name}", found.ratio, aim=READER_LIMITS.get(name))


def _traces() -> Iterator[Measure]:
    for cost in trace_costs(robots()[0]):
        yield ratio(f"{cost.level}, against summary", cost.ratio, aim=TRACE_LIMITS[cost.level])
        yield Measure(what=f"{cost.level}, size", value=cost.bytes_per_s / 1e3, unit="kB a simulated s")


def _start() -> Iterator[Measure]:
    for executor, found in starts().items():
        yield Measure(what=f"{executor}, until the table", value=found.table_s, unit="s", aim=START_LIMITS_S[executor])
        yield ratio(f"{executor}, until the table, against imports alone", found.against_imports)
        for step, seconds in found.steps_s.items():
            yield Measure(what=f"{executor}, {step}", value=seconds, unit="s")


def _planning() -> Iterator[Measure]:
    for cells, limit_s in PLANNING_LIMITS_S.items():
        for cost in planning_costs(cells=cells):
            name = f"{cost.design}, {cost.cells:,} cells"
            yield Measure(what=f"{name}, CPU", value=cost.cpu_s, unit="s", aim=limit_s)
            yield Measure(what=f"{name}, CPU of a further one", value=cost.cell_us, unit="us")
            yield Measure(what=f"{name}, peak of memory", value=cost.peak_mb, unit="MB", aim=PLANNING_LIMIT_MB)
            yield Measure(what=f"{name}, memory of a further one", value=cost.cell_kb, unit="kB")


def _driver() -> Iterator[Measure]:
    for cost in driver_costs():
        name = f"{cost.executor}, {cost.runs:,} runs"
        yield Measure(what=f"{name}, CPU of a further one", value=cost.run_ms, unit="ms", aim=DRIVER_LIMIT_MS)
        yield Measure(
            what=f"{name}, CPU of a late one against an early one", value=cost.run_growth, aim=CPU_GROWTH_LIMIT
        )
        yield Measure(what=f"{name}, peak of memory", value=cost.driver_mb, unit="MB")
        yield ratio(f"{name}, memory against a tenth of them", cost.driver_growth, aim=GROWTH_LIMIT)
        if cost.worker_growth is not None:
            yield ratio(f"{name}, the same of a worker", cost.worker_growth, aim=GROWTH_LIMIT)


def _whole() -> Iterator[Measure]:
    for name, found in whole_sweeps().items():
        name = f"{name}, {found.runs:,} runs"
        yield Measure(what=f"{name}, until the table", value=found.waited.table_s, unit="s", aim=found.limit_s)
        yield ratio(f"{name}, until the table, against that aim", found.against_limit, aim=1.0)
        yield Measure(what=f"{name}, until the end", value=found.waited.end_s, unit="s")
        yield Measure(what=f"{name}, what C needs, on all cores", value=found.physics_s / cores(), unit="s")
        yield Measure(what=f"{name}, of all cores, in runs", value=found.in_runs, unit="")
        yield share(f"{name}, of all cores, in C", found.in_physics)


def _peers() -> Iterator[Measure]:
    mine, *others = rates()
    for found in (mine, *others):
        yield Measure(what=f"{found.name}, further runs", value=1 / found.run_s, unit="runs/s", more_is_better=True)
        yield Measure(what=f"{found.name}, start", value=found.start_s, unit="s")
        yield Measure(what=f"{found.name}, 1,000 runs", value=found.wall_s(1000), unit="s")
    for found in others:
        yield share(f"this one's further runs, against {found.name}", found.run_s / mine.run_s, unit="x")


def _ledger() -> Iterator[Measure]:
    for found in ledger_costs():
        for cost in found.costs:
            name = f"{cost.what}, {cost.runs:,} runs"
            yield Measure(what=f"{name}, CPU", value=cost.cpu_us, unit="us a run")
            yield Measure(what=f"{name}, wall", value=cost.wall_us, unit="us a run")
        yield Measure(what=f"file, {found.runs:,} runs", value=found.bytes_a_run, unit="bytes a run")


def _reading() -> Iterator[Measure]:
    for cost in reading_costs():
        name = f"{cost.way}, {cost.cells:,} cells, {cost.runs:,} runs"
        yield Measure(what=f"{name}, CPU", value=cost.cpu_s, unit="s")
        yield Measure(what=f"{name}, peak of memory", value=cost.peak_mb, unit="MB")


def _growth() -> Iterator[Measure]:
    for memory in lane_memory():
        name = f"{memory.robot}, {memory.trace}"
        yield Measure(what=f"{name}, memory with one lane", value=memory.one_mb, unit="MB")
        yield Measure(what=f"{name}, memory of a further lane", value=memory.lane_kb, unit="kB")
    for queue in queue_costs():
        name = f"{queue.runs:,} runs queued"
        yield Measure(what=f"{name}, CPU", value=queue.cpu_s, unit="s")
        yield Measure(what=f"{name}, peak of memory", value=queue.peak_mb, unit="MB")
        yield Measure(what=f"{name}, ledger", value=queue.file_mb, unit="MB")
    for time in run_times():
        name = f"{time.executor}, {time.runs:,} runs"
        yield Measure(what=f"{name}, until the table", value=time.table_s, unit="s")
        yield Measure(what=f"{name}, wall time of a further one", value=time.run_ms, unit="ms")


def _travel() -> Iterator[Measure]:
    found = weights()
    yield Measure(what="a further Plan, pickled", value=found.plan, unit="bytes")
    yield Measure(what="a further Plan, in a worker's memory", value=found.plan_in_memory, unit="bytes")
    yield Measure(what="a record, pickled", value=found.record, unit="bytes")
    yield Measure(what="a run of 3 s of the arm, CPU", value=found.run_s, unit="s")
    for level, size in found.files.items():
        yield Measure(what=f"a run of 3 s of the arm, {level}", value=size / 1e6, unit="MB")
    for landing in landings():
        yield Measure(what=f"an answer among {landing.waiting:,}, CPU", value=landing.cpu_ms, unit="ms")
        yield Measure(what=f"an answer among {landing.waiting:,}, wall", value=landing.wall_ms, unit="ms")
    mirror = mirror_cost()
    yield Measure(what="a further cell in MLflow, CPU", value=mirror.cpu_ms, unit="ms")
    yield Measure(what="a further cell in MLflow, wall", value=mirror.wall_ms, unit="ms")
    yield Measure(what="a further cell in MLflow, database", value=mirror.database, unit="bytes")


PARTS: Mapping[str, Callable[[], Iterator[Measure]]] = {
    "lanes": _lanes,
    "traces": _traces,
    "derived": _derived,
    "start": _start,
    "planning": _planning,
    "driver": _driver,
    "ledger": _ledger,
    "reading": _reading,
    "growth": _growth,
    "travel": _travel,
    "whole": _whole,
    "peers": _peers,
}
"""What can be named, to what measures it."""
