"""The last boundaries that an Instance keeps are those it had, however it got there."""

from __future__ import annotations

import numpy as np
import pytest

from sweep.runtime import InstanceBatch, SimulationInstance
from sweep.runtime.hosting.recent import KEPT, RecentBoundaries
from tests.runtime.scenes import cart, plan_of


def stepped(plan, ticks):
    """Every boundary and control of an Instance that is looked at after each step, the hard way."""
    instance = plan.instantiate(3)
    states, controls = [], [[np.nan, np.nan]]
    for tick in range(ticks + 1):
        if tick:
            instance.step()
            controls.append(instance.snapshot().ctrl)
        shown = instance.snapshot()
        states.append([tick * 0.001, *shown.qpos, *shown.qvel])
    return np.array(states), np.array(controls)


@pytest.mark.parametrize("max_block", [None, 1, 7])
@pytest.mark.parametrize("ticks", [1, 30, KEPT - 1, KEPT, KEPT + 1, 130])
def test_history_is_the_last_boundaries(max_block, ticks):
    plan = plan_of(cart())
    instance = SimulationInstance(plan, 3, max_block=max_block)
    instance.advance(ticks)
    history = instance.history
    states, controls = stepped(plan, ticks)
    assert history.first_tick == max(0, ticks + 1 - KEPT)
    np.testing.assert_allclose(history.states, states[-KEPT:], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(history.qpos, states[-KEPT:, 1:3])
    np.testing.assert_array_equal(history.qvel, states[-KEPT:, 3:5])
    np.testing.assert_array_equal(history.controls, controls[-KEPT:])
    assert history.names.qpos == history.names.qvel == ("slider", "hinge")
    assert history.names.controls == ("push", "twist")


def test_reading_in_between_changes_nothing():
    plan = plan_of(cart())
    one, other = plan.instantiate(3), plan.instantiate(3)
    for _ in range(13):
        one.advance(10)
        one.history.states[:] = 0.0
    other.advance(130)
    np.testing.assert_array_equal(one.history.states, other.history.states)
    assert one.trace_digest == other.trace_digest


def test_a_new_episode_begins_without_the_old_ones():
    instance = plan_of(cart()).instantiate()
    assert instance.history.states.shape == (0, 5)
    instance.advance(70)
    instance.reset()
    instance.advance(3)
    assert (instance.history.first_tick, len(instance.history.states)) == (0, 4)
    np.testing.assert_array_equal(instance.history.states[0], [0, 0, 0.1, 0, 0])


def test_it_is_an_observer_that_asks_for_no_derived_state():
    plan, recent = plan_of(cart()), RecentBoundaries(5)
    batch = InstanceBatch([plan], [3], observers=[recent])
    batch.run()
    batch.observation.flush()
    np.testing.assert_array_equal(recent.history(batch.context.index).states[:, 0].round(6),
                                  [0.196, 0.197, 0.198, 0.199, 0.2])  # fmt: skip


def test_joints_with_several_numbers_are_named_by_each():
    xml = """<mujoco><worldbody><body name="b"><freejoint name="base"/><geom size=".1" mass="1"/>
        <body><joint name="hip" type="ball"/><geom size=".1" mass="1"/><body><joint/><geom size=".1" mass="1"/></body>
        </body></body></worldbody></mujoco>"""
    document = {"schema": "3.3", "model": {"xml": xml}, "runtime": {"duration_s": 0.1}}
    instance = plan_of(document).instantiate()
    instance.advance(2)
    names = instance.history.names
    assert names.qpos == ("base",) * 7 + ("hip",) * 4 + ("#2",)
    assert names.qvel == ("base",) * 6 + ("hip",) * 3 + ("#2",)
    assert names.controls == ()


@pytest.mark.parametrize("max_block", [None, 1])
def test_what_the_step_that_faulted_was_fed_is_kept(max_block):
    instance = SimulationInstance(plan_of(cart(controllers={})), max_block=max_block)
    instance.advance(10)
    instance.enqueue_external_input("drive", [np.nan])
    instance.advance(10)
    assert instance.fault.tick == 11  # the command takes a tick
    history = instance.history
    assert history.first_tick + len(history.states) - 1 == 11
    np.testing.assert_array_equal(history.unfinished, [np.nan, 0.0])
    np.testing.assert_array_equal(history.controls[-1], [0.0, 0.0])


@pytest.mark.parametrize("max_block", [None, 1, 7])
def test_an_end_leaves_no_unfinished_step(max_block):
    document = cart(controllers={})
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.12}
    instance = SimulationInstance(plan_of(document), max_block=max_block)
    instance.run()
    assert instance.end is not None
    assert instance.history.unfinished is None
    assert abs(instance.history.qpos[-1, 1]) > 0.12 >= abs(instance.history.qpos[-2, 1])
