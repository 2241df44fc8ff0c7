"""A run: one Plan and one seed; its id, and the order in which runs go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sweep.design.expand import Design
from sweep.plan.plan import Plan
from sweep.plan.plan import run_id as run_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicate:
    """One seed of one cell, before its Plan is resolved."""

    cell_id: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One episode to simulate.

    Attributes:
        run_id: digest of plan_id and seed.
        plan: what is simulated.
        seed: the episode seed.
        cell_id: the cell it belongs to.
    """

    run_id: str
    plan: Plan
    seed: int
    cell_id: str


def replicates(design: Design) -> tuple[Replicate, ...]:
    """All cells of the first seed, then all of the second: paired tables fill evenly while a sweep runs."""
    return tuple(Replicate(cell_id=cell.cell_id, seed=seed) for seed in design.seeds for cell in design.cells)


def order_runs(design: Design, plans: Mapping[str, Plan]) -> tuple[Run, ...]:
    """The runs of a design in seed-major order.

    Args:
        design: the cells and seeds.
        plans: the resolved Plan of each cell, by cell_id.

    Raises:
        KeyError: a cell without a Plan.
    """
    return tuple(
        Run(run_id=run_id(plans[r.cell_id].plan_id, r.seed), plan=plans[r.cell_id], seed=r.seed, cell_id=r.cell_id)
        for r in replicates(design)
    )


def distinct_runs(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs without those whose Plan and seed came before: two cells may resolve to one Plan."""
    return tuple({run.run_id: run for run in reversed(runs)}.values())[::-1]
