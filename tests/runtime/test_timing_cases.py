"""The rows of the timing cases that concern clocks, latency, commands, reset and faults, through an Instance."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import EndedError, FaultedError, InvalidInputError
from sweep.plan import FixedRateSchedule, Grid, GridSchedule
from sweep.runtime import InstanceBatch, Phase, SimulationInstance, resolve_plan
from tests.runtime.scenes import bits, cart, plan_of, samples, scene_manifest

SLIDE = """
<mujoco><option timestep="{dt}" gravity="0 0 0"/>
  <worldbody><body><joint name="slide" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body></worldbody>
  <actuator><motor name="push" joint="slide"/></actuator>
</mujoco>
"""


def slide(dt, *, enc=None, drive=None, duration_s=1.0):
    """A mass on a rail, an encoder and a drive; ``dt`` [s], with what differs from the defaults."""
    components = {"enc": {"type": "encoder", "joints": "slide", "period_s": dt} | (enc or {})}
    components |= {"drive": {"type": "torque", "actuators": "push"} | (drive or {})}
    return {
        "schema": "3.3",
        "model": {"xml": SLIDE.format(dt=0.001)},
        "runtime": {"timestep_s": dt, "duration_s": duration_s},
        "components": components,
    }


def acquisitions(document, ticks):
    instance = plan_of(document).instantiate()
    instance.advance(ticks)
    return [acquired for acquired, _ in samples(instance, "enc")]


# --- row 1: a delay of k timesteps is k ticks, for ever -------------------------------------------------------------


def ages(dt, k, ticks, **drive):
    """Age of the applied command at every tick, when the tick's number is sent before every step."""
    max_block = drive.pop("max_block", None)
    document = slide(dt, drive=drive)
    document["metrics"] = {"applied": {"type": "final_abs", "actuators": "push", "signal": "control", "unit": "N",
                                       "window": "at_end"}}  # fmt: skip
    instance = SimulationInstance(plan_of(document), max_block=max_block)
    found = []
    for tick in range(ticks):
        instance.enqueue_external_input("drive", [float(tick)], source_id="p", source_sequence=tick)
        instance.step()
        found.append(tick - instance.metrics["applied"])
    assert instance.snapshot().ctrl[0] == ticks - 1 - k
    return found


@pytest.mark.slow
def test_row_1_a_command_delayed_by_three_timesteps_is_always_three_ticks_old():
    found = ages(0.005, 3, 20_000, command_latency_s=3 * 0.005, initial=0.5)
    assert found[:3] == [-0.5, 0.5, 1.5]
    assert set(found[3:]) == {3.0}


@pytest.mark.slow
@settings(max_examples=12)
@given(st.sampled_from([0.001, 0.002, 0.005, 0.01, "1/240"]), st.integers(0, 9), st.sampled_from([None, 1]))
def test_row_1_for_every_latency_on_the_grid(dt, k, max_block):
    latency = float(k * Fraction(dt)) if isinstance(dt, str) else k * dt
    found = ages(dt, k, 30, command_latency_s=latency, latency_quantization="strict", max_block=max_block)
    assert set(found[k:]) == {float(k)}


# --- rows 2, 3, 8 and D.0: acquisition ticks ------------------------------------------------------------------------

ROWS = [
    (0.01, {"period_s": 0.1}, [10, 20, 30]),
    (0.005, {"period_s": 0.02}, [4, 8, 12]),
    (0.002, {"period_s": 0.007}, [4, 7, 11, 14, 18, 21, 25, 28]),
    (0.002, {"period_s": 0.007, "phase_s": 0.001}, [1, 4, 8, 11, 15, 18, 22, 25, 29]),
    (0.002, {"period_s": 1 / 60}, [9, 17, 25, 34, 42, 50, 59, 67, 75, 84, 92, 100]),
    (0.002, {"period_s": 1 / 30}, [17, 34, 50, 67, 84, 100, 117]),
    (1, {"period_s": 2.5}, [3, 5, 8, 10, 13, 15]),
    (1, {"period_s": 2.5, "phase_s": 1}, [1, 4, 6, 9, 11, 14, 16]),
    (0.1, {"period_s": 0.1 + 0.2, "quantization": "strict"}, [3, 6, 9]),
    ("1/240", {"period_s": 1 / 60, "quantization": "strict"}, [4, 8, 12]),
    (0.001, {"period_s": 0.001}, list(range(1, 10))),  # row 8
]


@pytest.mark.parametrize(("dt", "enc", "ticks"), ROWS)
@pytest.mark.parametrize("initial", [False, True])
def test_rows_2_and_8_acquisitions_stay_on_the_nominal_schedule(dt, enc, ticks, initial):
    document = slide(dt, enc={**enc, "initial_acquisition": initial})
    assert acquisitions(document, ticks[-1] + 1) == ([0] if initial else []) + ticks


@pytest.mark.parametrize(("dt", "rate"), [(0.05, 20), (0.1, 10), (1 / 30, 30), (0.005, 200)])
def test_row_3_no_frame_is_dropped(dt, rate):
    schedule = FixedRateSchedule(1 / rate)
    assert sum(len(schedule.advance(1 / rate)) for _ in range(200)) == 200
    assert acquisitions(slide(dt, enc={"period_s": 1 / rate}), 200) == list(range(1, 200))
    assert len(acquisitions(slide(dt, enc={"period_s": 1 / rate, "initial_acquisition": True}), 200)) == 200


@pytest.mark.slow
@settings(max_examples=25)
@given(st.data(), st.sampled_from([Fraction(1, 1000), Fraction(1, 500), Fraction(1, 240)]))
def test_samples_are_the_grid_schedules_and_travel_for_their_latency(data, dt):
    period = dt * data.draw(st.fractions(1, 8, max_denominator=5))
    phase = period * data.draw(st.sampled_from([0, Fraction(1, 4), Fraction(2, 3)]))
    latency = dt * data.draw(st.fractions(0, 12, max_denominator=4))
    initial = data.draw(st.booleans())
    enc = {"period_s": float(period), "phase_s": float(phase), "latency_s": float(latency)}
    instance = plan_of(slide(float(dt), enc={**enc, "initial_acquisition": initial})).instantiate()
    instance.advance(60)
    grid = Grid(dt)
    indices, ticks = GridSchedule(grid, period, phase).due(0, 60)
    nominal = [0.0] * initial + [float(phase + k * period) for k in indices.tolist()]
    events = [e.data for e in instance.events() if e.kind == "sample"]
    assert [e["acquired_tick"] for e in events] == [0] * initial + ticks.tolist()
    assert [e["index"] for e in events] == list(range(1 - initial, len(ticks) + 1))
    for event, due in zip(events, nominal, strict=True):
        acquired = event["acquired_tick"] * dt
        assert event["nominal_acquisition_s"] == due
        assert event["actual_acquisition_s"] == float(acquired)
        assert event["requested_delivery_s"] == float(acquired + latency)
        assert event["delivered_tick"] == event["acquired_tick"] + grid.ticks(latency)
        assert event["actual_delivery_s"] == float(event["delivered_tick"] * dt)


def test_a_latency_off_the_grid_rounds_up_or_is_refused():
    instance = plan_of(slide(0.001, enc={"latency_s": 0.0004})).instantiate()
    instance.advance(5)
    assert samples(instance, "enc") == [(1, 2), (2, 3), (3, 4), (4, 5)]
    with pytest.raises(InvalidInputError, match=r"components\.enc\.latency_s: .*0\.0004 s"):
        plan_of(slide(0.001, enc={"latency_s": 0.0004, "latency_quantization": "strict"}))


def test_a_period_below_the_timestep_is_refused():
    with pytest.raises(InvalidInputError, match=r"components\.enc\.period_s: .*shorter than the timestep"):
        plan_of(slide(0.01, enc={"period_s": 0.005}))


def test_output_is_absent_before_the_first_delivery():
    instance = plan_of(slide(0.001, enc={"latency_s": 0.004})).instantiate()
    for tick in range(8):
        instance.step()
        output = instance.output("enc")
        assert output.valid == (tick >= 5)
        assert (output.acquired_tick, output.delivered_tick) == ((tick - 4, tick) if tick >= 5 else (-1, -1))
        assert np.isnan(output.values).all() == (not output.valid)


# --- row 7 ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_row_7_macro_steps_lose_no_tick():
    instance = plan_of(slide(1 / 240, enc={"period_s": 1 / 60})).instantiate()
    for macro in range(10_000):
        assert instance.tick == 4 * macro
        instance.advance(Grid(1 / 240).ticks(1 / 60, "strict"))
    assert instance.tick == 40_000
    assert instance.episode_time_s == 40_000 / 240
    assert len(samples(instance, "enc")) == 9_999  # that of tick 40 000 is the next step's


# --- rows 10, 12, 14 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_block", [None, 1, 3])
def test_row_10_a_position_delivered_at_tick_4_is_the_position_at_tick_4(max_block):
    instance = SimulationInstance(plan_of(slide("1/120")), max_block=max_block)
    instance.inject("joint_kinematics:slide", {"qpos": 0.0, "qvel": 1.0})
    instance.advance(5)
    output = instance.output("enc")
    assert (output.acquired_tick, output.delivered_tick) == (4, 4)
    assert output.values[0] == pytest.approx(4 / 120, abs=1e-15)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.sampled_from(["1/120", 0.001, 0.01, "1/240"]),
    st.floats(-10, 10),
    st.integers(1, 4),
    st.sampled_from([None, 1, 3]),
)
def test_row_10_what_a_device_acquires_at_a_tick_is_the_state_of_that_boundary(dt, speed, every, max_block):
    enc = {"period_s": float(every * Fraction(str(dt))), "measures": ["position", "velocity"]}
    plan = plan_of(slide(dt, enc=enc, drive={"initial": 3.0}))
    instance, stepped = SimulationInstance(plan, max_block=max_block), SimulationInstance(plan)
    boundaries = []
    for either in (instance, stepped):
        either.inject("joint_kinematics:slide", (0.0, speed))
    for _ in range(30):
        now = stepped.snapshot()
        boundaries.append(bits([now.qpos[0], now.qvel[0]]))
        stepped.step()
    instance.advance(30)
    found = {e.data["acquired_tick"]: bits(e.data["values"]) for e in instance.events() if e.kind == "sample"}
    assert found == {tick: boundaries[tick] for tick in range(every, 30, every)}


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 9), st.lists(st.integers(0, 3), min_size=20, max_size=20))
def test_row_12_however_often_anybody_reads(latency, reads):
    plan = plan_of(slide(0.001, enc={"latency_s": latency / 1000}))
    instance, alone = plan.instantiate(), plan.instantiate()
    for tick, count in enumerate(reads):
        instance.step()
        for _ in range(count):
            instance.output("enc"), instance.outputs(), instance.snapshot(), instance.events()
        shown = instance.output("enc")
        assert shown.valid == (tick > latency)
        assert not shown.valid or tick - shown.acquired_tick == latency
    alone.advance(len(reads))
    assert instance.trace_digest == alone.trace_digest


@pytest.mark.parametrize("reads", [0, 1, 3])
def test_row_12_reading_an_output_does_not_shorten_a_delay(reads):
    instance = plan_of(slide(0.001, enc={"latency_s": 0.004})).instantiate()
    for tick in range(30):
        instance.step()
        for _ in range(reads):
            instance.output("enc")
        if tick >= 5:
            assert tick - instance.output("enc").acquired_tick == 4
    alone = plan_of(slide(0.001, enc={"latency_s": 0.004})).instantiate()
    alone.advance(30)
    assert instance.trace_digest == alone.trace_digest


THREE = """
<mujoco><option timestep="0.001" gravity="0 0 0"/>
  <worldbody><body><joint name="slide" type="slide" axis="1 0 0"/><geom size=".1" mass="1e6"/></body></worldbody>
  <actuator><position name="p" joint="slide" kp="1"/><velocity name="v" joint="slide" kv="1"/>
    <motor name="m" joint="slide"/></actuator>
  <sensor><jointactuatorfrc name="force" joint="slide"/></sensor>
</mujoco>
"""


@pytest.mark.parametrize(("initial", "before"), [(None, 0.0), ([0.5, 0.25, 0.125], 0.875), (0.25, 0.75)])
@pytest.mark.parametrize("max_block", [None, 1])
def test_row_14_a_command_is_delayed_whole(initial, before, max_block):
    drive = {"type": "torque", "actuators": ["p", "v", "m"], "command_latency_s": 0.004}
    drive |= {} if initial is None else {"initial": initial}
    document = {"schema": "3.3", "model": {"xml": THREE}, "components": {"drive": drive}}
    instance = SimulationInstance(plan_of(document), max_block=max_block)
    instance.enqueue_external_input("drive", (1, 2, 3), effective_time_s=0.003)
    forces = []
    for _ in range(12):
        instance.step()
        forces.append(instance.snapshot().sensordata[0])
    # The snapshot after step n shows the force of the controls applied in step n.
    assert forces == pytest.approx([before] * 7 + [6.0] * 5, abs=1e-4)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(0, 25), st.integers(-9, 9)), max_size=6),
    st.integers(0, 6),
    st.sampled_from([None, 1, 4]),
)
def test_row_14_no_tick_ever_mixes_two_commands(sent, latency, max_block):
    """Every command is one number in all fields, so a mix would show two."""
    drive = {"type": "torque", "actuators": ["p", "v", "m"], "command_latency_s": latency / 1000, "initial": 0.5}
    document = {"schema": "3.3", "model": {"xml": THREE}, "components": {"drive": drive}}
    instance = SimulationInstance(plan_of(document), max_block=max_block)
    expected = [0.5] * 35
    for tick, value in sorted(sent, key=lambda command: command[0]):
        instance.enqueue_external_input("drive", [float(value)] * 3, effective_time_s=tick / 1000)
        expected[tick + latency :] = [float(value)] * (35 - tick - latency)
    for value in expected:
        instance.step()
        assert instance.snapshot().ctrl.tolist() == [value] * 3


# --- row 16, through an Instance (the channel alone: test_transport.py) ---------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("dt", "latency", "jitter"), [(0.001, 3, 1), (0.002, 0, 3), ("1/240", 2, 0), (0.001, 0.4, 5)])
def test_row_16_jitter_never_delivers_early_and_in_order(dt, latency, jitter):
    tick_s = float(Fraction(str(dt)))
    enc = {"latency_s": latency * tick_s, "jitter": {"type": "uniform", "high_s": jitter * tick_s}}
    instance = plan_of(slide(dt, enc=enc, duration_s=50)).instantiate(5)
    instance.advance(10_001)
    found = samples(instance, "enc")
    delays = {delivered - acquired for acquired, delivered in found}
    assert len(found) == 10_000
    assert [acquired for acquired, _ in found] == list(range(1, 10_001))
    # One draw in 2**53 is 0: whatever is above it takes the next whole tick.
    first, last = math.ceil(latency + (jitter > 0) * 1e-9), math.ceil(latency + jitter)
    assert (min(delays), max(delays)) == (first, last)
    arrivals = [delivered for _, delivered in found]
    assert arrivals == sorted(arrivals)
    assert all(e.data["requested_delivery_s"] <= e.data["actual_delivery_s"] for e in instance.events()
               if e.kind == "sample")  # fmt: skip


# --- row 17 ---------------------------------------------------------------------------------------------------------


def imu(*order, latency_s=0.0):
    enc = {"type": "encoder", "joints": "hinge", "period_s": 0.002, "white_std": 0.1, "latency_s": latency_s}
    cam = {**enc, "measures": ["position", "velocity"], "period_s": 0.005}
    known = {
        "imu0": enc,
        "cam": cam,
        "off": {**cam, "enabled": False},
        "drive": {"type": "torque", "actuators": "push"},
    }
    return cart(components={name: known[name] for name in order}, controllers={})


def test_row_17_nothing_shifts_the_noise_of_another_component():
    def noise(document):
        instance = plan_of(document).instantiate(12345)
        instance.advance(100)
        values = [bits(e.data["values"]) for e in instance.events() if e.component == "imu0"]
        return values, instance.stream_receipts["imu0/white"]

    alone = noise(imu("imu0"))
    assert alone[1].count == 49
    for order in (["cam", "imu0"], ["imu0", "cam"], ["drive", "imu0", "cam"], ["off", "imu0"], ["imu0", "off"]):
        assert noise(imu(*order)) == alone
    assert noise(imu("imu0", latency_s=0.03)) == alone


# --- rows 21 to 23: reset -------------------------------------------------------------------------------------------

FRESH = """
import sys
sys.path.insert(0, {root!r})
from tests.runtime.test_timing_cases import EPISODES, left_by
for plan in EPISODES.values():
    print(left_by(plan().instantiate(7)))
"""
EPISODES = {
    "cart": lambda: plan_of(cart()),
    **{
        name: partial(lambda name: resolve_plan(scene_manifest(name), {"runtime.duration_s": 0.2}), name)
        for name in ("cartpole", "arm", "platform", "stand")
    },
}


def left_by(instance):
    """All that a run leaves: its record, and what happened in it, in words."""
    record = instance.run()
    happened = [(e.kind, e.tick, e.component, e.data) for e in instance.events()
                if e.episode_index == instance.episode_index]  # fmt: skip
    return repr((record, instance.recorded_inputs, hashlib.sha256(repr(happened).encode()).hexdigest()))


def dirty(instance, how):
    """Leave an episode in the middle of things, or faulted."""
    driver = next(iter(instance._batch.parts.drivers))
    width = instance._batch.parts.drivers[driver].width
    model = instance._batch.context.index.model
    joint = next(j.name for j in map(model.joint, range(model.njnt)) if len(j.qpos0) == 1)
    instance.advance(40)
    if how == "nan":
        instance.inject(f"joint_kinematics:{joint}", (float("nan"), float("nan")))
    elif how == "nan command":
        instance.enqueue_external_input(driver, [float("nan")] * width)
    elif how == "commands":
        for k in range(50):
            instance.enqueue_external_input(driver, [5.0] * width, effective_time_s=0.001 * k)
    with suppress(EndedError):
        instance.advance(20)
    assert (instance.fault is None) == (how == "commands")


@pytest.mark.slow
def test_row_21_an_episode_after_a_dirty_one_is_that_of_a_fresh_process(request):
    """Of every scene that ships: noise, delays, a controller with memory, pushes, a prescribed pose, an end."""
    script = FRESH.format(root=str(request.config.rootpath))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    for plan, fresh in zip(EPISODES.values(), done.stdout.splitlines(), strict=True):
        for how in ("nan", "nan command", "commands"):
            instance = plan().instantiate(3)
            dirty(instance, how)
            instance.reset(7)
            assert (instance.fault, instance.tick, instance.episode_index, instance.seed) == (None, 0, 1, 7)
            assert left_by(instance) == fresh
            instance.reset()
            assert left_by(instance) == fresh


IMPERFECT = {
    "enc": {"type": "encoder", "joints": ["slider", "hinge"], "measures": ["position", "velocity"], "period_s": 0.0033,
            "latency_s": 0.002, "white_std": 0.01, "velocity_white_std": 0.1, "bias_std": 0.02,
            "jitter": {"type": "uniform", "high_s": 0.004}, "initial_acquisition": True,
            "burst_loss": {"p_good_to_bad": 0.2, "p_bad_to_good": 0.5}},
    "drive": {"type": "torque", "actuators": "push", "command_latency_s": 0.001, "timeout_s": 0.007, "fallback": "zero",
              "slew_per_s": 500.0, "lag_s": 0.01, "jitter": {"type": "uniform", "high_s": 0.002}},
    "fall": {"type": "limit_exceeded", "joints": "hinge", "limit": 0.35},
}  # fmt: skip
MESSES = st.sampled_from(["step", "advance", "nan", "nan command", "command", "later", "look", "reset"])


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(MESSES, max_size=12), st.integers(0, 2**64 - 1), st.sampled_from([None, 1, 5]))
def test_row_21_an_episode_after_any_episode_is_that_of_a_fresh_instance(messes, seed, max_block):
    plan = plan_of(cart(components=IMPERFECT))
    instance, fresh = SimulationInstance(plan, 3, max_block=max_block), SimulationInstance(plan, seed)
    over = (FaultedError, EndedError)
    acts = {
        "step": instance.step,
        "advance": lambda: instance.advance(17),
        "nan": lambda: instance.inject("joint_kinematics:hinge", (float("nan"), 0.0)),
        "nan command": lambda: instance.enqueue_external_input("drive", [float("nan")]),
        "command": lambda: instance.enqueue_external_input("drive", [5.0], source_sequence=3),
        "later": lambda: instance.enqueue_external_input("drive", [-5.0], effective_time_s=0.05),
        "look": lambda: (instance.snapshot(), instance.output("enc"), instance.metrics, instance.trace_digest),
        "reset": lambda: instance.reset(8),
    }
    for mess in messes:
        with suppress(*over):
            acts[mess]()
    episode = instance.episode_index + 1
    instance.reset(seed)
    for either in (instance, fresh):
        either.run()
    assert instance.record == fresh.record
    found, expected = ([(e.kind, e.tick, e.component, repr(e.data)) for e in each.events() if e.episode_index == index]
                       for each, index in ((instance, episode), (fresh, 0)))  # fmt: skip
    assert found == expected


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 60), st.booleans())
def test_rows_22_and_23_after_a_reset_devices_begin_anew_and_nothing_old_arrives(period, latency, ticks, initial):
    enc = {"period_s": period / 1000, "latency_s": latency / 1000, "initial_acquisition": initial}
    instance = plan_of(slide(0.001, enc=enc)).instantiate()
    instance.inject("joint_kinematics:slide", (7.0, 0.0))  # what is of the old episode shows it
    instance.advance(ticks)
    old = samples(instance, "enc")
    instance.reset()
    assert not instance.output("enc").valid
    cancelled = [e.data["index"] for e in instance.events() if e.kind == "cancelled"]
    flying = [e.data["index"] for e in instance.events() if e.kind == "sample" and e.data["delivered_tick"] >= ticks]
    assert cancelled == flying
    for tick in range(70):
        instance.step()
        shown = instance.output("enc")
        assert not shown.valid or (shown.values[0], shown.acquired_tick <= tick - latency) == (0.0, True)
    assert instance.session_time_s == (ticks + 70) / 1000
    fresh = plan_of(slide(0.001, enc=enc)).instantiate()
    fresh.advance(70)
    assert samples(instance, "enc", episode=1) == samples(fresh, "enc")
    assert samples(instance, "enc", episode=0) == old


@pytest.mark.slow
def test_row_22_sensors_speak_one_period_after_a_reset_and_session_time_only_grows():
    instance = plan_of(slide(0.001, enc={"period_s": 0.01})).instantiate()
    instance.advance(10_000)
    assert (instance.episode_time_s, instance.session_time_s) == (10.0, 10.0)
    instance.reset()
    assert (instance.episode_time_s, instance.session_time_s, instance.episode_index) == (0.0, 10.0, 1)
    assert not instance.output("enc").valid
    instance.advance(1000)
    found = samples(instance, "enc", episode=1)
    assert len(found) == 99
    assert found[0] == (10, 10)
    assert (instance.episode_time_s, instance.session_time_s) == (1.0, 11.0)


def test_row_23_what_was_in_flight_at_reset_is_cancelled_and_never_delivered():
    enc = {"period_s": 0.01, "latency_s": 0.05}
    instance = plan_of(slide(0.001, enc=enc, drive={"command_latency_s": 0.05})).instantiate()
    instance.enqueue_external_input("drive", [3.0], source_id="early")
    instance.advance(10)
    instance.enqueue_external_input("drive", [4.0], source_id="ahead", effective_time_s=0.5)
    instance.advance(1)
    instance.enqueue_external_input("drive", [5.0], source_id="uncut")
    instance.reset()
    cancelled = [(e.episode_index, e.tick, e.component, e.data["what"]) for e in instance.events()
                 if e.kind == "cancelled"]  # fmt: skip
    assert cancelled == 3 * [(0, 11, "drive", "input")] + [(0, 11, "enc", "sample")]
    sources = {e.data["source_id"] for e in instance.events() if e.kind == "cancelled" and "source_id" in e.data}
    assert sources == {"early", "ahead", "uncut"}
    for _ in range(60):
        instance.step()
        assert instance.snapshot().ctrl.tolist() == [0.0]
        assert instance.output("enc").valid == (instance.tick > 60)
    assert [e for e in instance.events() if e.kind == "input" and e.episode_index == 1] == []
    assert instance.enqueue_external_input("drive", [1.0]) == 4  # numbers stay unique in the whole run


def test_an_invalid_reset_changes_nothing():
    instance = plan_of(slide(0.001)).instantiate(5)
    instance.advance(3)
    with pytest.raises(InvalidInputError, match="seed"):
        instance.reset(-1)
    assert (instance.tick, instance.episode_index, instance.seed, instance.session_time_s) == (3, 0, 5, 0.003)


# --- row 24: NaN is a fault, never a silent reset -------------------------------------------------------------------


@pytest.mark.parametrize("max_block", [None, 1, 7])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_row_24_a_nan_faults_its_own_step(integrator, max_block):
    instance = SimulationInstance(plan_of(cart(integrator=integrator)), max_block=max_block)
    instance.advance(100)
    controls = instance.snapshot().ctrl.tolist()
    instance.inject("joint_kinematics:hinge", (0.1, float("nan")))
    instance.advance(50)
    fault = instance.fault
    assert (fault.tick, fault.phase, fault.kind, instance.tick) == (100, Phase.PHYSICS_STEP, "diverged", 100)
    assert "BADQVEL" in fault.message
    snapshot = instance.snapshot()
    assert snapshot.time_s == 0.1
    assert snapshot.ctrl.tolist() == controls
    with pytest.raises(FaultedError, match=r"diverged at tick 100 in PhysicsStep: BADQVEL"):
        instance.step()
    assert (instance.tick, instance.episode_time_s) == (100, 0.1)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.integers(0, 60),
    st.sampled_from([float("nan"), float("inf"), -1e300, 2e10]),
    st.sampled_from([("slider", 0), ("slider", 1), ("hinge", 0), ("hinge", 1)]),
    st.sampled_from([None, 1, 7]),
)
def test_row_24_any_bad_number_in_any_state_at_any_tick(tick, bad, where, max_block):
    joint, part = where
    instance = SimulationInstance(plan_of(cart()), max_block=max_block)
    instance.advance(tick)
    before = instance.trace_digest
    controls = instance.snapshot().ctrl.tolist()
    value = [0.1, 0.2]
    value[part] = bad
    instance.inject(f"joint_kinematics:{joint}", value)
    instance.advance(20)
    fault = instance.fault
    assert (fault.tick, fault.phase, fault.kind) == (tick, Phase.PHYSICS_STEP, "diverged")
    assert ("BADQPOS", "BADQVEL")[part] in fault.message
    assert (instance.tick, instance.episode_time_s) == (tick, tick / 1000)
    assert instance.snapshot().ctrl.tolist() == controls
    assert instance.trace_digest != before  # that it faulted is in the trace


def test_row_24_in_a_batch_only_that_lane_stops():
    plan = plan_of(cart(controllers={}))
    batch = InstanceBatch([plan] * 3, [1, 2, 3])
    batch.mailbox.enqueue("drive", np.array([0.0]), source_id="x", source_sequence=None, effective_s=None)
    batch.advance(100)
    batch.physics.write(1, "qvel", 0, np.nan)
    batch.advance(100)
    assert {lane: (stop.tick, stop.kind) for lane, stop in batch.stops.items()} == {1: (100, "diverged")}
    assert batch.alive.tolist() == [True, False, True]
