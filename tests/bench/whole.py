"""A whole sweep, from the command to its table: 1,000 runs of two seconds of the arm on Ray, one worker a core.

Its wall time is that of the process as a person waits for it: imports, planning, canary, the start of Ray, the table.
MLflow is synced after the table; its process works meanwhile unless tracking is off, so it is measured both ways, in
turn.  Beside it stands what C needs for the same steps: the recorded controls of a few of the runs replayed by
``mujoco.rollout`` on one thread (as in :mod:`tests.bench.lanes`), CPU seconds a step before the sweep and after it,
their mean times the steps of all records.

* ``limit``: 1.3 times C's time over the cores, and 8 s; the table shall be there by then;
* ``in_runs``: of cores times wall time until the table, what the records say that runs took: the sum of their shares of
  the wall time of their shards;
* ``in_physics``: of the same, C's time.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweep.config.load import load_spec
from sweep.execution.executor import cores
from sweep.execution.planning import plan_sweep
from sweep.results import Ledger
from tests.bench.fresh import Waiting, until_table
from tests.bench.lanes import Replay

LANES = 16
LIMIT_FACTOR, LIMIT_S = 1.3, 8.0

SCENE = ("scene=arm", "+latency=0.002,0.005", "executor=ray", "manifest.runtime.duration_s=2")

WAYS: Mapping[str, tuple[str, ...]] = {"MLflow": (), "no tracking": ("tracking=none",)}
"""What is typed besides, by its name."""


@dataclass(frozen=True)
class Whole:
    """One sweep.

    Attributes:
        runs: how many.
        waited: until its table, and its end [s].
        physics_s: CPU time that C needs for the same steps [s].
        in_runs: share of cores x wall time until the table that runs took.
    """

    runs: int
    waited: Waiting
    physics_s: float
    in_runs: float

    @property
    def in_physics(self) -> float:
        """C's share of cores x wall time until the table."""
        return self.physics_s / (cores() * self.waited.table_s)

    @property
    def limit_s(self) -> float:
        """When the table shall be there [s]."""
        return LIMIT_FACTOR * self.physics_s / cores() + LIMIT_S

    @property
    def against_limit(self) -> float:
        """The time until the table, of what it may be."""
        return self.waited.table_s / self.limit_s


def whole_sweeps(
    *,
    seeds: int = 500,
    repeats: int = 5,
    scene: Sequence[str] = SCENE,
    ways: Mapping[str, Sequence[str]] = WAYS,
) -> Mapping[str, Whole]:
    """The sweep of median length against its limit, for each way."""
    plans = [run.plan for run in plan_sweep(load_spec([*scene, f"seeds={LANES // 2}"])).runs]
    replay = Replay(plans, plans[0].horizon)
    found: dict[str, list[Whole]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, words in ways.items():
            found[name].append(_once([*scene, f"seeds={seeds}", *words], replay, LANES * plans[0].horizon))
    ordered = {name: sorted(sweeps, key=lambda sweep: sweep.against_limit) for name, sweeps in found.items()}
    return {name: sweeps[len(sweeps) // 2] for name, sweeps in ordered.items()}


def _once(words: Sequence[str], replay: Replay, replayed: int) -> Whole:
    before = replay.cpu_s()
    with tempfile.TemporaryDirectory() as folder:
        waited = until_table(words, folder)
        (place,) = Path(folder).glob("sweeps/*/ledger.sqlite")
        with Ledger.open(place, read_only=True) as ledger:
            records = ledger.records()
    step_s = statistics.mean((before, replay.cpu_s())) / replayed
    steps = sum(record.outcome.tick or 0 for record in records)
    in_runs = sum(record.wall_s for record in records) / (cores() * waited.table_s)
    return Whole(len(records), waited, steps * step_s, in_runs)
