"""The domain: what ends an episode, what commits together or not at all, and actions that wait for their boundary."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import InvalidInputError
from sweep.results.record import Status
from sweep.runtime import InstanceBatch, Phase
from sweep.runtime.domain.held import Held
from tests.runtime.scenes import bits, cart, plan_of

OWN = "tests.runtime.own_components:"
DT = 0.002

# A ball over a mocap shelf, a lid that is welded to the world, and a door that turns freely.
ROOM = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="shelf" mocap="true" pos="0 0 .5"><geom name="shelf" type="box" size=".2 .2 .02"/></body>
    <body name="ball" pos="0 0 .58"><freejoint name="ball"/><geom name="ball" type="sphere" size=".05" mass="1"/>
      <site name="top" pos="0 0 .05"/></body>
    <body name="lid" pos="1 0 1"><freejoint name="lid"/><geom name="lid" type="box" size=".1 .1 .02" mass="1"/></body>
    <body name="door" pos="0 2 1"><joint name="door" type="hinge" axis="0 0 1" damping=".1"/>
      <geom type="box" size=".3 .02 .3" pos=".3 0 0" mass="2"/></body>
  </worldbody>
  <equality><weld name="shut" body1="lid"/></equality>
</mujoco>
"""


def room(components, *, duration_s=0.6, **initial):
    document = {"schema": "3.3", "model": {"xml": ROOM, "initial": initial}, "runtime": {"duration_s": duration_s}}
    return {**document, "components": components}


def own(name, **parameters):
    return {"type": "interaction", "class": OWN + name, "parameters": parameters}


def acting(kind, tick, delay_s=0.0, **values):
    return own("Actor", tick=tick, delay_s=delay_s, action=kind, values=values)


def ended(document, parameters=None, **how):
    """The outcome of the only lane."""
    return InstanceBatch([plan_of(document, parameters)], [0], **how).run()[0].outcome


def simulated(steps=300):
    """The room alone: data after each step, derived state up to date."""
    model = mujoco.MjModel.from_xml_string(ROOM)
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        yield model, data


# --- held: one rule for all of them ----------------------------------------------------------------------------------


def scalar_held(so, ticks):
    """The first step b with (b - a) >= ticks for the step a at which it became so."""
    began = None
    for step, now in enumerate(so):
        began = (step if began is None else began) if now else None
        if began is not None and step - began >= ticks:
            return step
    return None


@settings(max_examples=40)
@given(st.data(), st.lists(st.integers(0, 4), min_size=1, max_size=3), st.integers(1, 24))
def test_held_is_a_scalar_loop_whatever_the_blocks(data, ticks, steps):
    so = np.array([data.draw(st.lists(st.booleans(), min_size=steps, max_size=steps)) for _ in ticks])
    cuts = sorted(data.draw(st.sets(st.integers(1, steps - 1)))) if steps > 1 else []
    held = Held(np.array(ticks))
    enough = [held.enough(so[:, a:b].copy(), a) for a, b in zip([0, *cuts], [*cuts, steps], strict=True)]
    found = np.concatenate(enough, axis=1)
    for lane, hold in enumerate(ticks):
        first = int(found[lane].argmax()) if found[lane].any() else None
        assert first == scalar_held(so[lane], hold)


@pytest.mark.parametrize(("hold_s", "ticks"), [(0.0, 0), (0.002, 1), (0.0021, 2), (0.01, 5), (0.0099, 5)])
def test_a_hold_ends_at_the_first_boundary_that_is_late_enough(hold_s, ticks):
    document = room({"up": {"type": "limit_exceeded", "joints": "door", "limit": 0.5, "hold_s": hold_s}}, door=0.6)
    assert ended(document).tick == ticks  # it is outside from the first completed boundary on


# --- the built-in endings against MuJoCo itself ----------------------------------------------------------------------


def first_step(is_so):
    return next((step for step, (model, data) in enumerate(simulated()) if is_so(model, data)), None)


MOVED = {
    "push": {"type": "push", "body": "ball", "times_s": 0, "duration_s": 0.02, "force_n": 60, "direction": [1, 0, 0]}
}


def pushed(is_so):
    """The same of the room whose ball is pushed off its shelf."""
    model = mujoco.MjModel.from_xml_string(ROOM)
    data = mujoco.MjData(model)
    for step in range(300):
        data.xfrc_applied[model.body("ball").id, 0] = 60.0 if step < 10 else 0.0
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        if is_so(model, data):
            return step
    return None


def touching(data, model, one, other):
    pairs = {frozenset((model.geom(int(c.geom[0])).name, model.geom(int(c.geom[1])).name)) for c in data.contact}
    return frozenset((one, other)) in pairs


@pytest.mark.parametrize("max_block", [1, 7, None])
@pytest.mark.parametrize(
    ("spec", "is_so"),
    [
        ({"type": "fell", "body": "ball", "min_height_m": 0.3}, lambda m, d: d.body("ball").xpos[2] < 0.3),
        ({"type": "fell", "body": "ball", "max_tilt_rad": 1.0}, lambda m, d: d.body("ball").xmat[8] < math.cos(1.0)),
        ({"type": "fell", "body": "ball", "max_tilt_rad": "50 deg", "min_height_m": 0.1},
         lambda m, d: d.body("ball").xmat[8] < math.cos(math.radians(50))),
        ({"type": "dropped_object", "body": "ball", "min_height_m": 0.25}, lambda m, d: d.body("ball").xpos[2] < 0.25),
        ({"type": "contact_held", "geoms": ["ball", "floor"]}, lambda m, d: touching(d, m, "ball", "floor")),
        ({"type": "contact_held", "bodies": ["world", "ball"]}, lambda m, d: touching(d, m, "ball", "floor")),
        ({"type": "goal_reached", "site": "top", "point_m": [0.4, 0, 0.5], "tolerance_m": 0.2},
         lambda m, d: np.linalg.norm(d.site("top").xpos - [0.4, 0, 0.5]) <= 0.2),
        ({"type": "goal_reached", "body": "ball", "point_m": [0.5, 0, 0.3], "tolerance_m": "15 cm"},
         lambda m, d: np.linalg.norm(d.body("ball").xpos - [0.5, 0, 0.3]) <= 0.15),
    ],
)  # fmt: skip
def test_an_ending_is_the_first_boundary_where_mujoco_says_so(spec, is_so, max_block):
    expected = pushed(is_so)
    assert expected > 15
    outcome = ended(room({**MOVED, "end": spec}), max_block=max_block)
    assert (outcome.tick, outcome.component) == (expected, "end")
    assert outcome.time_s == pytest.approx((expected + 1) * DT)


@pytest.mark.parametrize("hold_s", [0.0, 0.03])
@pytest.mark.parametrize("max_block", [1, 5, None])
def test_an_object_is_dropped_once_nothing_holds_it_any_more(hold_s, max_block):
    """It hangs in the air at first: nothing that was never held is dropped."""
    spec = {"type": "dropped_object", "body": "ball", "held_by": ["lid", "shelf"], "hold_s": hold_s}
    contact = []
    pushed(lambda m, d: contact.append(touching(d, m, "ball", "shelf")))
    assert not contact[0]
    landed = contact.index(True)
    expected = landed + scalar_held([not c for c in contact[landed:]], round(hold_s / DT))
    assert ended(room({**MOVED, "drop": spec}), max_block=max_block).tick == expected


def test_joints_reach_their_goal_together_and_stay():
    goal = {"type": "goal_reached", "joints": ["slider", "hinge"], "target": [0.0, 0.13], "tolerance": [0.5, 0.01]}
    document = cart(controllers={}, metrics={}, components={"g": goal})
    plan = plan_of(document)
    angles = []
    batch = InstanceBatch([plan_of(cart(controllers={}, metrics={}, components={}))], [0])
    for _ in range(200):
        batch.advance(1)
        angles.append(float(batch.boundary[0, 2]))
    there = [abs(angle - 0.13) <= 0.01 for angle in angles]
    assert ended(document).tick == there.index(True)
    assert ended(document, {"components.g.hold_s": 0.01}).tick == scalar_held(there, 10)
    assert InstanceBatch([plan], [0]).run()[0].outcome.success is True


@pytest.mark.parametrize(("target", "status"), [(0.0, Status.ENDED), (1.0, Status.COMPLETED)])
def test_a_goal_of_joints_and_a_place_needs_both(target, status):
    place = {"type": "goal_reached", "body": "ball", "point_m": [0.5, 0, 0.3], "tolerance_m": 0.15}
    both = {**place, "joints": "door", "target": target, "tolerance": 0.1}
    outcome = ended(room({**MOVED, "goal": both}))
    assert outcome.status is status
    if status is Status.ENDED:
        assert outcome == ended(room({**MOVED, "goal": place}))


def test_a_joint_may_be_too_fast():
    limit = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.5, "signal": "velocity"}
    batch = InstanceBatch([plan_of(cart(controllers={}, metrics={}, components={"fast": limit}))], [0])
    batch.advance(200)
    assert abs(batch.boundary[0, 4]) > 0.5
    again = InstanceBatch([plan_of(cart(controllers={}, metrics={}, components={}))], [0])
    again.advance(batch.stops[0].tick)
    assert abs(again.boundary[0, 4]) <= 0.5


def test_numbers_of_endings_are_those_of_each_lane():
    document = room({**MOVED, "end": {"type": "fell", "body": "ball", "min_height_m": 0.3}})
    plans = [plan_of(document, {"components.end.min_height_m": h, "components.end.hold_s": hold})
             for h, hold in [(0.3, 0.0), (0.2, 0.0), (0.3, 0.02), (0.01, 0.0)]]  # fmt: skip
    assert len({plan.layout for plan in plans}) == 1
    together = InstanceBatch(plans, [0] * 4).run()
    assert together == [InstanceBatch([plan], [0]).run()[0] for plan in plans]
    ticks = [record.outcome.tick for record in together]
    assert ticks[0] < ticks[1]
    assert ticks[2] == ticks[0] + 10
    assert together[3].outcome.status is Status.COMPLETED


def test_what_a_lane_need_not_have_is_of_the_layout():
    spec = {"type": "fell", "body": "ball", "min_height_m": 0.3, "max_tilt_rad": 1.0}
    document = room({"end": spec})
    assert plan_of(document).layout != plan_of(document, {"components.end.max_tilt_rad": None}).layout


def test_an_ending_says_how_it_was():
    document = room({**MOVED, "end": {"type": "fell", "body": "ball", "min_height_m": 0.3, "max_tilt_rad": 3.0}})
    batch = InstanceBatch([plan_of(document)], [0], trace="events")
    batch.run()
    facts = {e.data["name"]: e.data["value"] for e in batch.domain.events(0, 0) if e.kind == "fact"}
    assert facts["height_m"] < 0.3 or facts["cosine_of_tilt"] < math.cos(3.0)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"type": "fell", "body": "bal", "min_height_m": 0}, "unknown body 'bal'; did you mean 'ball'"),
        ({"type": "fell", "body": "ball"}, "give min_height_m, max_tilt_rad, or both"),
        ({"type": "fell", "body": "ball", "max_tilt_rad": 4.0}, "max_tilt_rad"),
        ({"type": "goal_reached", "body": "ball"}, "point_m go together"),
        ({"type": "goal_reached", "joints": "door", "target": 1.0}, "tolerance is missing"),
        ({"type": "goal_reached", "joints": "door", "target": [1, 2], "tolerance": 1}, "2 numbers for 1 joints"),
        ({"type": "goal_reached", "joints": "door", "target": 1, "tolerance": 0}, "above 0"),
        ({"type": "goal_reached"}, "give joints, with target and tolerance"),
        ({"type": "goal_reached", "site": "tip", "point_m": [0, 0, 0], "tolerance_m": 1}, "unknown site 'tip'"),
        ({"type": "contact_held", "bodies": ["ball"]}, "bodies"),
        ({"type": "contact_held", "bodies": ["ball", "shef"]}, "did you mean 'shelf'"),
        ({"type": "contact_held", "geoms": ["ball", "roof"]}, "unknown geom 'roof'"),
        ({"type": "dropped_object", "body": "ball"}, "give min_height_m, held_by, or both"),
        ({"type": "dropped_object", "body": "ball", "held_by": "hand"}, "unknown body 'hand'"),
        ({"type": "limit_exceeded", "joints": "door", "limit": 1, "signal": "torque"}, "'torque' is not allowed"),
    ],
)
def test_what_is_asked_wrong_is_told(spec, said):
    with pytest.raises(InvalidInputError) as caught:
        plan_of(room({"x": spec}))
    assert said in str(caught.value)
    assert "components.x" in str(caught.value)


# --- a step's proposals are one transaction ---------------------------------------------------------------------------


@pytest.mark.parametrize("max_block", [1, 4, None])
def test_different_values_of_one_name_fault_at_the_commit_and_commit_nothing(max_block):
    first, second = own("Claimant", tick=20, value=1), own("Claimant", tick=20, value=2)
    document = cart(controllers={}, metrics={}, components={"a": first, "b": second, "count": own("Counter")})
    batch = InstanceBatch([plan_of(document)], [0], max_block, trace="events")
    batch.run()
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.kind) == (19, Phase.DOMAIN_COMMIT, "domain_conflict")
    assert "'a' and 'b' ask for different values of domain state 'shared'" in fault.message
    # Not even what the innocent third one counted in that step, nor a fact of it.
    assert dict(batch.domain.state(0)) == {"count": 19}
    assert max(e.tick for e in batch.domain.events(0, 0)) == 18


def test_equal_values_are_no_conflict():
    writer = own("Claimant", tick=20, value=[1, {"of": "both"}])
    batch = InstanceBatch([plan_of(cart(controllers={}, metrics={}, components={"a": writer, "b": writer}))], [0])
    batch.run()
    assert not batch.stops
    assert dict(batch.domain.state(0)) == {"shared": [1, {"of": "both"}]}


def test_a_conflict_in_one_lane_is_no_other_lanes():
    document = cart(controllers={}, metrics={}, components={"a": own("Claimant", tick=20, value=1),
                                                            "b": own("Claimant", tick=20, value=1)})  # fmt: skip
    plans = [plan_of(document, {"components.b.parameters.value": value}) for value in (1, 2, 1)]
    batch = InstanceBatch(plans, [0, 0, 0])
    records = batch.run()
    assert [record.outcome.status for record in records] == [Status.COMPLETED, Status.FAULTED, Status.COMPLETED]
    assert records[0] == InstanceBatch(plans[:1], [0]).run()[0]


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 6), min_size=1))
@settings(max_examples=8, deadline=None)
def test_of_several_ends_the_least_tick_then_the_least_component_wins(ends):
    parts = {name: own("Claimant", tick=tick, value=0, ends=True) for name, tick in ends.items()}
    document = cart(controllers={}, metrics={}, components=parts, runtime={"timestep_s": 0.001, "duration_s": 0.008})
    for max_block in (1, None):
        outcome = ended(document, max_block=max_block)
        assert (outcome.tick + 1, outcome.component) == min((tick, name) for name, tick in ends.items())


@pytest.mark.parametrize("max_block", [1, 7, None])
def test_nothing_later_than_an_end_exists(max_block):
    document = cart(components={**cart()["components"],
                                "end": {"type": "limit_exceeded", "joints": "slider", "limit": 0.01}})  # fmt: skip
    batch = InstanceBatch([plan_of(document)], [3], max_block, trace="events")
    batch.run()
    tick = batch.stops[0].tick
    assert 10 < tick < 190
    reference = InstanceBatch([plan_of(cart())], [3])
    reference.advance(tick + 1)
    reference.observation.flush()
    assert batch.columns["states"].digest(0) == reference.columns["states"].digest(0)
    assert batch.record(0).receipts == reference.record(0).receipts
    assert batch.record(0).metrics == {"angle": reference.parts.metrics["angle"].value(0)}


# --- deferred actions -------------------------------------------------------------------------------------------------


def rows_of(document, ticks=60, max_block=None):
    batch = InstanceBatch([plan_of(document)], [0], max_block)
    rows = []
    for _ in range(ticks):
        batch.advance(1)
        rows.append(bits(batch.boundary[0]))
    return rows


def plain_loop(change, ticks=60):
    """``change(tick, model, data)`` before each step: what DeferredActionsCommit did by then."""
    model = mujoco.MjModel.from_xml_string(ROOM)
    data = mujoco.MjData(model)
    rows = []
    for tick in range(ticks):
        change(tick, model, data)
        mujoco.mj_step(model, data)
        rows.append(bits([data.time, *data.qpos, *data.qvel]))
    return rows


def set_at(tick, field, index, value):
    def change(now, model, data):
        if now == tick:
            getattr(data, field)[index(model)] = value

    return change


def set_door(now, model, data):
    if now == 33:
        data.joint("door").qpos[0], data.joint("door").qvel[0] = 0.5, -2.0


def push_lid(now, model, data):
    data.xfrc_applied[model.body("lid").id] = [3, 0, 40, 0, 0, 1] if 33 <= now < 45 else 0


ACTIONS = {
    "equality": ({"name": "shut", "active": False}, set_at(33, "eq_active", lambda m: m.equality("shut").id, 0)),
    "mocap": ({"body": "shelf", "position_m": [0.1, 0, 0.45]},
              set_at(33, "mocap_pos", lambda m: int(m.body("shelf").mocapid[0]), [0.1, 0, 0.45])),
    "joint": ({"joint": "door", "position": [0.5], "velocity": [-2.0]}, set_door),
    "wrench": ({"body": "lid", "force_n": [3, 0, 40], "torque_nm": [0, 0, 1], "duration_s": 0.0231}, push_lid),
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(ACTIONS))
def test_a_deferred_action_becomes_real_at_phase_1_of_its_step(kind):
    """P_30 is seen after step 29; 0.005 s later is boundary 33, where step 33 begins.  Bit for bit a plain loop."""
    values, change = ACTIONS[kind]
    rows = rows_of(room({"act": acting(kind, 30, 0.005, **values)}))
    untouched = plain_loop(lambda *_: None)
    assert rows[:33] == untouched[:33]
    assert rows == plain_loop(change)
    assert rows[33] != untouched[33]


@pytest.mark.parametrize("kind", sorted(ACTIONS))
def test_an_action_without_delay_is_real_where_the_next_step_begins(kind):
    rows = rows_of(room({"act": acting(kind, 33, 0.0, **ACTIONS[kind][0])}))
    assert rows == plain_loop(ACTIONS[kind][1])


def test_wrenches_on_one_body_add_up():
    half = {"body": "lid", "force_n": [1.5, 0, 20], "torque_nm": [0, 0, 0.5], "duration_s": 0.0231}
    rows = rows_of(room({"a": acting("wrench", 33, **half), "b": acting("wrench", 33, **half)}))
    assert rows == plain_loop(push_lid)


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("equality", {"name": "shutt", "active": False}, "did you mean 'shut'"),
        ("wrench", {"body": "lidd"}, "no body 'lidd'; did you mean 'lid'"),
        (
            "mocap",
            {"body": "ball", "position_m": [0, 0, 0]},
            "mocap_pose('ball'): there is none in the model. There is: shelf",
        ),
        (
            "joint",
            {"joint": "door", "position": [1, 2], "velocity": [0]},
            "joint_kinematics('door'): give the complete resource",
        ),
        ("mocap", {"body": "held", "position_m": [0, 0, 0]}, "is claimed"),
    ],
)
def test_an_action_that_cannot_be_is_refused_at_the_commit(kind, values, said):
    components = {"act": acting(kind, 10, **values)}
    if values.get("body") == "held":
        components = {"act": acting(kind, 10, body="shelf", position_m=[0, 0, 0]),
                      "motion": {"type": "mocap_motion", "body": "shelf"}}  # fmt: skip
    batch = InstanceBatch([plan_of(room(components))], [0])
    batch.run()
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.component) == (9, Phase.DOMAIN_COMMIT, "act")
    assert said in fault.message
    assert not batch.actions.waiting(0)


def test_two_values_for_one_resource_at_one_boundary_conflict():
    a = acting("joint", 10, joint="door", position=[0.1], velocity=[0])
    b = acting("joint", 10, joint="door", position=[0.2], velocity=[0])
    batch = InstanceBatch([plan_of(room({"a": a, "b": b}))], [0])
    batch.run()
    assert batch.stops[0].kind == "domain_conflict"
    assert "joint_kinematics('door') at one boundary" in batch.stops[0].message
    later = acting("joint", 10, 0.004, joint="door", position=[0.2], velocity=[0])
    batch = InstanceBatch([plan_of(room({"a": a, "b": later}))], [0])
    batch.run()
    assert not batch.stops


def test_what_waits_when_an_episode_is_over_never_happens():
    document = room({"act": acting("joint", 10, 0.1, joint="door", position=[0.5], velocity=[1.0])})
    instance = plan_of(document).instantiate()
    instance.advance(12)
    instance.reset()
    cancelled = [(e.episode_index, e.component) for e in instance.events() if e.kind == "cancelled"]
    assert cancelled == [(0, "act")]
    instance.advance(9)
    untouched = plan_of(room({})).instantiate()
    untouched.advance(9)
    assert instance.snapshot().qpos.tolist() == untouched.snapshot().qpos.tolist()
    instance.advance(40)
    assert instance.snapshot().qvel[-1] == 0.0  # the old episode's action was due at tick 60 of it
