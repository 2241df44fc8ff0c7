"""Faults are values of one lane; nothing hides them and no neighbour notices."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sweep.errors import EndedError, FaultedError, InvalidInputError
from sweep.plan import load_manifest
from sweep.results.record import Status
from sweep.runtime import InstanceBatch, Phase, SimulationInstance, resolve_plan
from tests.runtime import controllers
from tests.runtime.scenes import cart, plan_of

BLOCKS = [None, 1, 7]


@pytest.fixture(autouse=True)
def silent(tmp_path, monkeypatch, capfd):
    """MuJoCo writes nothing: no log file, no line on the terminal."""
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def alone(plan, seed=0):
    return InstanceBatch([plan], [seed]).run()[0]


# --- physics --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_block", BLOCKS)
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_a_lane_that_diverges_leaves_its_neighbours_alone(max_block, integrator):
    document = cart(integrator=integrator, runtime={"timestep_s": 0.001, "duration_s": 0.3})
    document["components"]["drive"]["actuators"] = "twist"
    calm = plan_of(document, {"controllers.fb.parameters.gain": [0, -1, 0, -0.1]})
    wild = plan_of(document, {"controllers.fb.parameters.gain": [0, 1e9, 0, 1e12]})
    records = InstanceBatch([calm, wild, calm, wild], [0, 1, 2, 3], max_block).run()
    assert records == [alone(calm, 0), alone(wild, 1), alone(calm, 2), alone(wild, 3)]
    for record in records[1::2]:
        outcome = record.outcome
        assert (outcome.status, outcome.phase, outcome.kind) == (Status.FAULTED, "PhysicsStep", "diverged")
        assert outcome.time_s == outcome.tick * 0.001
        assert outcome.message
        assert record.metrics == {"angle": None}
    assert {records[0].outcome.status, records[2].outcome.status} == {Status.COMPLETED}


@pytest.mark.parametrize("max_block", BLOCKS)
def test_the_fault_tick_is_the_step_that_produced_the_bad_state(max_block):
    document = cart(components={}, controllers={}, metrics={})
    document["model"]["xml"] = """<mujoco><option timestep="1" gravity="0 0 0" integrator="Euler"/><worldbody>
        <body><joint name="s" type="slide"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    document["model"]["initial"] = {}
    document["runtime"] = {"timestep_s": 1, "duration_s": 20}
    document["metrics"] = {"v": {"type": "rms", "joint": "s", "signal": "velocity", "unit": "m/s", "window": "at_end"}}
    document["metrics"]["v"]["window"] = "until_end"
    instance = SimulationInstance(plan_of(document), max_block=max_block)
    instance.advance(3)
    instance.inject("joint_kinematics:s", (0, 4e9))
    instance.advance(9)  # 4e9, 8e9, then 1.2e10: MuJoCo itself only warns when the step after that begins
    assert str(instance.fault) == "diverged at tick 5 in PhysicsStep: qpos[0] is 1.2e+10 after the step"
    assert instance.snapshot().qpos[0] == 8e9


@pytest.mark.parametrize("value", [1e200, float("inf"), float("nan"), -1e300])
def test_an_injected_monster_faults_without_a_warning(value):
    instance = plan_of(cart()).instantiate()
    instance.advance(10)
    instance.inject("joint_kinematics:hinge", (value, 0.0))
    instance.advance(10)
    assert (instance.fault.tick, instance.fault.phase, instance.fault.kind) == (10, Phase.PHYSICS_STEP, "diverged")
    assert "BADQPOS" in instance.fault.message
    assert instance.tick == 10
    instance.reset()
    instance.advance(30)
    fresh = plan_of(cart()).instantiate()
    fresh.advance(30)
    assert instance.trace_digest == fresh.trace_digest


def stacked(memory, heights=None, **components):
    """Boxes that land on a plane with room for few contacts."""
    bodies = "".join(
        f'<body name="b{i}" pos="{0.3 * i} 0 .1"><joint name="s{i}" type="slide" axis="0 0 1"/>'
        f'<joint name="h{i}" axis="0 1 0"/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
        for i in range(6)
    )
    xml = f"""<mujoco><size memory="{memory}"/><option timestep="0.002"/><worldbody>
        <geom type="plane" size="5 5 .1"/>{bodies}</worldbody></mujoco>"""
    encoder = {"type": "encoder", "joints": ["s0", "h0"], "period_s": 0.006, "latency_s": 0.004, "white_std": 0.1}
    components["enc"] = encoder
    document = {"schema": "3.3", "model": {"xml": xml, "initial": {f"s{i}": 0.1 for i in range(6)}},
                "runtime": {"duration_s": 0.3}, "components": components}  # fmt: skip
    return [
        resolve_plan(load_manifest(document), {f"model.initial.s{i}": z for i, z in enumerate(row)})
        for row in (heights or [[9] * 6])
    ]


HEIGHTS = [[9] * 6, [0.1] * 6, [0.05, 0.05, 0.05, 0.1, 0.1, 0.2], [0.2] * 6, [0.01, 0.02, 0.03, 0.04, 9, 9]]


@pytest.mark.slow
@pytest.mark.parametrize("max_block", BLOCKS)
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [2, 4, 2, 4, 0]])
def test_overflows_and_errors_of_mujoco_are_the_lanes_own(order, max_block):
    plans = stacked("25K", HEIGHTS)
    own = [alone(plan, 3) for plan in plans]
    kinds = [(record.outcome.kind, record.outcome.phase) for record in own]
    physics = "PhysicsStep"
    assert kinds == [(None, None), ("overflow", physics), ("mujoco_error", physics), ("overflow", physics),
                     ("mujoco_error", physics)]  # fmt: skip
    assert "CNSTRFULL" in own[1].outcome.message
    assert "out of memory" in own[2].outcome.message
    assert len({record.outcome.tick for record in own}) == 5
    for threads in (1, 2):
        assert InstanceBatch([plans[i] for i in order], [3] * 5, max_block, threads).run() == [own[i] for i in order]


def test_an_instance_can_be_read_and_reset_after_an_error_of_mujoco():
    instance = stacked("25K", HEIGHTS)[4].instantiate(3)
    instance.advance(100)
    assert (instance.fault.kind, instance.tick) == ("mujoco_error", instance.fault.tick)
    assert instance.snapshot().time_s == pytest.approx(0.002 * instance.fault.tick)
    first = instance.trace_digest
    instance.reset()
    instance.advance(100)
    assert instance.trace_digest == first


@pytest.mark.parametrize("measures", ["gyro", "accelerometer"])
def test_what_sensors_read_before_an_error_of_mujoco_is_what_a_lane_alone_reads(measures):
    imu = {"type": "imu", "body": "b0", "measures": measures, "period_s": 0.002}
    plans = [stacked("25K", HEIGHTS, imu=imu)[lane] for lane in (4, 0)]
    tables = []
    for lanes, max_block in ((2, None), (2, 7), (1, 1)):
        batch = InstanceBatch(plans[:lanes], [3] * lanes, max_block, trace="events")
        assert batch.run()[0].outcome.kind == "mujoco_error"
        tables.append(batch.parts.devices["imu"].event_table(0))
    whole, blocks, steps = (table["values"] for table in tables)
    assert len(steps) > 10
    assert len({row.tobytes() for row in steps}) > 10, "a still box would show nothing"
    assert whole.tobytes() == blocks.tobytes() == steps.tobytes()


# --- controllers ----------------------------------------------------------------------------------------------------


def guarded(class_name, latency_s=0.002, **parameters):
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.1})
    document["components"]["enc"]["latency_s"] = latency_s
    document["controllers"]["fb"] |= {
        "class": f"tests.runtime.controllers:{class_name}",
        "parameters": {"gain": 3.0, "bad": 0.0, "at": 42, "kind": "flat", **parameters},
    }
    return plan_of(document)


@pytest.mark.parametrize("max_block", BLOCKS)
@pytest.mark.parametrize("kind", ["Gain", "LaneGain", "Integral"])
def test_a_controller_that_raises_for_one_lane_faults_that_lane(kind, max_block):
    plans = [guarded(kind, bad=float(lane == 2), gain=float(lane)) for lane in range(5)]
    records = InstanceBatch(plans, range(5), max_block).run()
    assert records == [alone(plan, seed) for seed, plan in enumerate(plans)]
    innocent = InstanceBatch([plans[lane] for lane in (0, 1, 3, 4)], (0, 1, 3, 4), max_block).run()
    assert [record for lane, record in enumerate(records) if lane != 2] == innocent
    outcome = records[2].outcome
    assert (outcome.tick, outcome.phase, outcome.kind) == (45, "ExternalOutputPublish", "controller")
    assert outcome.component == "fb"
    assert re.fullmatch(r"ArithmeticError: no solution at tick 45 \(controllers\.py, line \d+\)", outcome.message)


def test_the_state_of_a_lane_rests_until_its_inputs_are_there():
    plans = [guarded("Integral", latency_s=latency) for latency in (0.0, 0.02, 0.051)]
    assert InstanceBatch(plans, range(3)).run() == [alone(plan, seed) for seed, plan in enumerate(plans)]


@pytest.mark.parametrize("kind", ["Gain", "LaneGain", "Integral"])
def test_all_lanes_guilty(kind):
    records = InstanceBatch([guarded(kind, bad=1.0)] * 3, range(3)).run()
    assert {(r.outcome.tick, r.outcome.kind) for r in records} == {(45, "controller")}


@pytest.mark.parametrize("kind", ["flat", "wide", "none", "text", "named"])
def test_a_wrong_command_is_the_controllers_fault(kind):
    for lanes in (1, 3):
        records = InstanceBatch([guarded("Shape", kind=kind)] * lanes, range(lanes)).run()
        for record in records:
            outcome = record.outcome
            assert (outcome.tick, outcome.kind, outcome.component) == (5, "controller", "fb")
            assert outcome.message


@pytest.mark.parametrize("state", [None, {"sum": 0.0}, {"sum": np.zeros((7, 1))}])
def test_state_without_the_lane_as_its_first_axis_is_refused(monkeypatch, state):
    monkeypatch.setattr(controllers.Integral, "initial_state", lambda self: state)
    with pytest.raises(InvalidInputError, match=r"controllers.fb.class: initial_state is a mapping of arrays"):
        InstanceBatch([guarded("Integral")], [0])


def test_a_nan_command_faults_when_it_arrives():
    plans = [guarded("NanGain", bad=float(lane == 1)) for lane in range(3)]
    records = InstanceBatch(plans, range(3)).run()
    outcome = records[1].outcome
    # Due after step 45, committed at 46, one tick of command latency.
    assert (outcome.tick, outcome.phase, outcome.kind) == (47, "PhysicsStep", "diverged")
    assert "BADCTRL" in outcome.message
    assert records[0] == alone(plans[0], 0)
    assert records[2] == alone(plans[2], 2)


def test_a_controller_cannot_write_into_what_devices_show():
    outcome = alone(guarded("Vandal")).outcome
    assert (outcome.kind, outcome.tick) == ("controller", 5)
    assert "read-only" in outcome.message


def test_a_controller_may_reuse_its_array():
    instance = guarded("Reuser").instantiate()
    instance.advance(100)
    sent = [e.data["values"][0] for e in instance.events() if e.kind == "input"]
    assert len(set(sent)) == len(sent) > 10


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_of_two_controllers_that_raise_the_least_is_at_fault(names):
    document = cart()
    document["components"]["other"] = {"type": "torque", "actuators": "twist"}
    spec = document["controllers"]["fb"] | {"class": "tests.runtime.controllers:Gain",
                                            "parameters": {"gain": 1.0, "bad": 1.0, "at": 0}}  # fmt: skip
    outputs = {"a": "drive", "b": "other"}
    document["controllers"] = {name: spec | {"outputs": outputs[name]} for name in names}
    instance = plan_of(document).instantiate()
    instance.advance(20)
    assert (instance.fault.tick, instance.fault.component) == (5, "a")


# --- what a fault leaves --------------------------------------------------------------------------------------------


def test_a_faulted_instance_says_where_and_steps_no_further():
    instance = guarded("Gain", bad=1.0).instantiate()
    instance.advance(100)
    assert instance.fault.phase is Phase.EXTERNAL_OUTPUT_PUBLISH
    assert instance.tick == 46  # the step itself was completed
    before = instance.trace_digest
    for call in (instance.step, lambda: instance.advance(5)):
        with pytest.raises(FaultedError) as caught:
            call()
        for word in ("ExternalOutputPublish", "tick 45", "controller", "'fb'", "no solution"):
            assert word in str(caught.value)
    assert (instance.tick, instance.trace_digest) == (46, before)
    (event,) = [e for e in instance.events() if e.kind == "fault"]
    assert (event.tick, event.component, event.data["phase"]) == (45, "fb", "ExternalOutputPublish")


def test_an_ended_instance_says_so():
    document = cart(controllers={})
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.11, "reason": "fell"}
    instance = plan_of(document).instantiate()
    instance.advance(150)
    assert instance.end.reason == "fell"
    with pytest.raises(EndedError, match="fell"):
        instance.step()
    assert instance.run().outcome.status is Status.ENDED


@pytest.mark.parametrize("max_block", BLOCKS)
def test_the_least_of_several_ends_wins(max_block):
    document = cart(controllers={})
    limit = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.11}
    document["components"] |= {"zeta": limit, "alpha": limit, "later": limit | {"limit": 0.12}}
    record = InstanceBatch([plan_of(document)], [0], max_block).run()[0]
    assert record.outcome.component == "alpha"


def test_nothing_later_than_an_end_exists():
    document = cart(controllers={})
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.105}
    document["components"]["enc"] |= {"period_s": 0.001, "latency_s": 0.0}
    instance = plan_of(document).instantiate()
    instance.advance(200)
    last = instance.end.tick
    assert instance.tick == last + 1
    assert max(e.tick for e in instance.events()) == last
    assert instance.output("enc").acquired_tick == last
    assert instance.stream_receipts["enc/white"].count == last
    assert np.abs(instance.snapshot().qpos[1]) > 0.105
