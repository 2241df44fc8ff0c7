"""What planning costs: a grid of two axes, and Latin hypercubes of three, every value of which is another.

Two of the hypercube's axes belong to one component and the third to the model; those of ``lhs of all`` belong to a
device, a driver and a controller each, so that every cell changes all that reads a time.

A process of its own for each design and size.  Counted are its CPU seconds, all threads, for ``load_spec`` and
``plan_sweep``, imports of the command line excluded and those that a design needs included; and the peak of its memory.
What a further cell costs is the difference to a tenth of the cells, measured just before: what is done once, as the
compilation of the model, is in both.
"""

from __future__ import annotations

import math
import sys
import tempfile
from dataclasses import dataclass

from tests.bench.fresh import cpu_s, peak_mb, printed, tell

AXES = ("+latency=interval(0,0.1)", "+mass_scale=interval(0.5,1.5)", "+noise_scale=interval(0,4)")

TIMES = ("+latency=interval(0,0.1)", "+command_latency=interval(0.001,0.05)", "+control_period=interval(0.001,0.01)")

DESIGNS = ("grid", "lhs", "lhs of all")


@dataclass(frozen=True)
class PlanningCost:
    """One design.

    Attributes:
        design: its kind.
        cells: how many.
        cpu_s: CPU of all of them [s] ...
        cell_us: ... and of each further one [us].
        peak_mb: peak of memory with all of them [MB] ...
        cell_kb: ... and what each further one adds [kB].
    """

    design: str
    cells: int
    cpu_s: float
    cell_us: float
    peak_mb: float
    cell_kb: float


def planning_costs(*, cells: int = 10_000) -> list[PlanningCost]:
    """The cost of each design with about so many cells."""
    return [_cost(design, cells) for design in DESIGNS]


def _cost(design: str, cells: int) -> PlanningCost:
    with tempfile.TemporaryDirectory() as folder:
        few, many = (printed("planning", design, count, folder=folder) for count in (max(4, cells // 10), cells))
    further = many["cells"] - few["cells"]
    return PlanningCost(
        design=design,
        cells=many["cells"],
        cpu_s=many["cpu_s"],
        cell_us=(many["cpu_s"] - few["cpu_s"]) / further * 1e6,
        peak_mb=many["peak_mb"],
        cell_kb=(many["peak_mb"] - few["peak_mb"]) / further * 1e3,
    )


def _words(design: str, cells: int) -> list[str]:
    if design == "grid":
        return [*AXES[:2], f"design.levels={math.isqrt(cells)}"]
    return [*(AXES if design == "lhs" else TIMES), "design=lhs", f"design.n={cells}"]


def _measure(design: str, cells: int) -> None:
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep

    before = cpu_s()
    planned = plan_sweep(load_spec([*_words(design, cells), "scene=arm", "seeds=1", "tracking=none"]))
    tell({"cells": len(planned.cells), "cpu_s": cpu_s() - before, "peak_mb": peak_mb()})


if __name__ == "__main__":
    _measure(sys.argv[1], int(sys.argv[2]))
