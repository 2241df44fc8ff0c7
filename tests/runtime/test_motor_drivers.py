"""Drivers of motors: the torque-speed curve, brakes, and servos in software."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.runtime import InstanceBatch
from tests.runtime.driven import MOTOR, Controls, advanced, document
from tests.runtime.scenes import cart, plan_of

# --- the motor and its curve ----------------------------------------------------------------------------------------


def at_speeds(drive, speeds, command, xml=None):
    """What is applied in the one step that starts at each joint speed [rad/s]."""
    sections = {} if xml is None else {"model": {"xml": xml}}
    instance = plan_of(document(drive, **sections)).instantiate()
    found = []
    for speed in speeds:
        instance.reset()
        instance.inject("joint_kinematics:hinge", (0.0, speed))
        instance.enqueue_external_input("drive", [command])
        instance.step()
        found.append(float(instance.snapshot().ctrl[-1]))
    return found


@pytest.mark.parametrize(
    ("command", "speeds", "torques"),
    [
        (1000.0, [0, 5, 10, -5, 12, 2, -30], [80, 50, 0, 80, 0, 80, 80]),
        (-1000.0, [0, -5, -10, 5, -12, -2, 30], [-80, -50, 0, -80, 0, -80, -80]),
        (30.0, [0, 5, 8, 10, -5], [30, 30, 20, 0, 30]),
    ],
)
def test_a_torque_falls_with_the_speed_that_it_drives(command, speeds, torques):
    """The row of the driver table: stall 100, no-load 10 rad/s, limit 80."""
    found = at_speeds(MOTOR, speeds, command)
    assert found == pytest.approx(torques, rel=1e-14, abs=1e-13)


def test_a_gearbox_turns_the_curve_from_the_shaft_to_the_joint():
    geared = {"type": "motor", "stall_torque": 10, "no_load_speed": 100, "continuous_torque": 8, "gear_ratio": 10}
    speeds = [0, 3.3, 5, 9, 10, -5]
    for command in (1000.0, -20.0):
        assert at_speeds(geared, speeds, command) == pytest.approx(at_speeds(MOTOR, speeds, command), rel=1e-14)


def test_a_gearbox_takes_its_share_when_it_drives_and_helps_when_it_brakes():
    lossy = {**MOTOR, "efficiency": 0.8, "back_efficiency": 0.5}
    assert at_speeds(lossy, [0, 2, -2], 10.0) == pytest.approx([8.0, 8.0, 20.0])
    # Without either loss: 80, 50, and 80 against the motion.
    assert at_speeds(lossy, [0, 5, -5], 1000.0) == pytest.approx([64.0, 40.0, 160.0])
    assert at_speeds(lossy, [0, -5, 5], -1000.0) == pytest.approx([-64.0, -40.0, -160.0])


@settings(max_examples=12)
@given(
    st.floats(1, 200), st.floats(0.5, 50), st.floats(1, 300), st.floats(-60, 60), st.floats(-500, 500),
)  # fmt: skip
def test_the_curve_is_its_formula_in_all_four_quadrants(stall, no_load, limit, speed, command):
    drive = {"type": "motor", "stall_torque": stall, "no_load_speed": no_load, "continuous_torque": limit}
    driving = min(limit, max(0.0, stall * (1.0 - abs(speed) / no_load)))
    most = driving if command * speed > 0 else limit if speed else min(limit, stall)
    braking = min(limit, stall * (1.0 + abs(speed) / no_load))
    most = min(most, braking)
    assert at_speeds(drive, [speed], command)[0] == pytest.approx(math.copysign(min(abs(command), most), command))


SCALED = """
<mujoco><option timestep="0.001" gravity="0 0 0"/>
  <worldbody><body><joint name="hinge" type="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".2"/></body></worldbody>
  <actuator><general name="twist" joint="hinge" gear="-5" gainprm="2" ctrlrange="-1 3"/></actuator>
</mujoco>
"""
"""A joint torque is -10 times the control: from -30 to 10."""


def test_efforts_are_the_joints_whatever_the_model_makes_of_a_control():
    assert at_speeds(MOTOR, [0, 9.5, 10, -9.5], 7.0, SCALED) == pytest.approx([-0.7, -0.5, 0.0, -0.7])
    assert at_speeds(MOTOR, [0], 50.0, SCALED) == [-1.0]
    assert at_speeds(MOTOR, [0], -50.0, SCALED) == [3.0]
    brake = {"timeout_s": 0.001, "fallback": "brake", "brake_damping": 2.0, "actuators": "twist"}
    document = {"schema": "3.3", "model": {"xml": SCALED}, "components": {"drive": {"type": "torque", **brake}}}
    instance = plan_of(document).instantiate()
    instance.enqueue_external_input("drive", [0.0])
    instance.step()
    instance.inject("joint_kinematics:hinge", (0.0, 0.25))
    instance.step()
    assert instance.snapshot().ctrl[0] == pytest.approx(-2.0 * 0.25 / -10)


# --- brakes and software servos -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "drive",
    [
        {"type": "torque", "limit": 0.75},
        {"type": "servo", "kp": 3.0, "effort_limit": 0.75},
        {"type": "motor", "stall_torque": 0.75, "no_load_speed": 1e9, "strength": 0.5},
    ],
    ids=["torque", "servo", "motor"],
)
def test_a_brake_opposes_the_velocity_once_the_watchdog_trips(drive):
    brake = {**drive, "timeout_s": 0.003, "fallback": "brake", "brake_damping": 0.5}
    instance = plan_of(document(brake)).instantiate()
    instance.inject("joint_kinematics:hinge", (0.0, 1.0))
    instance.enqueue_external_input("drive", [0.1])
    for tick in range(8):
        before = instance.snapshot().qvel[1]
        if tick == 6:
            instance.inject("joint_kinematics:hinge", (0.0, 9.0))
            before = 9.0
        instance.step()
        if tick >= 3:
            assert instance.snapshot().ctrl[1] == -min(0.5 * before, 0.75)


def stiff(type_, **drive):
    return document({"type": type_, "kp": 30.0, "kd": 0.4, **drive}, model=cart(integrator="Euler")["model"])


@pytest.mark.parametrize("latency", [0.0, 0.003])
def test_a_software_servo_is_the_native_one_where_integration_is_explicit(latency):
    states = []
    for type_ in ("servo", "position"):
        made = stiff(type_, command_latency_s=latency, initial=0.1, slew_per_s=20)
        instance = plan_of(made).instantiate()
        instance.enqueue_external_input("drive", [0.4])
        instance.advance(150)
        states.append(instance.snapshot().qpos.tolist())
    assert states[0] == pytest.approx(states[1], rel=1e-9)
    assert abs(states[0][1] - 0.1) > 0.05


def test_a_servo_holds_its_effort_between_its_periods():
    plan, recorder = plan_of(stiff("servo", servo_period_s=0.0025, initial=0.3)), Controls()
    advanced(InstanceBatch([plan], [0], observers=[recorder]), 21)
    found = recorder.of(0, 1)
    changes = [tick for tick, (a, b) in enumerate(itertools.pairwise(found), start=1) if a != b]
    assert changes == [3, 5, 8, 10, 13, 15, 18, 20]
    assert found[0] == pytest.approx(30.0 * 0.2)


def test_a_servo_ignores_small_errors_and_knows_its_limit():
    servo = stiff("servo", dead_band=0.05, effort_limit=2.0)
    instance = plan_of(servo).instantiate()
    efforts = []
    for target in (0.14, 0.06, 0.16, 0.04, 0.5):
        instance.reset()
        instance.enqueue_external_input("drive", [target])
        instance.step()
        efforts.append(instance.snapshot().ctrl[1])
    assert efforts == pytest.approx([0.0, 0.0, 0.3, -0.3, 2.0])
