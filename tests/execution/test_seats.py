"""How runs are divided among workers, and that those of a crew end together, on a clock of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.execution import ray_crew, seats
from sweep.execution.ray_crew import Crew
from sweep.execution.seats import level
from sweep.execution.shards import ShardQueue

START_S, RUN_S = 0.2, 0.05
"""What a shard costs, and each run of it [s]."""


@given(st.integers(0, 10_000), st.lists(st.floats(0, 5_000), min_size=1, max_size=50))
def test_the_pending_runs_fill_all_workers_up_to_one_level(pending, ahead):
    height = level(pending, ahead)
    assert sum(max(0.0, height - runs) for runs in ahead) == pytest.approx(pending, abs=1e-6)
    assert pending == 0 or height > min(ahead)


@dataclass(frozen=True)
class FakeRun:
    run_id: str
    plan: SimpleNamespace
    seed: int = 0
    cell_id: str = "c"


@dataclass(eq=False)
class Call:
    due_s: float
    answer: object


@dataclass
class FakeRay:
    """Workers that execute their calls one after the other; waiting moves the clock on.

    Attributes:
        opens_s: when each worker is up [s].
        busy_s: until when each is at work [s].
        sizes: the shards of each.
    """

    opens_s: list[float]
    now_s: float = 0.0
    busy_s: list[float] = field(default_factory=list)
    sizes: list[list[int]] = field(default_factory=list)
    exceptions: ClassVar = SimpleNamespace(RayError=RuntimeError)

    def put(self, value):
        return value

    def remote(self, **_):
        return lambda _: SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.actor))

    def actor(self):
        worker = len(self.busy_s)
        self.busy_s.append(0.0)
        self.sizes.append([])

        def load(*_):
            self.busy_s[worker] = self.opens_s[worker]
            return Call(self.busy_s[worker], None)

        def run(runs, _):
            self.sizes[worker].append(len(runs))
            took = START_S + RUN_S * len(runs)
            self.busy_s[worker] = max(self.busy_s[worker], self.now_s) + took
            return Call(self.busy_s[worker], ([SimpleNamespace(wall_s=took / len(runs))] * len(runs), {}))

        return SimpleNamespace(load=SimpleNamespace(remote=load), run=SimpleNamespace(remote=run))

    def wait(self, calls, num_returns=1, timeout=0.0):
        first = min(calls, key=lambda call: call.due_s)
        if first.due_s > self.now_s + timeout:
            self.now_s += timeout
            return [], calls
        self.now_s = max(self.now_s, first.due_s)
        return [first], calls

    def get(self, call, timeout=None):
        return call.answer

    def monotonic(self):
        return self.now_s


def worked(ray, count, monkeypatch):
    """Have a crew empty a queue; returns the queue."""
    plan = SimpleNamespace(plan_id="p", layout="a")
    queue = ShardQueue([FakeRun(f"r{i}", plan) for i in range(count)], workers=len(ray.opens_s), lanes=128)
    for module in (ray_crew, seats):
        monkeypatch.setattr(module, "time", ray)
    placement = SimpleNamespace(take=lambda: ({}, ""), question=None)
    crew = Crew(ray, [plan], len(ray.opens_s), placement)
    done = 0
    while crew.is_busy or len(queue):
        crew.fill(queue)
        done += sum(map(len, crew.collect(queue)))
    assert done == count
    return queue


@pytest.mark.parametrize("opens_s", [[0.0, 0.0], [0.0, 3.0], [1.0, 0.0, 2.5, 7.0]])
def test_workers_end_together_without_small_shards(opens_s, monkeypatch):
    ray = FakeRay(opens_s)
    worked(ray, 1000, monkeypatch)
    assert max(ray.busy_s) - min(ray.busy_s) < 0.2
    assert min(size for sizes in ray.sizes for size in sizes if size > 1) > 20
