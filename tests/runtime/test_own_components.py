"""Components of the user's own: what they are shown, what holds them to it, and what happens when they raise."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from sweep.errors import ClaimConflictError, ExpiredViewError, FaultedError, InvalidInputError
from sweep.runtime import (
    ApplyWrench,
    Deferred,
    End,
    InstanceBatch,
    Phase,
    Proposal,
    Reads,
    SetJoint,
    StateLevel,
    SwitchEquality,
)
from tests.runtime import own_components
from tests.runtime.scenes import cart, plan_of

OWN = "tests.runtime.own_components:"
LIFTED = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody><body name="base" mocap="true" pos="0 0 0"><geom size=".1" contype="0" conaffinity="0"/></body>
    <body name="ball" pos="0 0 0"><freejoint name="free"/><geom size=".1" mass="1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <equality><weld name="hold" body1="base" body2="ball"/></equality>
</mujoco>
"""


def own(kind, name, **parameters):
    return {"type": kind, "class": OWN + name, "parameters": parameters}


def run(components, ticks=40, *, lanes=1, max_block=None, **sections):
    document = cart(controllers={}, components=components, metrics={}, **sections)
    batch = InstanceBatch([plan_of(document)] * lanes, list(range(lanes)), max_block)
    batch.advance(ticks)
    return batch


def test_a_view_is_over_when_its_callback_returns():
    run({"k": own("observer", "Keeper")}, 3)
    assert len(own_components.Keeper.views) == 3
    for use in (lambda v: v.qpos, lambda v: v.tick, lambda v: v.field("xpos"), lambda v: v.ctrl):
        with pytest.raises(ExpiredViewError, match="only during its callback"):
            use(own_components.Keeper.views[0])


@pytest.mark.parametrize(("name", "said"), [("Greedy", "'qacc' is not among the fields"), ("Grabber", "read-only")])
def test_what_a_view_refuses_is_the_lanes_fault(name, said):
    batch = run({"o": own("observer", name)})
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.component, fault.kind) == (0, Phase.OBSERVER, "o", "component")
    assert said in fault.message
    assert "own_components.py, line" in fault.message


@pytest.mark.parametrize("max_block", [1, 7, None])
@pytest.mark.parametrize(
    ("kind", "phase"), [("interaction", Phase.INTERACTION_EVALUATION), ("observer", Phase.OBSERVER)]
)
def test_a_component_that_raises_faults_its_lane_alone_in_its_phase(kind, phase, max_block):
    """The step that raised is not settled, whatever the block."""
    document = cart(controllers={}, metrics={}, components={"r": own(kind, "Raiser", tick=17)})
    plans = [plan_of(document, {"components.r.parameters.tick": tick}) for tick in (17, 999)]
    batch = InstanceBatch(plans, [1, 2], max_block)
    batch.advance(40)
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.component, fault.kind) == (16, phase, "r", "component")
    assert fault.message.startswith("RuntimeError: no such luck (own_components.py, line")
    assert batch.boundary[0, 0] == pytest.approx(0.016)
    assert list(batch.stops) == [0]
    alone = InstanceBatch([plans[1]], [2], 1)
    alone.advance(40)
    assert batch.trace_digest(1) == alone.trace_digest(0)


@pytest.mark.parametrize("max_block", [1, 4, None])
def test_observers_see_the_domain_state_that_their_step_committed(max_block):
    components = {"count": own("interaction", "Counter", limit=0.0), "w": own("observer", "StateWatcher")}
    batch = run(components, 12, max_block=max_block)
    assert own_components.KEPT["w"] == [(tick, {"count": tick}) for tick in range(1, 13)]
    assert batch.domain.state(0) == {"count": 12}


def test_the_domain_is_in_the_digest():
    digests = {run({"c": own("interaction", "Counter", limit=limit)}).trace_digest(0) for limit in (0.0, 0.1005, 9.0)}
    assert len(digests) == 3


def test_a_prescribed_pose_is_exact_at_t_and_at_t_plus_dt():
    components = {"lift": {**own("prescribed_pose", "Lift", speed=0.5), "body": "base"}}
    document = cart(controllers={}, metrics={}, components=components, model={"xml": LIFTED}, runtime={"duration_s": 1})
    instance = plan_of(document).instantiate()
    assert instance.snapshot().tick == 0
    for tick in (1, 2, 50):
        instance.advance(tick - instance.tick)
        _, data = instance._batch.physics.data(0)
        assert data.mocap_pos[0].tolist() == [0.0, 0.0, 0.5 * (tick * 2 / 1000)]
    assert 0.01 < instance.snapshot().qpos[2] < 0.05  # the weld is soft: the ball lags, the base does not
    with pytest.raises(InvalidInputError, match="claimed by 'lift'"):
        instance.inject("mocap_pose:base", ([0, 0, 0], [1, 0, 0, 0]))


@pytest.mark.parametrize("max_block", [1, None])
def test_a_pose_that_raises_stops_the_step_whose_end_it_belongs_to(max_block):
    components = {"lift": {**own("prescribed_pose", "Lift", speed=0.5, until=0.021), "body": "base"}}
    document = cart(controllers={}, metrics={}, components=components, model={"xml": LIFTED}, runtime={"duration_s": 1})
    batch = InstanceBatch([plan_of(document)], [0], max_block)
    batch.advance(50)
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.component) == (10, Phase.POST_PHYSICS_SNAPSHOT, "lift")
    assert "out of rail" in fault.message


def test_two_claims_on_one_body_name_both_owners():
    lift = {**own("prescribed_pose", "Lift", speed=0.5), "body": "base"}
    document = cart(controllers={}, metrics={}, components={"a": lift, "b": lift}, model={"xml": LIFTED})
    with pytest.raises((InvalidInputError, ClaimConflictError), match="'a' and 'b'"):
        plan_of(document)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"class": OWN + "Watchr"}, "did you mean 'Watcher'"),
        ({"class": OWN + "Counter"}, "has no observe"),
        ({"class": "no_such_module:X"}, "cannot import"),
        ({"class": "nonsense"}, "components.o.class"),
    ],
)
def test_a_class_that_does_not_serve_is_refused_before_anything_runs(change, said):
    document = cart(controllers={}, metrics={}, components={"o": {**own("observer", "Watcher"), **change}})
    with pytest.raises(InvalidInputError) as caught:
        plan_of(document)
    assert said in str(caught.value)


@pytest.mark.parametrize("max_block", [1, 5, None])
def test_nothing_is_committed_after_an_observer_raised(max_block):
    """The step that raised has committed, no later one has, whatever the block."""
    components = {"count": own("interaction", "Counter"), "r": own("observer", "Raiser", tick=9)}
    batch = run(components, max_block=max_block)
    assert (batch.stops[0].tick, batch.stops[0].phase) == (8, Phase.OBSERVER)
    assert batch.domain.state(0) == {"count": 9}
    assert batch.trace_digest(0) == run(components, max_block=2).trace_digest(0)


def test_observers_see_the_step_that_ends_the_episode():
    components = {
        "end": own("interaction", "Claimant", tick=5, value=1, ends=True),
        "w": own("observer", "StateWatcher"),
    }
    batch = run(components)
    assert own_components.KEPT["w"][-1] == (5, {"shared": 1})
    assert (batch.stops[0].tick, batch.stops[0].reason, batch.stops[0].success) == (4, "said so", True)


def test_what_is_proposed_is_plain_data():
    batch = run({"end": own("interaction", "Claimant", tick=5, value={"a": 1})})
    assert batch.domain.state(0) == {"shared": {"a": 1}}


def wrench(**fields):
    return Proposal(actions=(Deferred(action=ApplyWrench(body="ball", **fields)),))


def set_joint(position, velocity=(0.0,) * 6):
    return Proposal(actions=(Deferred(action=SetJoint(joint="free", position=position, velocity=velocity)),))


UPRIGHT = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
WRONG_ANSWERS = [
    ("interaction", Proposal(facts={"heat": math.nan}), "facts"),
    ("interaction", Proposal(facts={"seen": {1, 2}}), "facts"),
    ("interaction", Proposal(state=[1]), "state is a mapping"),
    ("interaction", Proposal(actions=(SwitchEquality(name="hold", active=True),)), "an action is Deferred"),
    ("interaction", Proposal(actions=(Deferred(action=SwitchEquality(name="hold", active=None)),)), "True or False"),
    ("interaction", wrench(force_n=(1.0, 2.0)), "force_n is 3 finite numbers"),
    ("interaction", wrench(force_n=1.0), "force_n is 3 finite numbers"),
    ("interaction", wrench(torque_nm=(0.0, math.nan, 0.0)), "torque_nm is 3 finite numbers"),
    ("interaction", wrench(force_n=("1", "0", "0")), "force_n is 3 finite numbers"),
    ("interaction", set_joint((math.inf, *UPRIGHT[1:])), "position is finite numbers"),
    ("interaction", Proposal(end="fell"), "end is End(reason="),
    ("interaction", Proposal(end=End(reason="")), "with a reason in words"),
    ("prescribed_pose", (1.0, 1.0), "1 numbers for a position"),
    ("prescribed_pose", ((0, 0, math.nan), (1, 0, 0, 0)), "no pose"),
    ("prescribed_pose", ((0, 0, 1), (0, 0, 0, 0)), "no pose"),
    ("device", None, "measure returned None, not 2 numbers"),
]


@pytest.mark.parametrize(("kind", "answer", "said"), WRONG_ANSWERS)
def test_a_wrong_answer_is_the_lanes_fault(kind, answer, said):
    more = {"device": {"period_s": 0.002}, "prescribed_pose": {"body": "base"}}.get(kind, {})
    good = {"device": (0, 0), "prescribed_pose": ((0, 0, 1), (1, 0, 0, 0))}
    own_components.Answering.answers |= {"it": answer, "good": good.get(kind)}
    document = cart(controllers={}, metrics={}, model={"xml": LIFTED}, runtime={"duration_s": 0.1},
                    components={"o": own(kind, "Answering", answer="it") | more})  # fmt: skip
    plans = [plan_of(document, {"components.o.parameters.answer": name}) for name in ("it", "good")]
    batch = InstanceBatch(plans, [1, 2])
    batch.advance(6)
    assert list(batch.stops) == [0]
    assert batch.stops[0].component == "o"
    assert said in batch.stops[0].message


def test_numpys_numbers_in_a_proposal_are_pythons():
    """Arrays, numpy's scalars and lists say what tuples of floats say."""
    digests = []
    for one in (list, np.array):
        action = SetJoint(joint="free", position=one(UPRIGHT), velocity=one([0.0] * 6))
        facts = {"n": one([1, 2])[0], "hot": one([True])[0], "all": one([0.5, 1.5])}
        proposal = Proposal(facts=facts, actions=[Deferred(action=action)] * 2, end=None)
        own_components.Answering.answers["it"] = proposal
        components = {"o": own("interaction", "Answering", answer="it")}
        digests.append(run(components, 5, model={"xml": LIFTED}, runtime={"duration_s": 0.1}).trace_digest(0))
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("kind", "said", "message"),
    [
        ("device", {"width": 0}, "width is how many numbers measure returns, not 0"),
        ("device", {"width": "2"}, "width is how many numbers measure returns, not '2'"),
        ("device", {"streams": ("latency",)}, "streams are names other than latency, dropout"),
        ("device", {"reads": ("xpos",)}, "reads is a sweep.runtime.Reads"),
        ("observer", {"reads": Reads(StateLevel.VELOCITY, frozenset({"xpo"}))}, "'xpo', which is no field of MjData"),
        ("observer", {"reads": Reads(StateLevel.VELOCITY, frozenset({"qacc"}))}, "'qacc', which needs StateLevel.FULL"),
        ("observer", {"reads": Reads(StateLevel.STATE, frozenset({"xpos"}))}, "needs StateLevel.VELOCITY"),
    ],
)
def test_what_a_class_says_of_itself_is_checked_before_anything_runs(monkeypatch, kind, said, message):
    monkeypatch.setattr(own_components.Declaring, "said", said)
    more = {"period_s": 0.002} if kind == "device" else {}
    with pytest.raises(InvalidInputError, match=re.escape(message)) as caught:
        run({"o": own(kind, "Declaring") | more}, 1)
    assert caught.value.problems[0].path == "components.o.class"


def test_a_force_sensor_is_not_read_at_a_level_that_does_not_have_it(monkeypatch):
    monkeypatch.setattr(own_components.Watcher, "observe", lambda self, view, state: view.sensor("force"))
    assert "'force' depends on forces" in run({"o": own("observer", "Watcher")}, 3).stops[0].message
    assert not run({"o": own("observer", "ForceWatcher")}, 3).stops


def test_a_summary_that_is_none_is_said():
    own_components.Answering.answers["it"] = None
    batch = run({"o": own("observer", "Answering", answer="it")}, 3)
    with pytest.raises(TypeError, match="observer 'o': summary is names and numbers, not None"):
        batch.parts.observers["o"].summary(0)


def test_a_step_that_was_cut_short_is_not_gone_on_from():
    """Ctrl-C may come anywhere in a block: its boundary is none, and an episode after it is a fresh one."""
    plan = plan_of(cart(components=cart()["components"] | {"stop": own("interaction", "Interrupted", tick=30)}))
    instance = plan.instantiate(3)
    with pytest.raises(KeyboardInterrupt):
        instance.advance(50)
    with pytest.raises(FaultedError, match="cut short"):
        instance.advance(1)
    instance.reset()
    instance.advance(29)
    fresh = plan.instantiate(3)
    fresh.advance(29)
    assert instance.trace_digest == fresh.trace_digest


@pytest.mark.parametrize("max_block", [1, None])
def test_an_end_is_not_undone_by_what_an_observer_makes_of_it(max_block):
    components = {
        "end": own("interaction", "Claimant", tick=5, value=1, ends=True),
        "r": own("observer", "Raiser", tick=5),
    }
    stop = run(components, max_block=max_block).stops[0]
    assert (stop.tick, stop.phase, stop.reason) == (4, Phase.DOMAIN_COMMIT, "said so")
