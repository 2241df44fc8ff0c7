"""The queue of shards and the isolation of killers, without any process."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.execution.deadline import Overdue
from sweep.execution.shards import MAX_LANES, ShardQueue
from sweep.results import Status
from sweep.results.attempts import Ending, RunHistory, State


@dataclass(frozen=True)
class FakePlan:
    plan_id: str
    layout: str
    manifest = SimpleNamespace(runtime=SimpleNamespace(duration_s=1.0), metrics={})


@dataclass(frozen=True)
class FakeRun:
    run_id: str
    plan: FakePlan
    seed: int = 0


@dataclass(frozen=True)
class FakeRecord:
    wall_s: float


SLOW = Overdue(limit_s=2.0, wall_s=2.1, time_s=0.25)
HANG = Overdue(limit_s=2.0, wall_s=12.0)


def runs(layouts):
    return [FakeRun(f"r{i}", FakePlan(f"p{name}", name)) for i, name in enumerate(layouts)]


def drain(queue, cost_s):
    shards = []
    while (shard := queue.take()) is not None:
        shards.append(shard)
        queue.observe(shard, [FakeRecord(cost_s)] * len(shard))
    return shards


@given(
    st.lists(st.sampled_from("abc"), max_size=200),
    st.integers(1, 5),
    st.floats(1e-5, 10),
    st.integers(1, 200),
)
def test_every_run_leaves_once_in_shards_of_one_layout(layouts, workers, cost_s, lanes):
    queue = ShardQueue(runs(layouts), shard_s=2.0, workers=workers, lanes=lanes)
    assert len(queue) == len(layouts)
    shards = drain(queue, cost_s)
    assert [len({run.plan.layout for run in shard}) for shard in shards] == [1] * len(shards)
    assert Counter(run.run_id for shard in shards for run in shard) == Counter(f"r{i}" for i in range(len(layouts)))
    assert max(map(len, shards), default=0) <= MAX_LANES
    assert len(queue) == 0


def test_the_canary_is_one_run_alone_and_shards_grow_from_it():
    sizes = [len(shard) for shard in drain(ShardQueue(runs("a" * 200), shard_s=2.0), 0.01)]
    assert sizes == [1, 50, 50, 50, 49], "four equal ones, and not three full ones and a rest"


def test_shards_take_about_the_time_asked_for():
    def sizes(cost_s):
        return [len(shard) for shard in drain(ShardQueue(runs("a" * 97), shard_s=5.0, lanes=32), cost_s)]

    # A lone run is taken to be mostly what lanes share; the first real batch corrects that.
    assert sizes(0.0625)[:3] == [1, 32, 32]
    # Small batches waste more than an early record is worth, unless runs are long.
    assert sizes(0.5)[:4] == [1, 32, 16, 16]
    assert sizes(5.0)[:4] == [1, 8, 4, 4]
    assert {len(s) for s in drain(ShardQueue(runs("a" * 10), shard_s=5.0), 60.0)} == {1}


def test_the_last_shards_are_small_enough_for_all_workers():
    queue = ShardQueue(runs("a" * 100), shard_s=10.0, workers=4)
    shards = drain(queue, 0.3)
    assert max(len(s) for s in shards[-4:]) <= 4


def test_order_holds_as_far_as_layouts_allow():
    queue = ShardQueue(runs("abab"), shard_s=2.0)
    assert [[run.run_id for run in shard] for shard in drain(queue, 0.001)] == [["r0"], ["r1", "r3"], ["r2"]]


def test_what_is_put_back_comes_first_and_as_it_was():
    queue = ShardQueue(runs("a" * 10), shard_s=2.0)
    first = queue.take()
    queue.observe(first, [FakeRecord(0.1)])
    second = queue.take()
    queue.put_back([second[:2], second[2:]])
    assert len(queue) == 9
    assert queue.remaining_s() == pytest.approx(0.9)
    assert [queue.take(), queue.take()] == [second[:2], second[2:]]


class FakeLeases:
    """Keeps the histories of runs as the ledger does, and checks that nobody takes what another has."""

    def __init__(self):
        self.histories = {}

    def each(self, run_ids, step):
        for run_id in run_ids:
            self.histories[run_id] = step(self.histories.get(run_id, RunHistory()))

    def lease(self, run_ids, worker):
        self.each(run_ids, lambda h: h.leased(worker, len(run_ids), session=1, now_ms=0))

    def give_back(self, run_ids):
        self.each(run_ids, lambda h: h.ended(Ending.RETURNED, now_ms=0))

    def died(self, run_ids, cause):
        self.each(run_ids, lambda h: h.ended(Ending.DIED, now_ms=0, detail=cause))
        return [FakeRun(i, None) for i in run_ids if self.histories[i].state is State.LOST]

    def overdue(self, run_ids, detail):
        self.each(run_ids, lambda h: h.ended(Ending.OVERDUE, now_ms=0, detail=detail))


@given(count=st.integers(1, 64), data=st.data())
def test_the_killers_and_the_hanging_are_found_and_only_they_are_given_up(count, data):
    some = st.sets(st.integers(0, count - 1), max_size=4)
    poison = {f"r{i}" for i in data.draw(some)}
    hangs = {f"r{i}" for i in data.draw(some)} - poison
    leases = FakeLeases()
    queue = ShardQueue(runs("a" * count), shard_s=2.0, leases=leases)
    done, lost, late, returns = [], [], [], data.draw(st.lists(st.booleans(), max_size=20))
    while (shard := queue.take("w")) is not None:
        if returns and returns.pop():  # it waited behind another that killed the worker
            queue.put_back([shard])
        elif any(run.run_id in poison for run in shard):
            lost += [record.run_id for record in queue.died(shard, "killed")]
        elif any(run.run_id in hangs for run in shard):
            for record in queue.settle(shard, HANG):
                leases.each([record.run_id], lambda h: h.answered(Status.TIMED_OUT, now_ms=0))
                late.append(record.run_id)
        else:
            leases.each([run.run_id for run in shard], lambda h: h.answered(Status.COMPLETED, now_ms=0))
            queue.settle(shard, [FakeRecord(0.001)] * len(shard))
            done += [run.run_id for run in shard]
    assert (set(lost), set(late)) == (poison, hangs)
    assert sorted(done + lost + late) == sorted(f"r{i}" for i in range(count))
    assert len(queue) == 0
    for run_id, history in leases.histories.items():
        given_up = State.LOST if run_id in poison else State.TIMED_OUT if run_id in hangs else State.DONE
        assert history.state is given_up
        assert history.deaths >= 3 or run_id not in poison


def test_a_slow_shard_is_halved_and_one_that_hangs_is_taken_apart():
    def parts(overdue):
        queue = ShardQueue(runs("a" * 8), shard_s=2.0)
        queue.observe(queue.take(), [FakeRecord(0.01)])
        shard = queue.take()
        assert queue.overdue(shard, overdue) == []
        assert len(queue) == len(shard) == 7
        return [len(part) for part in iter(queue.take, None)]

    assert parts(SLOW) == [4, 3]
    assert parts(HANG) == [1] * 7


def test_a_lone_overdue_run_is_timed_out_and_told_what_to_type():
    queue = ShardQueue(runs("aa"), shard_s=2.0)
    (slow,), (hang,) = (queue.overdue(queue.take(), overdue) for overdue in (SLOW, HANG))
    assert (slow.outcome.status, slow.wall_s, slow.outcome.time_s) == (Status.TIMED_OUT, 2.1, 0.25)
    assert slow.outcome.message == (
        "executor.timeout_s=2 was over with 0.25 of 1 s simulated; at this pace it needs executor.timeout_s=11"
    )
    assert (hang.outcome.status, hang.wall_s, hang.outcome.time_s) == (Status.TIMED_OUT, 12.0, None)
    assert hang.outcome.message == (
        "no answer within executor.timeout_s=2, so its worker was killed: it hangs in one step, or needs "
        "executor.timeout_s=24"
    )


def test_suspects_go_last_and_alone_and_only_to_whom_may_die_of_them():
    queue = ShardQueue(runs("a" * 40), shard_s=2.0, lanes=32, suspects={"r0", "r39"})
    assert (len(queue), queue.suspects, len(queue.plans())) == (40, 2, 1)
    shards = []
    while (shard := queue.take(suspects=False)) is not None:
        queue.observe(shard, [FakeRecord(0.001)] * len(shard))
        shards.append(shard)
    assert [len(shard) for shard in shards] == [1, 20, 17]
    assert len(queue) == 2
    assert queue.remaining_s() > 0
    assert [[run.run_id for run in queue.take()] for _ in range(2)] == [["r0"], ["r39"]]
    assert queue.take() is None
