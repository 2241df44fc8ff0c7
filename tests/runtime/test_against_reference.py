"""The fast cycle against the plainest one: every bit of every tick."""

from __future__ import annotations

from fractions import Fraction

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.runtime import InstanceBatch, SimulationInstance
from sweep.runtime.mailbox import Mailbox
from sweep.runtime.reads import STATE_ONLY
from tests.runtime.reference_model import ReferenceRun
from tests.runtime.scenes import bits, cart, plan_of


class Recorder:
    reads = STATE_ONLY

    """Every completed step's state and controls."""

    def __init__(self):
        self.states, self.controls = [], []

    def fold(self, view):
        steps = view.block.length if view.settled is None else int(view.settled[0])
        self.states += view.boundaries[0, 1 : steps + 1].tolist()
        self.controls += view.controls[0, :steps].tolist()


def shown(output):
    if not output.valid:
        return None
    return bits(output.values), output.acquired_tick, output.delivered_tick, output.index


def judged(document, seed, script, max_block):
    """Run a script of (inputs, ticks) three ways: the reference, an Instance, and a batch whose ticks are recorded."""
    plan = plan_of(document)
    reference = ReferenceRun(plan.manifest.document(), seed)
    instance = SimulationInstance(plan, seed, max_block=max_block)
    recorder, mailbox = Recorder(), Mailbox(plan.grid)
    batch = InstanceBatch([plan], [seed], max_block, observers=[recorder], mailbox=mailbox)
    for inputs, ticks in script:
        for target, values, source, sequence, effective in inputs:
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
        assert instance.tick == reference.tick
        for name, encoder in reference.encoders.items():
            mine, sample = shown(instance.output(name)), encoder.visible
            expected = None if sample is None else (
                bits(sample["values"]), sample["acquired_tick"], sample["delivered_tick"], sample["index"]
            )  # fmt: skip
            assert mine == expected
        snapshot = instance.snapshot()
        if reference.states:
            assert bits([snapshot.time_s]) == bits([plan.grid.time_s(reference.tick)])
            assert bits([*snapshot.qpos, *snapshot.qvel]) == bits(reference.states[-1][1:])
            assert bits(snapshot.ctrl) == bits(reference.controls[-1])
    assert batch.trace_digest(0) == instance.trace_digest
    assert [bits(row) for row in recorder.states] == [bits(row) for row in reference.states]
    assert [bits(row) for row in recorder.controls] == [bits(row) for row in reference.controls]
    assert happened(instance) == sorted(map(repr, reference.events))
    assert stopped(instance) == reference.stop
    left = [command["acceptance"] for driver in reference.drivers.values() for _, command in driver.travelling]
    left = sorted([*left, *(command["acceptance"] for command in reference.mailbox)])
    assert instance.metrics == {name: metric.value() for name, metric in reference.metrics.items()}
    for name, encoder in reference.encoders.items():
        receipt = instance.stream_receipts[f"{name}/white"]
        assert receipt.first + receipt.count == encoder.draw
    stop = stopped(instance)
    instance.reset()
    assert sorted(e.data["acceptance"] for e in instance.events() if e.data.get("what") == "input") == left
    return stop


def happened(instance):
    kinds = ("sample", "input", "stale")
    events = [(e.kind, e.tick, e.component, dict(e.data)) for e in instance.events() if e.kind in kinds]
    events = [(k, t, c, in_order(k, data)) for k, t, c, data in events]
    return sorted(map(repr, events))


def in_order(kind, data):
    """The keys in the reference's order, so that the texts are comparable."""
    if kind == "sample":
        return data
    head = ("source_id", "source_sequence", "acceptance", "effective_s", "values")
    return {key: data[key] for key in (*head, *(k for k in data if k not in head))}


def stopped(instance):
    if instance.fault is not None:
        return "fault", instance.fault.tick, instance.fault.phase.title
    end = instance.end
    return None if end is None else ("end", end.tick, end.component)


TIMESTEPS = (Fraction(1, 1000), Fraction(1, 500), Fraction(1, 240))


@st.composite
def durations(draw, timestep, low, high):
    """So many timesteps, on the grid or off it, as the float that people would write."""
    return float(timestep * draw(st.fractions(low, high, max_denominator=3)))


@st.composite
def encoders(draw, timestep):
    period = timestep * draw(st.fractions(1, 9, max_denominator=3))
    joints = draw(st.sampled_from([["slider"], ["hinge"], ["hinge", "slider"]]))
    return {
        "type": "encoder",
        "joints": joints,
        "measures": draw(st.sampled_from([["position"], ["velocity"], ["position", "velocity"]])),
        "period_s": float(period),
        "phase_s": float(period * draw(st.sampled_from([0, Fraction(1, 3), Fraction(1, 2), Fraction(7, 8)]))),
        "latency_s": draw(durations(timestep, 0, 25)),
        "initial_acquisition": draw(st.booleans()),
        "white_std": draw(st.sampled_from([0.0, 0.01])),
        "velocity_white_std": 0.1,
        "bias_std": draw(st.sampled_from([0.0, 0.02])),
        "noise_scale": draw(st.sampled_from([1.0, 0.5])),
    }


@st.composite
def drivers(draw, timestep, actuator):
    return {
        "type": "torque",
        "actuators": [actuator],
        "command_latency_s": draw(durations(timestep, 0, 12)),
        "limit": draw(st.sampled_from([None, [5.0], [0.5]])),
        "initial": draw(st.sampled_from([None, [0.3], [-9.0]])),
        "timeout_s": draw(st.none() | durations(timestep, 1, 20)),
        "fallback": draw(st.sampled_from(["hold", "zero", [-0.7]])),
    }


@st.composite
def cases(draw):
    timestep = draw(st.sampled_from(TIMESTEPS))
    components = {"enc": draw(encoders(timestep)), "other": draw(encoders(timestep))}
    components |= {"drive": draw(drivers(timestep, "push")), "torquer": draw(drivers(timestep, "twist"))}
    limit = {"type": "limit_exceeded", "joints": ["hinge"], "limit": draw(st.sampled_from([0.12, 0.4, 9.0]))}
    components |= {"fall": limit, "edge": {**limit, "joints": ["slider", "hinge"], "limit": 0.5}}
    width = len(components["enc"]["joints"]) * len(components["enc"]["measures"])
    period = timestep * draw(st.fractions(1, 12, max_denominator=2))
    controller = {
        "class": "sweep.runtime.controllers:StateFeedback",
        "inputs": ["enc"],
        "outputs": ["drive"],
        "period_s": float(period),
        "phase_s": float(period * draw(st.sampled_from([0, Fraction(1, 2)]))),
        "compute_latency_s": draw(durations(timestep, 0, 15)),
        "parameters": {"gain": [draw(st.sampled_from([30.0, -3.7, 0.1])) for _ in range(width)]},
    }
    metrics = {
        "rms": {"type": "rms", "joints": ["slider", "hinge"], "unit": "rad"},
        "speed": {"type": "mean_abs", "joint": "hinge", "signal": "velocity", "unit": "rad/s"},
        "effort": {"type": "max_abs", "actuators": ["push", "twist"], "signal": "control", "unit": "N"},
        "last": {"type": "final_abs", "joint": "hinge", "unit": "rad", "window": "at_end"},
    }
    document = cart(
        integrator=draw(st.sampled_from(["Euler", "implicitfast", "RK4"])),
        runtime={"timestep_s": float(timestep), "duration_s": 10},
        components=draw(st.permutations(list(components.items())).map(dict)),
        controllers={"fb": controller},
        metrics=metrics,
    )
    an_input = st.tuples(
        st.sampled_from(["drive", "torquer"]),
        st.tuples(st.sampled_from([0.2, -1.5, 7.0])),
        st.sampled_from(["aaa", "zzz"]),
        st.none() | st.integers(0, 4),
        st.none() | durations(timestep, 0, 90),
    )
    script = draw(st.lists(st.tuples(st.lists(an_input, max_size=3), st.integers(0, 31)), min_size=1, max_size=6))
    return document, draw(st.integers(0, 2**64 - 1)), script, draw(st.sampled_from([1, 2, 3, 7, None]))


@pytest.mark.slow
@settings(max_examples=150)
@given(cases())
def test_every_bit_of_every_tick_is_the_references(case):
    judged(*case)


def test_an_end_inside_a_long_block_is_the_references():
    document = cart(controllers={})
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.15}
    late = [("drive", (4.0,), "a", 1, 0.65), ("drive", (4.0,), "a", 1, 0.66), ("drive", (4.0,), "a", 2, 0.9)]
    kind, tick, component = judged(document, 3, [([("drive", (4.0,), "a", None, 0.01), *late], 700)], None)
    assert (kind, component) == ("end", "fall")
    assert 10 < tick < 600


def test_a_fault_inside_a_long_block_is_the_references():
    document = cart(controllers={}, integrator="Euler")
    script = [([("drive", (float("nan"),), "a", None, 0.025)], 80)]
    assert judged(document, 3, script, None) == ("fault", 26, "PhysicsStep")


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
