"""Prescribed motion of mocap bodies: exact at t and at t+dt, with an authority that nothing else overrides."""

from __future__ import annotations

import math
from fractions import Fraction

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import ClaimConflictError, InvalidInputError
from sweep.plan.claims import ActuatorActivation, JointKinematics, StateClaim
from sweep.plan.prescribed import MocapMotionSpec
from sweep.runtime import InstanceBatch
from sweep.runtime.components.mocap_motion import Motion
from tests.runtime.scenes import bits, plan_of

DT = Fraction(2, 1000)
# A mocap platform with a box on it, and one that carries a box on a dynamic table.
PLATFORMS = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}"/>
  <worldbody>
    <body name="platform" mocap="true" pos="0 0 .5"><geom name="platform" type="box" size="1 1 .05"/></body>
    <body name="box" pos="0 0 .6"><freejoint/><geom name="box" type="box" size=".1 .1 .05" mass="1"/></body>
    <body name="shaker" mocap="true" pos="0 5 .5" quat="1 0 0 1"/>
    <body name="table" pos="0 5 .5" quat="1 0 0 1" gravcomp="1"><freejoint/>
      <geom type="box" size="1 1 .05" mass="50"/></body>
    <body name="load" pos="0 5 .6"><freejoint/><geom type="box" size=".1 .1 .05" mass="1"/></body>
  </worldbody>
  <equality><weld body1="shaker" body2="table" solref=".005 1"/></equality>
</mujoco>
"""
SHAKE = {"type": "mocap_motion", "body": "platform", "amplitude_m": 0.03, "direction": [1, 2, 2], "frequency_hz": 7.3,
         "phase_turns": 0.1, "amplitude_rad": 0.2, "rotation_axis": [0, 3, 4], "rotation_frequency_hz": 2.9,
         "ramp_s": 0.05}  # fmt: skip
GO = {"type": "mocap_motion", "waypoints_m": [[0, 0, 0], [0.5, 0, 0]], "segment_s": 1, "repeat": False}


def platforms(integrator="implicitfast", duration_s=0.2, **components):
    xml = PLATFORMS.format(integrator=integrator)
    return {"schema": "3.3", "model": {"xml": xml}, "runtime": {"duration_s": duration_s}, "components": components}


def pose(spec, tick, place=(0, 0, 0.5), orientation=(1, 0, 0, 0)):
    """The pose at a boundary, in plain mathematics from the exact instant."""
    t = float(tick * DT)
    u = min(1.0, t / spec.get("ramp_s", 1e-9))
    grown = 10 * u**3 - 15 * u**4 + 6 * u**5
    way = np.array(spec.get("direction", (1, 0, 0))) / np.linalg.norm(spec.get("direction", (1, 0, 0)))
    wave = math.sin(2 * math.pi * (spec["frequency_hz"] * t + spec.get("phase_turns", 0)))
    position = np.array(place) + grown * spec["amplitude_m"] * wave * way
    axis = np.array(spec["rotation_axis"]) / np.linalg.norm(spec["rotation_axis"])
    angle = grown * spec["amplitude_rad"] * math.sin(2 * math.pi * spec["rotation_frequency_hz"] * t)
    turn = np.array([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])
    quaternion = np.empty(4)
    mujoco.mju_mulQuat(quaternion, turn, np.array(orientation, float))
    return position, quaternion


def prescribed(document, stop, seed=0):
    """Every pose that a batch of one gives a body: (positions, quaternions) of boundaries 0 .. stop."""
    batch = InstanceBatch([plan_of(document)], [seed])
    motion = batch.parts.prescribed["m"]._motions[0]
    return motion.poses(np.array([float(tick * DT) for tick in range(stop + 1)]))


def test_a_pose_is_the_formula_at_the_exact_instant():
    positions, quaternions = prescribed(platforms(m=SHAKE), 100)
    for tick in range(0, 101, 7):
        position, quaternion = pose(SHAKE, tick)
        assert positions[tick] == pytest.approx(position, abs=1e-15)
        assert quaternions[tick] == pytest.approx(quaternion, abs=1e-15)


@pytest.mark.parametrize("integrator", ["implicitfast", "Euler", "RK4"])
@pytest.mark.parametrize("max_block", [1, 7, None])
def test_every_step_begins_with_its_own_pose_and_leaves_that_of_its_end(integrator, max_block):
    """Bit for bit a loop that writes the pose of tick k before step k: it is in the contacts of step k (case 26)."""
    document = platforms(integrator, m=SHAKE)
    model = mujoco.MjModel.from_xml_string(PLATFORMS.format(integrator=integrator))
    data = mujoco.MjData(model)
    row = int(model.body("platform").mocapid[0])
    positions, quaternions = prescribed(document, 100)
    batch = InstanceBatch([plan_of(document)], [0], max_block)
    for tick in range(100):
        if tick % 20 == 0:
            batch.advance(20)
        data.mocap_pos[row], data.mocap_quat[row] = positions[tick], quaternions[tick]
        mujoco.mj_step(model, data)
        if tick % 20 == 19:
            assert bits(batch.boundary[0, 1:]) == bits([*data.qpos, *data.qvel])
            whole = batch.physics.data(0)[1]
            assert bits(whole.mocap_pos[row]) == bits(positions[tick + 1])
            assert bits(whole.mocap_quat[row]) == bits(quaternions[tick + 1])


def test_a_pose_written_one_step_late_would_be_another_run():
    """What the test above compares is worth something."""
    document = platforms(m=SHAKE)
    positions, quaternions = prescribed(document, 100)
    model = mujoco.MjModel.from_xml_string(PLATFORMS.format(integrator="implicitfast"))
    ends = []
    for late in (0, 1):
        data = mujoco.MjData(model)
        for tick in range(100):
            data.mocap_pos[0], data.mocap_quat[0] = positions[max(0, tick - late)], quaternions[max(0, tick - late)]
            mujoco.mj_step(model, data)
        ends.append(bits(data.qpos))
    assert ends[0] != ends[1]


@pytest.mark.parametrize("max_block", [1, 4, None])
def test_sensors_see_the_pose_of_their_boundary_and_interactions_that_of_the_next(max_block):
    """A tracker at tick n shows pose(n); an Interaction after step n judges pose(n+1)."""
    goal = pose(SHAKE, 41)[0]
    near = [np.linalg.norm(pose(SHAKE, tick)[0] - goal) <= 1e-12 for tick in range(100)]
    assert near.index(True) == 41
    there = {"type": "goal_reached", "body": "platform", "point_m": goal.tolist(), "tolerance_m": 1e-12}
    tracker = {"type": "pose_tracker", "body": "platform", "measures": "position", "period_s": 0.002}
    batch = InstanceBatch([plan_of(platforms(m=SHAKE, goal=there, eye=tracker))], [0], max_block)
    batch.run()
    assert batch.stops[0].tick == 40
    assert batch.outputs()["eye"].values[0] == pytest.approx(pose(SHAKE, 40)[0], abs=1e-15)


@settings(max_examples=15)
@given(st.integers(0, 10**9), st.integers(1, 50))
def test_a_pose_is_a_function_of_its_boundary_alone(tick, company):
    model = mujoco.MjModel.from_xml_string(PLATFORMS.format(integrator="Euler"))
    motion = Motion(MocapMotionSpec.model_validate({**SHAKE, **GO, "repeat": True}), model)
    times = [float((tick + k) * DT) for k in range(company)]
    together, alone = motion.poses(np.array(times)), motion.poses(np.array(times[-1:]))
    for all_of_them, one in zip(together, alone, strict=True):
        assert bits(all_of_them[-1]) == bits(one[0])


def test_lanes_may_move_differently():
    changes = [{}, {"amplitude_m": "1 cm"}, {"frequency_hz": "8 Hz"}, {"phase_turns": 0.0}, {"direction": [0, 0, 1]},
               {"amplitude_rad": 0.0}, {"rotation_axis": [1, 0, 0]}, {"rotation_frequency_hz": 3},
               {"rotation_phase_turns": 0.25}, {"ramp_s": 0}, {"position_m": [0, 0, 0.49]},
               {"quaternion": [1, 0.01, 0, 0]}, {"waypoints_m": [[0, 0, 0], [0, 0, 0.1]], "segment_s": 0.1},
               {"waypoints_m": [[0, 0, 0], [0, 0, 0.1], [0.1, 0, 0]], "segment_s": 0.05}]  # fmt: skip
    plans = [plan_of(platforms(m=SHAKE), {f"components.m.{k}": v for k, v in change.items()}) for change in changes]
    assert len({plan.layout for plan in plans}) == 1
    together = InstanceBatch(plans, [0] * len(plans), 9).run()
    assert together == [InstanceBatch([plan], [0]).run()[0] for plan in plans]
    assert len({record.trace_digest for record in together}) == len(plans)


def test_where_it_moves_about_is_the_models_own_pose():
    """The model's pose, its quaternion made one long, turned further."""
    positions, quaternions = prescribed(platforms(m={**SHAKE, "body": "shaker"}), 3)
    half = math.sqrt(0.5)
    for tick in range(4):
        position, quaternion = pose(SHAKE, tick, (0, 5, 0.5), (half, 0, 0, half))
        assert positions[tick] == pytest.approx(position, abs=1e-15)
        assert quaternions[tick] == pytest.approx(quaternion, abs=1e-15)


def test_an_episode_begins_with_the_pose_of_boundary_0():
    batch = InstanceBatch([plan_of(platforms(m={**GO, "body": "platform", "position_m": [0, 0, 0.4]}))], [0])
    assert batch.physics.data(0)[1].body("platform").xpos.tolist() == [0, 0, 0.4]


def test_a_mocap_body_carries_nothing_but_a_body_welded_to_it_does():
    """The documented limitation (case 26): half a metre in one second, at 0.94 m/s at most."""
    document = platforms(duration_s=1, m={**GO, "body": "platform"}, w={**GO, "body": "shaker"})
    batch = InstanceBatch([plan_of(document)], [0])
    batch.run()
    data = batch.physics.data(0)[1]
    assert data.body("platform").xpos[0] == 0.5
    assert abs(data.body("box").xpos[0]) < 1e-6
    assert data.body("table").xpos[0] == pytest.approx(0.5, abs=2e-3)
    assert data.body("load").xpos[0] == pytest.approx(0.5, abs=2e-2)


# --- authority --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": "platfrm"}, "unknown mocap body 'platfrm'; did you mean 'platform'"),
        ({"direction": [0, 0, 0]}, "direction must not be all zeros"),
        ({"quaternion": [0, 0, 0, 0]}, "quaternion must not be all zeros"),
        ({"frequency_hz": -1}, "frequency_hz"),
        ({"amplitude_m": "3 s"}, "amplitude_m"),
        ({"segment_s": 1}, "waypoints_m and segment_s go together"),
        ({"waypoints_m": [[0, 0], [1, 1]], "segment_s": 1}, "waypoint 0 has 2 numbers, not x, y, z"),
    ],
)
def test_what_is_asked_wrong_is_told(change, said):
    with pytest.raises(InvalidInputError) as caught:
        plan_of(platforms(m={**SHAKE, **change}))
    assert said in str(caught.value)
    assert "components.m" in str(caught.value)


def test_what_is_no_mocap_body_is_told_with_those_that_are():
    with pytest.raises(InvalidInputError) as caught:
        plan_of(platforms(m={**SHAKE, "body": "box"}))
    (problem,) = caught.value.problems
    assert problem.path == "components.m.body"
    for word in ("'box'", "platform, shaker", "weld"):
        assert word in problem.message


def test_two_motions_of_one_body_name_both_owners():
    with pytest.raises(InvalidInputError) as caught:
        plan_of(platforms(m=SHAKE, n={**GO, "body": "platform"}))
    assert "mocap_pose('platform') is claimed by 'm' and 'n'" in str(caught.value)
    plan_of(platforms(m=SHAKE, n={**GO, "body": "shaker"}))


@pytest.mark.parametrize("resource", [JointKinematics("box"), ActuatorActivation("muscle")])
def test_a_component_that_claims_what_it_cannot_enforce_is_refused_with_the_reason(resource, monkeypatch):
    monkeypatch.setattr(MocapMotionSpec, "claims", lambda self, name: (StateClaim(resource, name),))
    with pytest.raises((ClaimConflictError, InvalidInputError)) as caught:
        plan_of(platforms(m=SHAKE))
    assert f"{resource} cannot be claimed: nothing enforces authority" in str(caught.value)
    assert "components.m" in str(caught.value)


def test_a_prescribed_pose_cannot_be_injected():
    instance = plan_of(platforms(m=SHAKE)).instantiate()
    with pytest.raises(InvalidInputError, match="is claimed by 'm'"):
        instance.inject("mocap_pose:platform", ([0, 0, 0], [1, 0, 0, 0]))
    instance.inject("mocap_pose:shaker", ([0, 0, 0], [1, 0, 0, 0]))
