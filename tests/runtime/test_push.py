"""Pushes: wrenches at times and of sizes from streams of their own."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import InvalidInputError
from sweep.plan import stream_key
from sweep.plan.disturbances import PushSpec
from sweep.results.record import Status
from sweep.runtime import InstanceBatch, uniforms
from sweep.runtime.block import Block
from sweep.runtime.components.push import Push, PushSchedule
from sweep.runtime.numerics.sine import sines_and_cosines_of
from tests.runtime.scenes import bits, plan_of

DT = Fraction(2, 1000)
BALL = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <geom type="plane" size="5 5 .1" friction="1 .01 .001"/>
    <body name="ball" pos="0 0 .1"><freejoint/><geom type="ellipsoid" size=".1 .08 .1" mass="1"/></body>
    <body name="post" pos="1 0 .5"><joint name="post" type="hinge" axis="0 1 0" damping="1"/>
      <geom type="capsule" size=".02 .3" pos="0 0 -.3" mass="1" contype="0" conaffinity="0"/></body>
  </worldbody>
</mujoco>
"""
PUSH = {
    "type": "push", "body": "ball", "first_s": 0.05, "interval_s": 0.0831, "interval_jitter_s": 0.06,
    "duration_s": 0.0755, "force_n": [2, 9], "torque_nm": [-0.3, 0.4], "torque_axis": [1, 2, -2],
}  # fmt: skip


def ball(push=PUSH, **components):
    document = {"schema": "3.3", "model": {"xml": BALL}, "runtime": {"duration_s": 0.6}}
    return {**document, "components": {"push": push, **components}}


def draw(seed, stream, number):
    return float(uniforms(stream_key(seed, "push", stream), number, 1)[0])


def scalar_pushes(spec, seed, count):
    """(first step, step after the last, force and torque) of each push, in exact fractions as far as times go."""
    found = []
    for k in range(count):
        due = Fraction(str(spec["first_s"])) + k * Fraction(str(spec["interval_s"]))
        due += Fraction(str(spec["interval_jitter_s"])) * Fraction(draw(seed, "time", k))
        start = math.ceil(due / DT)
        low, high = spec["force_n"]
        size = low + (high - low) * draw(seed, "force", k)
        sine, cosine = (float(x[0]) for x in sines_and_cosines_of(np.array([draw(seed, "direction", k)])))
        low, high = spec["torque_nm"]
        twist = low + (high - low) * draw(seed, "torque", k)
        torque = [twist * (x / 3.0) for x in spec["torque_axis"]]
        steps = math.ceil(Fraction(str(spec["duration_s"])) / DT)
        found.append((start, start + steps, [size * cosine, size * sine, 0.0, *torque]))
    return found


def scalar_run(seed, steps=300):
    model = mujoco.MjModel.from_xml_string(BALL)
    data = mujoco.MjData(model)
    pushes = scalar_pushes(PUSH, seed, 12)
    rows = []
    for step in range(steps):
        data.xfrc_applied[:] = 0
        for start, stop, wrench in pushes:
            if start <= step < stop:
                data.xfrc_applied[model.body("ball").id] += wrench
        mujoco.mj_step(model, data)
        rows.append(bits([data.time, *data.qpos, *data.qvel]))
    return rows


@pytest.mark.parametrize("seed", [0, 12345])
def test_pushed_bodies_move_bit_for_bit_as_in_a_scalar_loop(seed):
    rows = scalar_run(seed)
    for max_block in (1, 3, None):
        batch = InstanceBatch([plan_of(ball())] * 2, [99, seed], max_block)
        for tick in range(0, 300, 50):
            batch.advance(50)
            assert bits(batch.boundary[1]) == rows[tick + 49]


def test_jitter_makes_pushes_overlap_and_they_add_up():
    """What the scalar loop above compares is worth something: some of its pushes overlap, some steps have none."""
    pushes = scalar_pushes(PUSH, 0, 7)
    acting = [sum(start <= step < stop for start, stop, _ in pushes) for step in range(300)]
    assert {0, 1, 2} <= set(acting)


@cache
def context():
    return InstanceBatch([plan_of(ball())], [5]).context


def wrenches(spec, *, blocks):
    """What a push adds to its body in given blocks, ``(ticks, 6)``."""
    push, body = Push("push", [PushSpec.model_validate(spec)], context()), context().index.model.body("ball").id
    found = []
    for start, stop in blocks:
        into = np.zeros((1, stop - start, 3, 6))
        push.apply(Block(start, stop), into)
        found.append(into[0, :, body])
    return np.concatenate(found)


@settings(max_examples=10, deadline=None)
@given(
    first=st.integers(0, 60), interval=st.integers(20, 900), jitter=st.floats(0, 1), duration=st.integers(1, 90),
    cuts=st.sets(st.integers(1, 199)),
)  # fmt: skip
def test_a_push_begins_at_the_first_boundary_that_is_late_enough_and_lasts_whole_steps(
    first, interval, jitter, duration, cuts
):
    """In tenths of a millisecond, on a grid of 2 ms: exact on the grid and off it, whatever the blocks."""
    seconds = {"first_s": first / 1e4, "interval_s": interval / 1e4, "duration_s": duration / 1e4}
    spec = {**PUSH, **seconds, "interval_jitter_s": jitter * interval / 1e4, "force_n": 1.0, "direction": [0, 0, 1],
            "torque_nm": 0.0}  # fmt: skip
    edges = [0, *sorted(cuts), 200]
    found = wrenches(spec, blocks=itertools.pairwise(edges))[:, 2]
    expected = np.zeros(200)
    steps = -(-duration // 20)
    for k in range(4000 // interval + 1):
        nominal = Fraction(first + k * interval, 20)
        late = Fraction(spec["interval_jitter_s"]) / DT * Fraction(draw(5, "time", k))
        start = math.ceil(nominal + late)
        expected[start : start + steps] += 1.0
    assert found.tolist() == expected.tolist()


def test_times_may_be_given():
    spec = {"type": "push", "body": "ball", "times_s": [0.0, 0.0031, "20 ms"], "duration_s": 0.003, "force_n": "1 N",
            "direction": [0, 3, 4]}  # fmt: skip
    found = wrenches(spec, blocks=[(0, 5), (5, 40)])
    assert found[:, 0].tolist() == [0.0] * 40
    assert found[:, 1].tolist() == [0.6] * 4 + [0.0] * 6 + [0.6] * 2 + [0.0] * 28
    assert found[:, 2].max() == 0.8


def test_the_first_push_is_one_interval_in_unless_said_otherwise():
    spec = {"type": "push", "body": "ball", "interval_s": 0.02, "duration_s": 0.002, "force_n": 1.0}
    found = wrenches(spec, blocks=[(0, 25)])
    assert np.flatnonzero(found.any(axis=1)).tolist() == [10, 20]


def test_directions_are_drawn_all_around_and_sizes_between_their_bounds():
    spec = PushSpec.model_validate({**PUSH, "force_n": [2, 9]})
    starts, values = PushSchedule("push", [spec], context()).pushes(0, 1500)
    force = values[0, :, :3]
    size = np.linalg.norm(force, axis=1)
    assert (force[:, 2] == 0).all()
    assert 2 < size.min() < 2.05
    assert 8.95 < size.max() < 9
    assert size.mean() == pytest.approx(5.5, abs=4 * 7 / math.sqrt(12 * 1500))
    assert np.abs(np.mean(force / size[:, None], axis=0)).max() < 4 / math.sqrt(2 * 1500)
    assert (np.diff(starts[0]) >= 0).all()


def test_no_other_component_lane_or_block_shifts_the_stream():
    alone = InstanceBatch([plan_of(ball())], [7]).run()[0]
    other = {**PUSH, "body": "post", "interval_s": 0.05, "interval_jitter_s": 0.01}
    encoder = {"type": "encoder", "joints": "post", "period_s": 0.01, "white_std": 0.1}
    crowded = plan_of(ball(gust=other, enc=encoder))
    for max_block in (1, 7, None):
        record = InstanceBatch([crowded] * 3, [1, 7, 2], max_block).run()[1]
        mine = {name: receipt for name, receipt in record.receipts.items() if name.startswith("push/")}
        assert mine == alone.receipts
    assert alone.receipts["push/time"].count == scalar_count(7)


def scalar_count(seed, steps=300):
    return sum(start < steps for start, _, _ in scalar_pushes(PUSH, seed, 12))


def test_a_lane_that_ends_used_no_later_draws():
    end = {"type": "limit_exceeded", "joints": "post", "limit": 0.3}
    spec = {**PUSH, "body": "post", "force_n": [20, 30], "direction": [1, 0, 0]}
    plan = plan_of({**ball(spec, end=end)})
    records = [InstanceBatch([plan] * 4, [0, 1, 2, 3], max_block).run() for max_block in (1, 8, None)]
    assert records[0] == records[1] == records[2]
    for seed, record in enumerate(records[0]):
        assert record.outcome.status is Status.ENDED
        count = sum(start <= record.outcome.tick for start, _, _ in scalar_pushes(PUSH, seed, 12))
        assert {receipt.count for receipt in record.receipts.values()} == {count}
        assert record.summaries["push/pushes"] == count


def test_all_its_numbers_may_differ_between_lanes():
    changes = [{}, {"first_s": 0.1}, {"interval_s": 0.11}, {"interval_jitter_s": 0.0}, {"duration_s": 0.01},
               {"force_n": 4.0}, {"force_n": [0, 1]}, {"torque_nm": 0.0}, {"torque_axis": [0, 0, 1]}]  # fmt: skip
    plans = [plan_of(ball(), {f"components.push.{k}": v for k, v in change.items()}) for change in changes]
    assert len({plan.layout for plan in plans}) == 1
    together = InstanceBatch(plans, [3] * len(plans), 20).run()
    assert together == [InstanceBatch([plan], [3]).run()[0] for plan in plans]
    assert len({record.trace_digest for record in together}) == len(plans)


def test_what_was_pushed_can_be_looked_up():
    batch = InstanceBatch([plan_of(ball())], [7])
    batch.run()
    table = batch.parts.disturbances["push"].event_table(0)
    expected = [push for push in scalar_pushes(PUSH, 7, 12) if push[0] < 300]
    rows = zip(table["tick"].tolist(), table["stop_tick"].tolist(), table["values"].tolist(), strict=True)
    assert list(rows) == expected
    assert table["index"].tolist() == list(range(len(expected)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": "bal"}, "unknown body 'bal'; did you mean 'ball'"),
        ({"body": "world"}, "unknown body 'world'"),
        ({"interval_s": None}, "give one of: interval_s, times_s"),
        ({"times_s": [0.1]}, "give one of: interval_s, times_s"),
        ({"interval_s": None, "times_s": [0.1]}, "go with interval_s"),
        ({"interval_s": None, "first_s": None, "interval_jitter_s": 0, "times_s": [0.2, 0.1]}, "in order"),
        ({"interval_jitter_s": 0.1}, "at most interval_s (0.0831 s), not 0.1 s"),
        ({"interval_s": 0.001, "interval_jitter_s": 0}, "shorter than the timestep"),
        ({"force_n": [9, 2]}, "force_n is [low, high]"),
        ({"force_n": "5 m"}, "force_n"),
        ({"direction": "up"}, "direction"),
        ({"direction": [0, 0, 0]}, "direction must not be all zeros"),
        ({"torque_axis": [0, 0, 0]}, "torque_axis must not be all zeros"),
        ({"duration_s": 0}, "duration_s"),
    ],
)
def test_what_is_asked_wrong_is_told(change, said):
    with pytest.raises(InvalidInputError) as caught:
        plan_of(ball({k: v for k, v in {**PUSH, **change}.items() if v is not None}))
    assert said in str(caught.value)
    assert "components.push" in str(caught.value)
