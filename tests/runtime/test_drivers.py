"""Drivers: stages against a scalar model and formulas, servos against MuJoCo's own, motors against their curve."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import InvalidInputError
from sweep.runtime import InstanceBatch, SimulationInstance
from sweep.runtime.mailbox import Mailbox
from tests.runtime.scalar_driver import ScalarDrive
from tests.runtime.scenes import bits, cart, plan_of


class Controls:
    """Every completed step's controls."""

    def __init__(self):
        self.pieces = []

    def fold(self, view):
        self.pieces.append(view.controls.copy())

    def of(self, lane, column):
        return np.concatenate(self.pieces, axis=1)[lane, :, column].tolist()


def document(drive, dt=0.001, **sections):
    """A cart without a controller; ``twist``, which has no control range, is driven."""
    runtime = {"timestep_s": dt, "duration_s": 10}
    components = {"drive": {"type": "torque", "actuators": "twist", **drive}}
    return cart(**{"components": components, "controllers": {}, "runtime": runtime, **sections})


def send(mailbox, dt, tick, value, source="bare", sequence=None):
    effective_s = float(tick * Fraction(dt).limit_denominator(10**6))
    mailbox.enqueue("drive", np.array([value]), source_id=source, source_sequence=sequence, effective_s=effective_s)


def applied(drive, ticks, inputs, dt=0.001, max_block=None):
    """The controls of a drive, tick by tick, given what is sent to it at ticks."""
    plan, recorder = plan_of(document(drive, dt)), Controls()
    mailbox = Mailbox(plan.grid)
    for tick, value in inputs.items():
        send(mailbox, dt, tick, value)
    advanced(InstanceBatch([plan], [0], max_block, observers=[recorder], mailbox=mailbox), ticks)
    return recorder.of(0, 1)


def advanced(batch, ticks):
    batch.advance(ticks)
    batch.observation.flush()
    return batch


# --- stages, in numbers ---------------------------------------------------------------------------------------------


def test_a_slew_of_ten_units_a_second_takes_fifty_ticks_of_two_milliseconds_for_one_unit():
    found = applied({"slew_per_s": 10}, 130, {5: 1.0, 70: 0.0}, dt=0.002)
    assert found[:8] == [0.0] * 5 + [0.02, 0.04, 0.06]
    assert found[53] < 1.0 == found[54] == found[69]
    assert found[70] == 0.98
    assert found[118] > 0.0 == found[119] == found[129]


@pytest.mark.parametrize(("rate", "dt"), [(10, 0.002), (3, 0.001), (0.1, 0.01), (7, "1/240"), (2.5, 0.004)])
def test_so_many_steps_take_so_many_ticks_at_any_rate(rate, dt):
    target = float(301 * Fraction(str(rate)) * Fraction(str(dt)))
    found = applied({"slew_per_s": rate}, 310, {0: target}, dt=dt)
    assert found.index(target) == 300
    assert found[300:] == [target] * 10


def test_up_and_down_slew_by_themselves():
    found = applied({"slew_up_per_s": 100}, 40, {0: 2.0, 30: -5.0})
    assert found[19:31] == [2.0] * 11 + [-5.0]
    found = applied({"slew_down_per_s": 100, "initial": 1.0}, 40, {0: 2.0, 5: -5.0})
    assert found[:7] == pytest.approx([2.0] * 5 + [1.9, 1.8])


def test_a_lag_is_the_exact_answer_of_a_first_order_system_to_a_held_command():
    found = applied({"lag_s": 0.02, "initial": 1.0}, 200, {10: 3.0, 100: -1.0}, dt=0.002)
    assert found[:10] == [1.0] * 10
    rising = [3.0 - 2.0 * math.exp(-(n + 1) * 0.002 / 0.02) for n in range(90)]
    assert found[10:100] == pytest.approx(rising, rel=1e-13)
    assert found[100] == pytest.approx(-1.0 + (found[99] + 1.0) * math.exp(-0.1), rel=1e-14)


@pytest.mark.parametrize(
    ("drive", "expected"),
    [
        ({"dead_band": 0.5}, [0.0, 0.0, 0.0, 0.25, -0.5]),
        ({"dead_band": 0.5, "dead_band_jump": True}, [0.0, 0.0, 0.0, 0.75, -1.0]),
        ({"resolution": 0.5}, [0.0, 0.5, -0.5, 1.0, -1.0]),
        ({"strength": 0.5}, [0.05, 0.25, -0.25, 0.375, -0.5]),
        ({"limit": 0.6}, [0.1, 0.5, -0.5, 0.6, -0.6]),
        # In their order: what the dead band leaves is rounded, weakened and limited.
        ({"dead_band": 0.1, "resolution": 0.25, "strength": 0.5, "limit": 0.3}, [0.0, 0.25, -0.25, 0.3, -0.3]),
    ],
)
def test_stages_without_memory(drive, expected):
    sent = [0.1, 0.5, -0.5, 0.75, -1.0]
    assert applied(drive, 5, dict(enumerate(sent))) == [x if x else 0.0 for x in expected]


@pytest.mark.parametrize("max_block", [None, 1, 4])
@pytest.mark.parametrize(
    ("fallback", "then"), [("zero", 0.0), ("hold", 4.0), (-0.5, -0.5)], ids=["zero", "hold", "numbers"]
)
def test_the_watchdog_trips_at_the_first_boundary_of_its_age(fallback, then, max_block):
    """dt 2 ms, timeout 10 ms, last arrival at tick 5: acts 5 .. 9, trips at tick 10."""
    drive = {"timeout_s": 0.010, "fallback": fallback, "initial": 1.0}
    found = applied(drive, 20, {0: 3.0, 5: 4.0, 15: 5.0}, dt=0.002, max_block=max_block)
    assert found == [3.0] * 5 + [4.0] * 5 + [then] * 5 + [5.0] * 5


def test_the_watchdog_waits_for_a_first_arrival():
    assert applied({"timeout_s": 0.002, "initial": 1.0}, 20, {}) == [1.0] * 20


def test_commands_are_taken_up_at_multiples_of_their_period():
    found = applied({"command_period_s": 0.0035}, 16, {0: 1.0, 5: 2.0, 6: 3.0, 7: 4.0, 8: 5.0})
    assert found == [0.0] * 4 + [1.0] * 3 + [4.0] * 4 + [5.0] * 5  # due at ticks 4, 7, 11, 14


def test_a_slewed_and_lagged_drive_starts_from_its_initial_command():
    for drive in ({"slew_per_s": 1}, {"lag_s": 0.1}):
        assert applied({**drive, "initial": 2.5}, 5, {}) == [2.5] * 5


# --- every stage at once, against the scalar model ------------------------------------------------------------------

DT = Fraction(1, 500)


def maybe(strategy):
    return st.none() | strategy


@st.composite
def lanes_of_drives(draw):
    """Specs of the lanes of one batch: they share what there is, and differ in all numbers."""
    kinds = {"jitter": draw(st.booleans()), "loss": draw(st.sampled_from([None, "drop", "burst"]))}
    shared = {
        "ordering": draw(st.sampled_from(["fifo", "overtaking"])),
        "dead_band_jump": draw(st.booleans()),
    }
    return [{**shared, **draw(drives(**kinds))} for _ in range(draw(st.integers(1, 3)))]


@st.composite
def drives(draw, jitter, loss):
    ticks = st.fractions(0, 6, max_denominator=3).map(lambda x: float(x * DT))
    probability = st.sampled_from([0.0, 0.3, 1.0])
    numbers = {
        "command_latency_s": draw(ticks),
        "command_period_s": draw(maybe(st.sampled_from([0.002, 0.007]))),
        "timeout_s": draw(maybe(st.sampled_from([0.004, 0.009]))),
        "fallback": draw(st.sampled_from(["hold", "zero", -0.7])),
        "initial": draw(maybe(st.sampled_from([0.25, -9.0]))),
        "dead_band": draw(st.sampled_from([0.0, 0.25])),
        "resolution": draw(st.sampled_from([0.0, 0.3])),
        "lag_s": draw(st.sampled_from([0.0, 0.0123])),
        "strength": draw(st.sampled_from([1.0, 0.7])),
        "limit": draw(maybe(st.sampled_from([0.6, 5.0]))),
        **draw(st.sampled_from([{}, {"slew_per_s": 100.0}, {"slew_up_per_s": 30.0, "slew_down_per_s": 300.0}])),
    }
    if jitter:
        values = draw(st.lists(ticks, min_size=3, max_size=3))
        numbers["jitter"] = {"type": "discrete", "values_s": values}
    if loss == "drop":
        numbers["drop_probability"] = draw(probability)
    if loss == "burst":
        names = ("p_good_to_bad", "p_bad_to_good", "loss_good", "loss_bad")
        numbers["burst_loss"] = {name: draw(probability) for name in names}
    return {name: value for name, value in numbers.items() if value is not None}


inputs = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.sampled_from(["bare", "counted"]),
        st.integers(0, 9),
        st.sampled_from([0.1, 1.3, -0.45, 7.0, -20.0]),
    ),
    max_size=14,
)


def committed(entries):
    """The same in the order of their commits, as the scalar model takes them; only ``counted`` keeps a count."""
    numbered = [(tick, source, sequence, acceptance, value)
                for acceptance, (tick, source, sequence, value) in enumerate(entries, start=1)]  # fmt: skip
    in_order = sorted(numbered, key=lambda e: (e[0], e[1], e[2] if e[1] == "counted" else e[3], e[3]))
    return [(tick, source, sequence if source == "counted" else None, value)
            for tick, source, sequence, _, value in in_order]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=120)
@given(lanes_of_drives(), inputs, st.sampled_from([None, 1, 2, 3, 7]), st.integers(0, 2**32))
def test_every_drive_is_its_scalar_model_bit_for_bit(drives, entries, max_block, seed):
    plans = [plan_of(document({**drive, "actuators": "push"}, float(DT))) for drive in drives]
    recorder, mailbox, ticks = Controls(), Mailbox(plans[0].grid), 75
    for tick, source, sequence, value in entries:
        send(mailbox, DT, tick, value, source, sequence if source == "counted" else None)
    seeds = [seed + lane for lane in range(len(plans))]
    batch = advanced(InstanceBatch(plans, seeds, max_block, observers=[recorder], mailbox=mailbox), ticks)
    for lane, drive in enumerate(drives):
        scalar = ScalarDrive("drive", drive, DT, seeds[lane], committed(entries), -8.0, 6.0)
        assert same(recorder.of(lane, 0), [scalar.control(tick) for tick in range(ticks)])
        summary = batch.parts.drivers["drive"].summary(lane, ticks)
        assert summary["commands"] == scalar.arrived
        assert summary["saturated"] == scalar.saturated / ticks
        assert summary.get("lost", 0.0) == scalar.lost
        assert summary.get("timed_out", 0.0) == scalar.timed_out / ticks


def same(found, expected):
    return bits(x + 0.0 for x in found) == bits(x + 0.0 for x in expected)


@pytest.mark.slow
@settings(max_examples=40)
@given(lanes_of_drives(), inputs, st.sampled_from([None, 3]))
def test_a_lane_alone_is_that_lane_in_a_batch(drives, entries, max_block):
    plans = [plan_of(document({**drive, "actuators": "push"}, float(DT))) for drive in drives]

    def digests(chosen):
        mailbox = Mailbox(plans[0].grid)
        for tick, source, sequence, value in entries:
            send(mailbox, DT, tick, value, source, sequence if source == "counted" else None)
        batch = InstanceBatch(
            [plans[lane] for lane in chosen], [lane + 5 for lane in chosen], max_block, mailbox=mailbox
        )
        batch.advance(70)
        return [(batch.trace_digest(n), batch.record(n).receipts) for n in range(len(chosen))]

    assert digests(range(len(plans))) == [digests([lane])[0] for lane in range(len(plans))]


@pytest.mark.parametrize("ordering", ["fifo", "overtaking"])
def test_a_controllers_calls_are_counted_in_each_lane(ordering):
    """Lanes whose controller begins at another call, or takes another time, draw what they would draw alone."""
    drive = {"type": "torque", "actuators": "push", "drop_probability": 0.3, "ordering": ordering}
    jitter = {"type": "uniform", "high_s": 0.015}
    made = cart()
    made["components"]["drive"] = {**drive, "jitter": jitter}
    cells = [
        {"components.enc.latency_s": seen, "controllers.fb.compute_latency_s": compute}
        for seen, compute in [(0.0, 0.0), (0.03, 0.0), (0.012, 0.008), (0.0, 0.008)]
    ]
    plans = [plan_of(made, cell) for cell in cells]

    def left(chosen):
        batch = InstanceBatch([plans[n] for n in chosen], chosen, trace="events")
        batch.run()
        tables = [batch.parts.drivers["drive"].event_table(lane) for lane in range(len(chosen))]
        mine = [[t[c].tolist() for c in ("tick", "source_sequence", "arrival_tick", "values")] for t in tables]
        return [(batch.record(lane), mine[lane]) for lane in range(len(chosen))]

    together = left([0, 1, 2, 3])
    assert together == [left([n])[0] for n in range(4)]
    assert [table[1] for _, table in together] == [list(range(1, len(t[1]) + 1)) for _, t in together]
    assert len({len(table[1]) for _, table in together}) > 1
    assert all(record.summaries["drive/lost"] for record, _ in together)


# --- the motor and its curve ----------------------------------------------------------------------------------------

MOTOR = {"type": "motor", "stall_torque": 100, "no_load_speed": 10, "continuous_torque": 80}


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


@settings(max_examples=20)
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


def with_actuator(actuator):
    model = cart()["model"]
    return {**model, "xml": model["xml"].replace('<motor name="twist" joint="hinge"/>', actuator)}


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


def test_edits_of_the_model_apply_on_top_of_a_drives_gains():
    edits = {"weak": {"fields": ["actuator_gainprm", "actuator_biasprm"], "names": "twist", "scale": 0.5}}
    made = document({"type": "position", "kp": 40, "kd": 0.7}, model={**cart()["model"], "edits": edits})
    assert ran(made, 0.3) == stepped('<position name="twist" joint="hinge" kp="20" kv="0.35"/>', 0.3, 120)


# --- what does not fit ----------------------------------------------------------------------------------------------

PID = '<pid name="twist" joint="hinge" kp="4"/>'
SERVO = '<position name="twist" joint="hinge" kp="4"/>'


def problem(drive, model=None, path="components.drive.actuators"):
    with pytest.raises(InvalidInputError) as caught:
        plan_of(document(drive, **({} if model is None else {"model": model})))
    return {p.path: p.message for p in caught.value.problems}[path]


def test_actuators_of_the_wrong_kind_are_named_with_what_to_do():
    assert problem({"type": "position"}) == (
        "'twist' is a motor; give kp to make it a position servo, or command it as it is with type: torque"
    )
    assert "give kd to make it a velocity servo" in problem({"type": "velocity"})
    assert "with type: position" in problem({"type": "velocity"}, with_actuator(SERVO))
    assert "'twist' is a PID servo; it cannot become a position servo" in problem(
        {"type": "position", "kp": 3}, with_actuator(PID)
    )
    message = problem({"type": "servo", "kp": 1}, with_actuator(SERVO))
    assert "'twist' is a position servo, and a software servo needs motors" in message
    assert "model.motors" in message
    assert "type: position" in message
    assert "fallback: brake needs motors" in problem({"fallback": "brake", "brake_damping": 1.0}, with_actuator(SERVO))


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


# --- what it leaves behind ------------------------------------------------------------------------------------------


def test_the_event_table_holds_every_committed_input_in_order():
    drive = {"command_latency_s": 0.002, "drop_probability": 0.5}
    plan = plan_of(document(drive))
    mailbox = Mailbox(plan.grid)
    for tick, sequence in [(1, 1), (2, 2), (4, 2), (5, 7), (5, 8), (9, 9)]:
        send(mailbox, 0.001, tick, float(tick), "counted", sequence)
    send(mailbox, 0.001, 5, 0.5)
    batch = InstanceBatch([plan], [3], trace="events", mailbox=mailbox)
    batch.advance(8)
    table = batch.parts.drivers["drive"].event_table(0)
    assert table["tick"].tolist() == [1, 2, 4, 5, 5, 5]
    assert table["source_id"].tolist() == ["counted", "counted", "counted", "bare", "counted", "counted"]
    assert table["source_sequence"].tolist() == [1, 2, 2, 7, 7, 8]
    assert table["stale"].tolist() == [False, False, True, False, False, False]
    assert table["acceptance"].tolist() == [1, 2, 3, 7, 4, 5]
    assert table["values"].tolist() == [[1.0], [2.0], [4.0], [0.5], [5.0], [5.0]]
    assert table["effective_s"].tolist() == [0.001, 0.002, 0.004, 0.005, 0.005, 0.005]
    scalar = ScalarDrive("drive", drive, Fraction(1, 1000), 3, [], -1, 1)
    arrives = [-1 if scalar.loses(n) else tick + 2 for tick, n in [(1, 1), (2, 2), (5, 1), (5, 7), (5, 8)]]
    assert table["arrival_tick"].tolist() == [*arrives[:2], -1, *arrives[2:]]
    assert {len(column) for column in table.values()} == {6}
    summary = batch.parts.drivers["drive"].summary(0, 8)
    assert (summary["commands"], summary["lost"]) == (sum(a >= 0 for a in arrives), sum(a < 0 for a in arrives))


def test_an_empty_event_table_has_its_columns():
    batch = InstanceBatch([plan_of(document({}))], [0], trace="events")
    table = batch.parts.drivers["drive"].event_table(0)
    assert {len(column) for column in table.values()} == {0}
    assert table["values"].shape == (0, 1)


def test_a_drive_says_which_draws_it_used():
    drive = {"jitter": {"type": "uniform", "high_s": 0.004}, "drop_probability": 0.2}
    plan = plan_of(document(drive))

    def receipts(sequences):
        mailbox = Mailbox(plan.grid)
        for tick, sequence in enumerate(sequences):
            send(mailbox, 0.001, tick, 1.0, "p", sequence)
        batch = InstanceBatch([plan], [0], mailbox=mailbox)
        batch.advance(len(sequences))
        return {name: (r.first, r.count) for name, r in batch.record(0).receipts.items()}

    assert receipts([]) == {"drive/latency": (1, 0), "drive/dropout": (1, 0)}
    assert receipts([None] * 5) == {"drive/latency": (1, 5), "drive/dropout": (1, 5)}
    assert receipts([4, 5, 6]) == {"drive/latency": (4, 3), "drive/dropout": (4, 3)}
    assert receipts([4, 6]) == {}


@pytest.mark.parametrize("max_block", [None, 1, 5])
def test_nothing_later_than_a_lanes_end_is_accounted_for(max_block):
    drive = {"limit": 0.5, "timeout_s": 0.02, "drop_probability": 0.4}
    made = document(drive)
    made["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.3}
    plan = plan_of(made)
    mailbox = Mailbox(plan.grid)
    for tick in range(0, 900, 7):
        send(mailbox, 0.001, tick, 0.9 if tick % 2 else 0.1)
    batch = InstanceBatch([plan, plan], [0, 1], max_block, mailbox=mailbox)
    batch.run()
    for lane, seed in enumerate([0, 1]):
        steps = batch.stops[lane].tick + 1
        inputs = [(tick, "bare", None, 0.9 if tick % 2 else 0.1) for tick in range(0, steps, 7)]
        scalar = ScalarDrive("drive", drive, Fraction(1, 1000), seed, inputs, -math.inf, math.inf)
        for tick in range(steps):
            scalar.control(tick)
        assert batch.record(lane).summaries == {
            "drive/commands": scalar.arrived,
            "drive/lost": scalar.lost,
            "drive/saturated": scalar.saturated / steps,
            "drive/timed_out": scalar.timed_out / steps,
        }
        assert 20 < steps < 850
        assert scalar.saturated
        assert scalar.timed_out
