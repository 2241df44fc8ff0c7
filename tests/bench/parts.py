"""The parts of ``make bench``: each measures, and returns its table and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from tests.bench.derived import derived_costs
from tests.bench.driver import driver_costs
from tests.bench.first_run import first_runs
from tests.bench.lanes import measure, robots
from tests.bench.ledger import ledger_costs
from tests.bench.planning import planning_costs
from tests.bench.share import physics_share
from tests.bench.startup import split
from tests.bench.traces import trace_costs

LIMITS = {"humanoid": 1.3, "half_cheetah": 1.6, "cartpole": 2.2}
"""What many lanes may cost against C."""

TRACE_LIMITS = {"events": 1.15, "full": 1.5}
"""What a trace may cost against none."""

PLANNING_LIMIT_S = 5.0
"""CPU seconds that 10,000 cells may take to plan [s]."""

DRIVER_LIMIT_MS = 0.3
"""CPU that a run may cost the driver [ms]."""

GROWTH_LIMIT = 1.1
"""What memory may grow by with ten times the runs."""

SHARE_LIMIT = 0.85
"""The part of the cores that shall do physics in a sweep of a minute."""

Measured = tuple[Table, Any]


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    return table


def _lanes() -> Measured:
    ratios = [measure(robot, count) for robot in robots() for count in (1, 32, 64)]
    table = _table(
        "InstanceBatch against C replaying the recorded controls",
        ("robot", "lanes", "ratio", "limit", "C, us a step"),
        [
            (r.robot, str(r.lanes), f"{r.ratio:.2f}", f"{LIMITS[r.robot]}" * (r.lanes > 1), f"{r.us_per_step:.1f}")
            for r in ratios
        ],
    )
    return table, [{"robot": r.robot, "lanes": r.lanes, "ratio": round(r.ratio, 3)} for r in ratios]


def _traces() -> Measured:
    costs = trace_costs(robots()[0])
    table = _table(
        "traces of 32 lanes of humanoid, files written",
        ("level", "ratio", "limit", "kB a simulated s"),
        [(c.level, f"{c.ratio:.2f}", f"{TRACE_LIMITS[c.level]}", f"{c.bytes_per_s / 1e3:.0f}") for c in costs],
    )
    return table, [{"level": c.level, "ratio": round(c.ratio, 3), "bytes_per_s": round(c.bytes_per_s)} for c in costs]


def _derived() -> Measured:
    ratios = derived_costs(robots()[0])
    rows = [(name, f"{ratio:.2f}") for name, ratio in ratios.items()]
    table = _table("derived state of 32 lanes of humanoid, against none", ("who reads", "ratio"), rows)
    return table, {name: round(ratio, 3) for name, ratio in ratios.items()}


def _startup() -> Measured:
    parts = split()
    shares = {name: seconds / parts["total"] for name, seconds in parts.items()}
    rows = [(name, f"{parts[name]:.2f}", f"{share:.0%}") for name, share in shares.items()]
    table = _table("the main job, inline, where its wall time goes", ("part", "s", "share"), rows)
    return table, {name: round(share, 3) for name, share in shares.items()}


def _planning() -> Measured:
    costs = planning_costs()
    table = _table(
        "planning, every value another",
        ("design", "cells", "CPU s", "limit", "us a further cell", "peak MB", "kB a further cell"),
        [
            (c.design, str(c.cells), f"{c.cpu_s:.1f}", f"{PLANNING_LIMIT_S:g}", f"{c.cell_us:.0f}",
             f"{c.peak_mb:.0f}", f"{c.cell_kb:.1f}")
            for c in costs
        ],
    )  # fmt: skip
    names = ("design", "cells", "cpu_s", "cell_us", "peak_mb", "cell_kb")
    return table, [_rounded(c, names) for c in costs]


def _driver() -> Measured:
    costs = driver_costs()
    table = _table(
        "the driver itself, short runs, against a tenth of them",
        ("executor", "runs", "CPU ms a run", "limit", "peak MB", "growth", "of a worker", "limit"),
        [
            (c.executor, str(c.runs), f"{c.run_ms:.2f}", f"{DRIVER_LIMIT_MS}", f"{c.driver_mb:.0f}",
             f"{c.driver_growth:.2f}", "" if c.worker_growth is None else f"{c.worker_growth:.2f}", f"{GROWTH_LIMIT}")
            for c in costs
        ],
    )  # fmt: skip
    names = ("executor", "runs", "run_ms", "driver_mb", "driver_growth", "worker_growth")
    return table, [_rounded(c, names) for c in costs]


def _first_run() -> Measured:
    found = first_runs()
    rows = [(executor, f"{seconds:.2f}") for executor, seconds in found.items()]
    return _table("from the command to the first committed run", ("executor", "s"), rows), _plain(found)


def _share() -> Measured:
    found = physics_share()
    rows = [(str(found.runs), f"{found.wall_s:.0f}", f"{found.in_runs:.0%}", f"{found.in_physics:.0%}",
             f"{SHARE_LIMIT:.0%}")]  # fmt: skip
    table = _table("a whole sweep of the arm, shares of all cores", ("runs", "s", "in runs", "in C", "limit"), rows)
    return table, _rounded(found, ("runs", "wall_s", "in_runs", "in_physics"))


def _ledger() -> Measured:
    costs = ledger_costs()
    rows = [(c.what, str(c.runs), f"{c.cpu_us:.0f}", f"{c.wall_us:.0f}") for c in costs]
    table = _table("the ledger, by run", ("what", "runs", "CPU us", "wall us"), rows)
    return table, [_rounded(c, ("what", "runs", "cpu_us", "wall_us")) for c in costs]


def _rounded(found: object, names: Sequence[str]) -> dict[str, Any]:
    return _plain({name: getattr(found, name) for name in names})


def _plain(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}


PARTS: Mapping[str, Callable[[], Measured]] = {
    "lanes": _lanes,
    "traces": _traces,
    "derived": _derived,
    "startup": _startup,
    "planning": _planning,
    "driver": _driver,
    "first_run": _first_run,
    "share": _share,
    "ledger": _ledger,
}
"""What can be named, to what measures it."""
