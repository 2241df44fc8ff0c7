"""What people wait for who read many runs: ``analysis.load``, the table of ``compare``, the page of ``report``.

A ledger of a grid of the arm, every run of which has the record of one real run under its own ids, with metrics that
differ.  A process of its own for each; counted are its CPU, all threads, imports included, and its peak of memory.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench.fresh import cpu_s, peak_mb, printed, tell

WAYS = ("load", "compare", "report")


@dataclass(frozen=True)
class ReadingCost:
    """One way to read a sweep: CPU [s], and the process' peak of memory [MB]."""

    way: str
    cells: int
    runs: int
    cpu_s: float
    peak_mb: float


def reading_costs(*, sizes: Sequence[tuple[int, int]] = ((1_000, 100), (10_000, 2))) -> list[ReadingCost]:
    """The costs by number of cells and of seeds."""
    return [cost for cells, seeds in sizes for cost in _costs(cells, seeds)]


def _costs(cells: int, seeds: int) -> Iterator[ReadingCost]:
    with tempfile.TemporaryDirectory() as folder:
        filled = printed("reading", "fill", cells, seeds, folder=folder)
        for way in WAYS:
            yield ReadingCost(way=way, **filled, **printed("reading", way, folder=folder))


def _fill(cells: int, seeds: int) -> None:
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep
    from sweep.results import Ledger
    from sweep.runtime import InstanceBatch

    axes = ("+latency=interval(0,0.1)", "+mass_scale=interval(0.5,1.5)", f"design.levels={math.isqrt(cells)}")
    planned = plan_sweep(load_spec(["scene=arm", *axes, f"seeds={seeds}", "tracking=none"]))
    (record,) = InstanceBatch([planned.base], [0]).run()
    drawn = random.Random(0)
    records = [
        replace(
            record, run_id=run.run_id, plan_id=run.plan.plan_id, seed=run.seed, metrics=_near(record.metrics, drawn)
        )
        for run in planned.runs
    ]
    with Ledger.create(Path("ledger.sqlite"), planned.header) as ledger:
        ledger.add_cells(planned.cells)
        ledger.add_runs((run.run_id, run.cell_id, run.plan.plan_id, run.seed) for run in planned.runs)
        ledger.begin({})
        ledger.append(records)
        ledger.finish()
    tell({"cells": len(planned.cells), "runs": len(records)})


def _near(metrics: Mapping[str, float | None], drawn: random.Random) -> dict[str, float | None]:
    return {name: value and value * (1 + 0.1 * drawn.random()) for name, value in metrics.items()}


def _read(way: str) -> None:
    if way == "load":
        import analysis

        analysis.load(".")
    else:
        from sweep.cli import main

        main([way, "."])


if __name__ == "__main__":
    if sys.argv[1] == "fill":
        _fill(*map(int, sys.argv[2:]))
    else:
        before = cpu_s()
        _read(sys.argv[1])
        tell({"cpu_s": cpu_s() - before, "peak_mb": peak_mb()})
