"""Drivers of MuJoCo's own servos against models compiled with their gains; sweeps of drivers; what does not fit."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sweep.errors import InvalidInputError
from sweep.runtime import InstanceBatch, SimulationInstance
from tests.runtime.driven import MOTOR, POSITION_SERVO, document, with_actuator
from tests.runtime.scenes import bits, cart, plan_of

# --- MuJoCo's own servos --------------------------------------------------------------------------------------------


def compiled(actuator, integrator="implicitfast"):
    """The cart with an actuator of one's own in place of ``twist``, stepped by MuJoCo alone."""
    xml = cart(integrator=integrator)["model"]["xml"].replace('<motor name="twist" joint="hinge"/>', actuator)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[1] = 0.1
    return model, data


def stepped(actuator, setpoint, ticks, integrator="implicitfast", scale_mass=1.0):
    model, data = compiled(actuator, integrator)
    if scale_mass != 1.0:
        model.body_mass[2] *= scale_mass
        model.body_inertia[2] *= scale_mass
        mujoco.mj_setConst(model, data)
        data = mujoco.MjData(model)
        data.qpos[1] = 0.1
    data.ctrl[1] = setpoint
    for _ in range(ticks):
        mujoco.mj_step(model, data)
    return bits([*data.qpos, *data.qvel])


def ran(made, setpoint, ticks=120):
    instance = plan_of(made).instantiate()
    instance.enqueue_external_input("drive", [setpoint])
    instance.advance(ticks)
    snapshot = instance.snapshot()
    return bits([*snapshot.qpos, *snapshot.qvel])


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize(
    ("drive", "actuator"),
    [
        ({"type": "position", "kp": 40, "kd": 0.7}, '<position name="twist" joint="hinge" kp="40" kv="0.7"/>'),
        ({"type": "position", "kp": 40}, '<position name="twist" joint="hinge" kp="40"/>'),
        ({"type": "velocity", "kd": 0.7}, '<velocity name="twist" joint="hinge" kv="0.7"/>'),
        (
            {"type": "position", "kp": 40, "kd": 0.7, "effort_limit": 2.5},
            '<position name="twist" joint="hinge" kp="40" kv="0.7" forcerange="-2.5 2.5"/>',
        ),
        (
            {"type": "velocity", "kd": 1.5, "strength": 0.5, "effort_limit": 0.25},
            '<velocity name="twist" joint="hinge" kv="0.75" forcerange="-0.25 0.25"/>',
        ),
    ],
    ids=["position", "undamped", "velocity", "limited", "weakened"],
)
def test_a_native_servo_is_that_of_a_model_compiled_with_its_gains(drive, actuator, integrator):
    made = document(drive, model=cart(integrator=integrator)["model"])
    assert ran(made, 0.3) == stepped(actuator, 0.3, 120, integrator)


def test_a_servo_of_the_model_keeps_what_the_drive_does_not_say():
    own = '<position name="twist" joint="hinge" kp="40" kv="0.7" timeconst="0.02" forcerange="-2 2"/>'
    model = with_actuator(own)
    assert ran(document({"type": "position"}, model=model), 0.3) == stepped(own, 0.3, 120)
    softer = own.replace('kp="40"', 'kp="25"')
    assert ran(document({"type": "position", "kp": 25}, model=model), 0.3) == stepped(softer, 0.3, 120)
    weaker = own.replace('kp="40" kv="0.7"', 'kp="20" kv="0.35"')
    assert ran(document({"type": "position", "strength": 0.5}, model=model), 0.3) == stepped(weaker, 0.3, 120)


def test_what_limited_a_motors_control_limits_the_force_of_the_servo_it_becomes():
    made = document({"type": "position", "kp": 4000}, model=with_actuator(
        '<motor name="twist" joint="hinge" ctrlrange="-3 2"/>'))  # fmt: skip
    actuator = '<position name="twist" joint="hinge" kp="4000" forcerange="-3 2"/>'
    assert ran(made, 20.0) == stepped(actuator, 20.0, 120)


GAINS = [5.0, 40.0, 12.5, 80.0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_gains_are_swept_in_one_batch_and_are_those_of_each_lane_alone(order):
    edits = {"pole": {"fields": ["body_mass", "body_inertia"], "scale": 2.0}}
    made = document({"type": "position", "kp": 1, "kd": 0.1}, model={**cart()["model"], "edits": edits})
    plans = [plan_of(made, {"components.drive.kp": kp, "components.drive.kd": kp / 50}) for kp in GAINS]
    assert len({plan.layout for plan in plans}) == 1
    batch = InstanceBatch([plans[n] for n in order], [0] * 4)
    batch.mailbox.enqueue("drive", np.array([0.3]), source_id="x", source_sequence=None, effective_s=None)
    batch.advance(120)
    for lane, n in enumerate(order):
        alone = SimulationInstance(plans[n])
        alone.enqueue_external_input("drive", [0.3], source_id="x")
        alone.advance(120)
        assert alone.trace_digest == batch.trace_digest(lane)


SWEPT = {
    "strengths of the model's servos": ({"type": "position"}, "strength", [1.0, 0.5, 2.0]),
    "force limits": ({"type": "velocity", "kd": 2}, "effort_limit", [0.05, 0.1, 3.0]),
    "software gains": ({"type": "servo", "kp": 1}, "kp", [3.0, 20.0]),
    "software periods": ({"type": "servo", "kp": 9}, "servo_period_s", [None, 0.0025, 0.004]),
    "motors": ({**MOTOR, "efficiency": 0.9}, "stall_torque", [0.1, 5.0]),
    "fallbacks": ({"timeout_s": 0.03, "brake_damping": 0.1}, "fallback", ["hold", "brake", "zero"]),
}


@pytest.mark.parametrize("what", SWEPT)
def test_lanes_that_are_swept_together_are_those_alone(what):
    drive, parameter, values = SWEPT[what]
    made = document(drive, model=with_actuator(POSITION_SERVO) if drive.get("type") == "position" else cart()["model"])
    plans = [plan_of(made, {f"components.drive.{parameter}": value}) for value in values]

    def digests(chosen):
        batch = InstanceBatch(chosen, [7] * len(chosen))
        batch.mailbox.enqueue("drive", np.array([0.2]), source_id="x", source_sequence=None, effective_s=0.004)
        batch.advance(90)
        return [batch.trace_digest(lane) for lane in range(len(chosen))]

    assert digests(plans) == [digests([plan])[0] for plan in plans]
    assert len(set(digests(plans))) == len(plans)


def test_edits_of_the_model_apply_on_top_of_a_drives_gains():
    edits = {"weak": {"fields": ["actuator_gainprm", "actuator_biasprm"], "names": "twist", "scale": 0.5}}
    made = document({"type": "position", "kp": 40, "kd": 0.7}, model={**cart()["model"], "edits": edits})
    assert ran(made, 0.3) == stepped('<position name="twist" joint="hinge" kp="20" kv="0.35"/>', 0.3, 120)


# --- what does not fit ----------------------------------------------------------------------------------------------

PID = '<pid name="twist" joint="hinge" kp="4"/>'


def problem(drive, model=None, path="components.drive.actuators"):
    with pytest.raises(InvalidInputError) as caught:
        plan_of(document(drive, **({} if model is None else {"model": model})))
    return {p.path: p.message for p in caught.value.problems}[path]


def test_actuators_of_the_wrong_kind_are_named_with_what_to_do():
    assert problem({"type": "position"}) == (
        "'twist' is a motor; give kp to make it a position servo, or command it as it is with type: torque"
    )
    assert "give kd to make it a velocity servo" in problem({"type": "velocity"})
    assert "with type: position" in problem({"type": "velocity"}, with_actuator(POSITION_SERVO))
    assert "'twist' is a PID servo; it cannot become a position servo" in problem(
        {"type": "position", "kp": 3}, with_actuator(PID)
    )
    message = problem({"type": "servo", "kp": 1}, with_actuator(POSITION_SERVO))
    assert "'twist' is a position servo, and a software servo needs motors" in message
    assert "model.motors" in message
    assert "type: position" in message
    assert "fallback: brake needs motors" in problem(
        {"fallback": "brake", "brake_damping": 1.0}, with_actuator(POSITION_SERVO)
    )


@pytest.mark.parametrize(
    ("drive", "path", "said"),
    [
        ({"slew_per_s": 1, "slew_up_per_s": 2}, "components.drive", "either slew_per_s, or slew_up_per_s"),
        ({"slew_per_s": 0}, "components.drive.slew_per_s", "above 0, not 0"),
        ({"limit": [1, -2]}, "components.drive.limit", "at least 0, not -2"),
        ({"limit": [1, 2]}, "components.drive.limit", "2 numbers for 1 controls"),
        ({"strength": [1, 1, 1]}, "components.drive.strength", "3 numbers for 1 controls"),
        ({"fallback": [1, 2]}, "components.drive.fallback", "2 numbers for 1 controls"),
        ({"fallback": "brake"}, "components.drive", "brake_damping"),
        ({"type": "position", "kp": 1, "fallback": "brake"}, "components.drive.fallback", "hold, zero"),
        ({"lag_s": -1}, "components.drive.lag_s", "greater than or equal to 0"),
        ({"command_period_s": 0.0001}, "components.drive.command_period_s", "shorter than the timestep"),
        ({"type": "servo", "kp": 1, "servo_period_s": 0.0001}, "components.drive.servo_period_s", "shorter than"),
        ({**MOTOR, "efficiency": 1.1}, "components.drive.efficiency", "at most 1, not 1.1"),
        ({"type": "motr"}, "components.drive", "did you mean 'motor'"),
        ({"kp": 1}, "components.drive.kp", "unknown key"),
    ],
)
def test_what_is_wrong_with_a_drive_is_said_where_it_stands(drive, path, said):
    assert said in problem(drive, path=path)
