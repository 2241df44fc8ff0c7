"""Components of the user's own: what they are shown, what holds them to it, and what happens when they raise."""

from __future__ import annotations

import pytest

from sweep.errors import ClaimConflictError, ExpiredViewError, InvalidInputError
from sweep.runtime import InstanceBatch, Phase
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
