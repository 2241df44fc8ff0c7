"""The fast cycle against the plainest one: every bit of every tick."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.runtime import InstanceBatch, SimulationInstance
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.reads import STATE_ONLY
from tests.runtime import reference_model
from tests.runtime.judge import agree, episode_of, expected, happened, stopped
from tests.runtime.random_plans import BLOCKS, SEEDS, documents, everything, inputs
from tests.runtime.reference_model import exact
from tests.runtime.scenes import bits, cart, plan_of


class Recorder:
    """Every completed step's state and controls of the second of two lanes."""

    reads = STATE_ONLY

    def __init__(self):
        self.states, self.controls = [], []

    def fold(self, view):
        steps = view.block.length if view.settled is None else int(view.settled[1])
        self.states += view.boundaries[1, 1 : steps + 1].tolist()
        self.controls += view.controls[1, :steps].tolist()


def judged(document, seed, script, max_block):
    """Run a script of (inputs, ticks) three ways: the reference, an Instance, and beside a neighbour in a batch."""
    plan = plan_of(document)
    reference, instance = episode_of(plan, seed), SimulationInstance(plan, seed, max_block=max_block)
    recorder, mailbox = Recorder(), Mailbox(plan.grid)
    batch = InstanceBatch([plan] * 2, [seed ^ 1, seed], max_block, observers=[recorder], mailbox=mailbox)
    for sent, ticks in script:
        for target, values, source, sequence, effective in sent:
            reference.enqueue(target, values, source, sequence, effective)
            instance.enqueue_external_input(
                target, values, source_id=source, source_sequence=sequence, effective_time_s=effective
            )
            mailbox.enqueue(target, np.array(values), source_id=source, source_sequence=sequence, effective_s=effective)
        for _ in range(ticks):
            reference.step()
        if instance.end is None and instance.fault is None:
            instance.advance(ticks)
        batch.advance(ticks)
        agree(instance, reference)
    assert batch.trace_digest(1) == instance.trace_digest
    assert [bits(row) for row in recorder.states] == [bits(row) for row in reference.states]
    assert [bits(row) for row in recorder.controls] == [bits(row) for row in reference.controls]
    assert happened(instance.events()) == expected(reference)
    instance.reset()
    assert happened(instance.events()) == expected(reference, over=True)
    return reference.stop


@st.composite
def cases(draw):
    document = draw(documents())
    an_input = inputs(exact(document["runtime"]["timestep_s"]))
    script = draw(st.lists(st.tuples(st.lists(an_input, max_size=3), st.integers(0, 31)), min_size=1, max_size=6))
    return document, draw(SEEDS), script, draw(BLOCKS)


@pytest.mark.slow
@settings(max_examples=60)
@given(cases())
def test_every_bit_of_every_tick_is_the_references(case):
    judged(*case)


def test_the_reference_is_short():
    """It is the readable proof of the semantics."""
    lines = Path(reference_model.__file__).read_text().splitlines()
    assert len(lines) < 400


RULE = {"limit": 0.1, "level": "velocity"}
WRENCH = ["wrench", {"body": "pole", "force_n": [2, 0, 1], "duration_s": 0.02}]
ACTING = [
    {"tick": 12, "action": WRENCH, "delay_s": 0.004},
    {"tick": 22, "action": ["joint", {"joint": "hinge", "position": [0.2], "velocity": [-1.0]}], "delay_s": 0.0},
]
CLAIMED = {"tick": 23, "action": ["mocap", {"body": "base", "position_m": [0, 0, 0]}], "delay_s": 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("script", [[], ACTING], ids=["long blocks", "acting"])
@pytest.mark.parametrize(
    ("phase", "fields"),
    [
        ("DeviceUpdate", {"probe": {"parameters": {"level": "full", "fails": 22}}}),
        ("DeviceUpdate", {"probe": {"parameters": {"level": "state", "fails": 22}}}),
        ("PhysicsStep", {}),
        ("InteractionEvaluation", {"rule": {"tick": 23, "fails": True}}),
        ("DomainCommit", {"rule": CLAIMED}),
        ("Observer", {"eye": {"parameters": {"level": "velocity", "fails": 23}}}),
        ("ExternalOutputPublish", {"fb": {"parameters": {"gain": [1.0, -40.0], "fails": 20}}}),
    ],
)
def test_what_a_failure_leaves_is_the_references(phase, fields, script):
    """In every phase in which one of the reference's can fail, amid pushes, and with deferred actions on their way."""
    script = [*script, *([fields["rule"]] if "rule" in fields else [])]
    document = everything(**{**fields, "rule": {"parameters": {**RULE, "script": script}}})
    broken = [("softly", (math.nan,), "a", 1, 0.022)] if phase == "PhysicsStep" else []
    stop = judged(document, 5, [([], 19), ([("drive", (3.0,), "a", 1, 0.02), *broken], 31)], None)
    assert stop[0] == "fault"
    assert (stop[2], 20 < stop[1] < 45) == (phase, True)


def test_a_pose_that_raises_at_the_end_of_a_step_leaves_its_samples():
    """What phase 8 found out phase 5 did not know, though both are of one step."""
    lift = {"type": "prescribed_pose", "class": "tests.runtime.own_components:Lift", "body": "base"}
    document = everything(imu={"period_s": 0.001, "measures": ["gyro"], "accelerometer": {}}, probe={"period_s": 0.001})
    document["components"]["shaker"] = {**lift, "parameters": {"speed": 0.5, "until": 0.0105}}
    plans = [plan_of(document, {"components.shaker.parameters.until": until}) for until in (0.0105, 9.0)]
    batch = InstanceBatch(plans, [3, 3], trace="events")
    batch.advance(20)
    assert (batch.stops[0].tick, batch.stops[0].phase.title) == (10, "PostPhysicsSnapshot")
    for name, last in (("imu", 10), ("probe", 10), ("held", 10)):
        fails, whole = (batch.parts.devices[name].event_table(lane) for lane in (0, 1))
        count = len(fails["values"])
        assert fails["acquired_tick"][-1] == last
        assert bits(fails["values"].reshape(-1)) == bits(whole["values"][:count].reshape(-1))


@pytest.mark.slow
def test_an_episode_after_a_faulted_one_is_a_fresh_processs(tmp_path):
    """Timing case 21."""
    document = everything(rule={"parameters": {**RULE, "script": ACTING}})
    plan = plan_of(document)
    instance = SimulationInstance(plan, 1)
    instance.enqueue_external_input("softly", [math.nan], effective_time_s=0.03)
    instance.advance(40)
    assert stopped(instance)[:3] == ("fault", 30, "PhysicsStep")
    instance.reset(2)
    instance.advance(17)
    instance.inject("joint_kinematics:free", ([math.nan] * 3 + [1, 0, 0, 0], [0] * 6))
    instance.advance(3)
    assert stopped(instance)[:3] == ("fault", 17, "PhysicsStep")
    instance.reset(3)
    instance.advance(45)
    program = """if True:
        import json, pathlib, sys
        from tests.runtime.scenes import plan_of
        instance = plan_of(json.load(sys.stdin)).instantiate(3)
        instance.advance(45)
        found = f"{instance.trace_digest} {instance.stream_receipts} {instance.metrics}"
        pathlib.Path(sys.argv[1]).write_text(found)
    """
    answer = tmp_path / "answer"
    subprocess.run([sys.executable, "-c", program, answer], input=json.dumps(document), text=True, check=True)
    assert answer.read_text() == f"{instance.trace_digest} {instance.stream_receipts} {instance.metrics}"


def test_an_end_inside_a_long_block_is_the_references():
    document = cart(controllers={})
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.11}
    late = [("drive", (4.0,), "a", 1, 0.115), ("drive", (4.0,), "a", 1, 0.116), ("drive", (4.0,), "a", 2, 0.119)]
    kind, tick, component, *_ = judged(document, 3, [([("drive", (-4.0,), "a", None, 0.01), *late], 120)], None)
    assert (kind, component) == ("end", "fall")
    assert 10 < tick < 110


def test_a_fault_inside_a_long_block_is_the_references():
    document = cart(controllers={}, integrator="Euler")
    script = [([("drive", (float("nan"),), "a", None, 0.025)], 80)]
    assert judged(document, 3, script, None)[:3] == ("fault", 26, "PhysicsStep")


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_a_run_is_bitwise_mj_step(integrator):
    """Timing case 11."""
    document = cart(integrator=integrator, controllers={}, components={}, metrics={})
    plan = plan_of(document)
    instance = plan.instantiate()
    instance.advance(150)
    model = mujoco.MjModel.from_xml_string(document["model"]["xml"])
    data = mujoco.MjData(model)
    data.qpos[model.joint("hinge").qposadr[0]] = 0.1
    for _ in range(150):
        mujoco.mj_step(model, data)
    assert bits(instance.snapshot().qpos) == bits(data.qpos)
    assert bits(instance.snapshot().qvel) == bits(data.qvel)
