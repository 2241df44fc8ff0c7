"""State that is copied out whole, and state that is put in for diagnosis: complete resources, coherent results."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sweep.errors import InvalidInputError
from sweep.plan.claims import ActuatorActivation, JointKinematics, MocapPose
from tests.runtime.scenes import bits, cart, plan_of

EVERY_KIND = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="hand" mocap="true" pos="0 0 2"><geom size=".05" contype="0" conaffinity="0"/></body>
    <body name="box" pos="1 0 1"><freejoint name="float"/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body name="arm"><joint name="hinge" axis="0 1 0" damping=".1"/><geom size=".1" pos="0 0 .3" mass="1"/>
      <site name="tip" pos="0 0 .5"/>
      <body name="ball" pos="0 0 .6"><joint name="wrist" type="ball"/><geom type="box" size=".1 .05 .2" mass=".2"
        contype="0" conaffinity="0"/></body></body>
  </worldbody>
  <actuator>
    <general name="muscle" joint="hinge" dyntype="filter" dynprm=".02" gainprm="3"/><motor name="push" joint="hinge"/>
  </actuator>
  <sensor>
    <framepos objtype="body" objname="hand"/><framequat objtype="body" objname="hand"/>
    <framepos objtype="body" objname="box"/><framelinvel objtype="body" objname="box"/>
    <ballquat joint="wrist"/><ballangvel joint="wrist"/><jointpos joint="hinge"/><actuatorfrc actuator="muscle"/>
    <accelerometer site="tip"/>
  </sensor>
</mujoco>
"""

HALF = float(np.sqrt(0.5))
VALUES = {
    "joint_kinematics:hinge": (0.5, -1.0),
    "joint_kinematics:wrist": ([HALF, 0, HALF, 0], [1.0, 2.0, 3.0]),
    "joint_kinematics:float": ([1, 2, 3, 0, 0, 0, -1], [1, 2, 3, 4, 5, 6]),
    "mocap_pose:hand": ([0.1, 0.2, 0.3], [HALF, HALF, 0, 0]),
    "actuator_activation:muscle": 0.25,
}


def zoo(**more):
    drive = {"type": "torque", "actuators": ["push", "muscle"], "initial": [0.2, 0.7]}
    document = cart(components={"drive": drive, **more}, controllers={}, metrics={})
    return plan_of({**document, "model": {"xml": EVERY_KIND}})


def forwarded(snapshot):
    """The same state, worked out by MuJoCo alone."""
    model = mujoco.MjModel.from_xml_string(EVERY_KIND)
    data = mujoco.MjData(model)
    for field in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat"):
        getattr(data, field)[:] = getattr(snapshot, field)
    mujoco.mj_forward(model, data)
    return model, data


def test_a_snapshot_is_a_coherent_copy_that_changes_nothing():
    instance, other = (plan_of(cart()).instantiate(1) for _ in range(2))
    for _ in range(40):
        instance.step()
        snapshot = instance.snapshot()
        assert (snapshot.tick, snapshot.time_s) == (instance.tick, instance.episode_time_s)
    other.advance(40)
    assert instance.trace_digest == other.trace_digest
    kept = instance.snapshot()
    qpos = kept.qpos.tolist()
    instance.advance(10)
    assert kept.qpos.tolist() == qpos != instance.snapshot().qpos.tolist()
    with pytest.raises(ValueError, match="read-only"):
        kept.qpos[0] = 0.0


@pytest.mark.parametrize("resource", VALUES)
def test_an_injection_is_the_whole_resource_and_nothing_else(resource):
    instance = zoo().instantiate()
    instance.advance(10)
    before, digest = instance.snapshot(), instance.trace_digest
    after = instance.inject(resource, VALUES[resource])
    assert (after.tick, instance.tick, instance.trace_digest) == (10, 10, digest)
    model, data = forwarded(before)
    name = resource.partition(":")[2]
    if resource.startswith("mocap"):
        data.mocap_pos[0], data.mocap_quat[0] = VALUES[resource]
    elif resource.startswith("actuator"):
        data.act[0] = VALUES[resource]
    else:
        data.joint(name).qpos[:], data.joint(name).qvel[:] = VALUES[resource]
    for field in ("qpos", "qvel", "act", "ctrl"):
        assert bits(getattr(after, field)) == bits(getattr(data, field))
    assert bits(after.mocap_pos[0]) + bits(after.mocap_quat[0]) == bits([*data.mocap_pos[0], *data.mocap_quat[0]])
    mujoco.mj_forward(model, data)
    assert after.sensordata == pytest.approx(data.sensordata, rel=1e-9, abs=1e-9)  # solved from another warm start
    assert not np.array_equal(after.sensordata, before.sensordata)
    plain = zoo().instantiate()
    plain.advance(10)
    for either in (instance, plain):
        either.step()
    moved = resource.startswith("mocap")  # nothing in this scene touches the hand
    assert (instance.trace_digest == plain.trace_digest) is moved


def test_what_a_snapshot_says_can_be_injected_and_changes_nothing():
    instance, plain = zoo().instantiate(), zoo().instantiate()
    for either in (instance, plain):
        either.inject("joint_kinematics:wrist", VALUES["joint_kinematics:wrist"])
        either.advance(20)
    now = instance.snapshot()
    instance.inject(JointKinematics("float"), (now.qpos[:7], now.qvel[:6]))
    instance.inject(JointKinematics("hinge"), {"qvel": now.qvel[6], "qpos": now.qpos[7]})
    instance.inject(JointKinematics("wrist"), {"qpos": now.qpos[8:], "qvel": now.qvel[7:]})
    instance.inject(MocapPose("hand"), {"mocap_pos": now.mocap_pos[0], "mocap_quat": now.mocap_quat[0]})
    again = instance.inject(ActuatorActivation("muscle"), now.act)
    assert again.sensordata.tobytes() == now.sensordata.tobytes()
    for either in (instance, plain):
        either.advance(20)
    assert instance.trace_digest == plain.trace_digest


@pytest.mark.parametrize(("resource", "value", "match"), [
    ("joint_kinematics:hing", (0, 0), "did you mean 'hinge'"),
    ("joint_kinematics:hinge", 0.5, r"complete resource: qpos \(1,\), qvel \(1,\)"),
    ("joint_kinematics:hinge", {"qpos": 1.0}, "complete resource"),
    ("joint_kinematics:hinge", {"qpos": 1.0, "qvel": 0.0, "act": 0.0}, "complete resource"),
    ("joint_kinematics:hinge", ("much", 0.0), "complete resource"),
    ("joint_kinematics:float", ([0, 0, 0], [0, 0, 0]), r"complete resource: qpos \(7,\), qvel \(6,\)"),
    ("joint_kinetics:hinge", (0, 0), "joint_kinematics"),
    ("hinge", (0, 0), "is not kind:name"),
    ("actuator_activation:push", 0, "none in the model.* There is: muscle"),
    ("mocap_pose:box", ([0, 0, 0], [1, 0, 0, 0]), "none in the model.* There is: hand"),
    ("mocap_pose:hand", [0, 0, 0, 1, 0, 0, 0], r"complete resource: mocap_pos \(3,\), mocap_quat \(4,\)"),
    ("mocap_pose:hand", ([0, 0, 0], [1, 1, 0, 0]), r"unit quaternion \(w, x, y, z\); its length is 1.41421"),
    ("mocap_pose:hand", ([0, 0, 0], [0, 0, 0, 0]), "its length is 0"),
    ("joint_kinematics:float", ([0, 0, 0, 1.00001, 0, 0, 0], [0] * 6), "unit quaternion"),
    ("joint_kinematics:wrist", ([1e300, 0, 0, 0], [0] * 3), "unit quaternion"),
])  # fmt: skip
def test_what_is_no_complete_resource_is_refused_and_nothing_is_written(resource, value, match):
    instance = zoo().instantiate()
    before = instance.snapshot()
    with pytest.raises(InvalidInputError, match=match):
        instance.inject(resource, value)
    after = instance.snapshot()
    assert all(getattr(after, name).tobytes() == getattr(before, name).tobytes()
               for name in ("qpos", "qvel", "act", "mocap_pos", "mocap_quat"))  # fmt: skip


def test_a_quaternion_within_the_tolerance_is_written_as_it_is_given():
    snapshot = zoo().instantiate().inject("joint_kinematics:wrist", ([1 + 5e-7, 0, 0, 0], [0, 0, 0]))
    assert snapshot.qpos[8] == 1 + 5e-7


def test_a_nan_may_be_injected_since_that_is_how_faults_are_provoked():
    instance = zoo().instantiate()
    instance.advance(5)
    instance.inject("joint_kinematics:float", ([0, 0, 1, np.nan, 0, 0, 0], [0] * 6))
    instance.advance(5)
    assert (instance.fault.tick, instance.fault.kind) == (5, "diverged")


def test_a_claimed_resource_is_left_alone():
    instance = zoo(lift={"type": "mocap_motion", "body": "hand"}).instantiate()
    with pytest.raises(InvalidInputError, match=r"mocap_pose\('hand'\): is claimed by 'lift'"):
        instance.inject("mocap_pose:hand", VALUES["mocap_pose:hand"])
    assert instance.snapshot().mocap_pos[0].tolist() == [0, 0, 2]
    assert instance.inject("joint_kinematics:hinge", (0.5, 0)).qpos[7] == 0.5


# The physics state.


def test_the_physics_state_is_mujocos_and_taking_it_changes_nothing():
    instance, plain = zoo().instantiate(), zoo().instantiate()
    for _ in range(10):
        instance.step()
        state = instance.physics_state()
    plain.advance(10)
    assert instance.trace_digest == plain.trace_digest
    model, data = forwarded(instance.snapshot())
    vector = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_PHYSICS))
    mujoco.mj_getState(model, data, vector, mujoco.mjtState.mjSTATE_PHYSICS)
    assert state.vector.tobytes() == vector.tobytes()
    assert bits([*state.qpos, *state.qvel, *state.act]) == bits(vector)
    assert (state.tick, state.time_s, state.episode_index) == (10, 0.01, 0)
    with pytest.raises(ValueError, match="read-only"):
        state.vector[0] = 0.0


def test_a_restored_physics_state_is_no_checkpoint():
    """What follows is the same episode at the same tick: only positions, velocities and activations are others."""
    document = cart(controllers={})
    document["components"]["drive"]["command_latency_s"] = 0.030
    instance = plan_of(document).instantiate(3)
    instance.advance(10)
    early = instance.physics_state()
    instance.enqueue_external_input("drive", [2.0])
    instance.advance(25)
    before = (instance.trace_digest, instance.stream_receipts, instance.recorded_inputs, instance.events())
    shown = instance.output("enc")
    restored = instance.restore_physics_state(early)
    assert bits([*restored.qpos, *restored.qvel]) == bits([*early.qpos, *early.qvel])
    assert (restored.tick, restored.time_s, instance.tick) == (35, 0.035, 35)
    assert before == (instance.trace_digest, instance.stream_receipts, instance.recorded_inputs, instance.events())
    assert bits(instance.output("enc").values) == bits(shown.values)
    applied = []
    for _ in range(10):
        instance.step()
        applied.append(instance.snapshot().ctrl[0])
    assert applied == [0.0] * 5 + [2.0] * 5  # committed at tick 10, under way for 30
    model = mujoco.MjModel.from_xml_string(document["model"]["xml"])
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = early.qpos, early.qvel
    for control in applied:
        data.ctrl[0] = control
        mujoco.mj_step(model, data)
    assert instance.snapshot().qpos == pytest.approx(data.qpos, rel=1e-12)


def test_activations_are_part_of_the_physics_state_and_mocap_poses_are_not():
    instance = zoo().instantiate()
    instance.advance(30)
    early = instance.physics_state()
    instance.inject("mocap_pose:hand", VALUES["mocap_pose:hand"])
    instance.inject("actuator_activation:muscle", -1.0)
    restored = instance.restore_physics_state(early)
    assert restored.act[0] == early.act[0] > 0.1
    assert restored.mocap_pos[0].tolist() == [0.1, 0.2, 0.3]
    instance.reset()
    assert instance.restore_physics_state(early).qpos.tobytes() == early.qpos.tobytes()


def test_a_state_of_another_model_is_refused():
    instance, cart_state = zoo().instantiate(), plan_of(cart()).instantiate().physics_state()
    with pytest.raises(InvalidInputError, match=r"of another model, with 2 positions.* \(here 12, 10 and 1\)"):
        instance.restore_physics_state(cart_state)
    heavier = cart()
    heavier["model"]["xml"] = heavier["model"]["xml"].replace('mass="1"', 'mass="2"')
    with pytest.raises(InvalidInputError, match="of another model"):
        plan_of(heavier).instantiate().restore_physics_state(cart_state)
    assert plan_of(cart(controllers={})).instantiate().restore_physics_state(cart_state).qpos.tolist() == [0.0, 0.1]
