"""Sentences of the contract that no family of tests owns, grouped as docs/contract.md numbers them."""

from __future__ import annotations

import ast
import re
import threading
from dataclasses import fields, is_dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sweep.runtime
from sweep.cli.schema import manifest_schema
from sweep.errors import InvalidInputError
from sweep.plan.claims import RESOURCES
from sweep.runtime import (
    InstanceBatch,
    Phase,
    Proposal,
    Reads,
    SimulationHost,
    SimulationInstance,
    StateLevel,
    instance,
    per_lane,
    resolve_plan,
)
from sweep.runtime.hosting.modes import MODES, PACED
from sweep.runtime.physics import LanePhysics
from tests.runtime.scenes import bits, cart, plan_of, samples
from tests.runtime.test_ownership import ANY_THREAD, OWNER_ONLY

HERE = "tests.runtime.test_contract_gaps:"
DT = 0.002
LANDING = """
<mujoco><option timestep="0.002" integrator="{integrator}"/>
  <worldbody><geom type="plane" size="1 1 1"/>
    <body name="hand" mocap="true" pos="0 0 2"><geom size=".05" contype="0" conaffinity="0"/></body>
    <body name="box" pos="0 0 .11" euler="3 7 0"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="1 0 1"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos=".2 0 0" mass="1"/>
      <site name="tip" pos=".4 0 0"/></body>
  </worldbody>
  <actuator><motor name="push" joint="hinge"/></actuator>
  <sensor><framelinvel objtype="body" objname="box"/><accelerometer site="tip"/><jointpos joint="hinge"/></sensor>
</mujoco>
"""


def landing(components=None, *, integrator="implicitfast", **sections):
    document = {"schema": "3.3", "model": {"xml": LANDING.format(integrator=integrator)}}
    return {**document, "runtime": {"duration_s": 0.06}, "components": components or {}, **sections}


# --- 1.1 to 1.3: the grid -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "length"), [({}, 0.002), ({"timestep_s": "1/240"}, 1 / 240)])
def test_a_step_lasts_the_models_timestep_or_the_manifests(asked, length):
    instance = plan_of(landing(runtime=asked)).instantiate()
    for tick in range(1, 5):
        instance.step()
        assert instance.tick == tick
        assert instance.episode_time_s == instance.snapshot().time_s == tick * length
        assert instance._batch.physics.data(0)[1].time == pytest.approx(tick * length)


def test_every_schedule_has_a_policy_of_its_own():
    loose = {"type": "encoder", "joints": "hinge", "period_s": 0.007}
    exact = {**loose, "period_s": 0.008, "phase_s": 0.004, "quantization": "strict"}
    instance = plan_of(landing({"loose": loose, "exact": exact})).instantiate()
    instance.advance(15)
    assert samples(instance, "loose") == [(4, 4), (7, 7), (11, 11), (14, 14)]
    assert samples(instance, "exact") == [(2, 2), (6, 6), (10, 10), (14, 14)]
    for change, said in (({"period_s": 0.007}, "period 0.007 s"), ({"phase_s": 0.003}, "phase 0.003 s")):
        with pytest.raises(InvalidInputError) as refused:
            plan_of(landing({"loose": loose, "exact": {**exact, **change}}))
        (problem,) = refused.value.problems
        assert problem.path == "components.exact.period_s"
        assert said in problem.message


# --- 1.6: the episode seed ------------------------------------------------------------------------------------------


def test_the_episode_seed_is_the_base_of_randomness_unless_another_is_given():
    plan = plan_of(cart(runtime={"timestep_s": 0.001, "duration_s": 0.05, "episode_seed": 9}))
    digests = {}
    for given in (None, 9, 3):
        run = plan.instantiate() if given is None else plan.instantiate(given)
        run.advance(50)
        digests[given] = run.trace_digest
        assert run.seed == (9 if given is None else given)
    assert digests[None] == digests[9] != digests[3]


# --- 1.7, 2.0: phases, modes and threads ----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_lifecycle_knows_no_clock_on_the_wall():
    clocks = {"time", "datetime", "sched", "asyncio", "signal"}
    for package in ("runtime", "plan"):
        for path in sorted((Path(sweep.__file__).parent / package).rglob("*.py")):
            nodes = list(ast.walk(ast.parse(path.read_text())))
            names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
            names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
            assert not names & clocks or path.name == "pacing.py"
            assert "sweep.runtime.hosting.pacing" not in names or path.name in ("__init__.py", "host.py", "modes.py")
            assert "sweep.runtime.hosting.host" not in names or path.name == "__init__.py"


TITLES = ["DeferredActionsCommit", "ExternalInputCommit", "ContinuousPrescribedState", "DerivedStateRecompute",
          "DeviceUpdate", "ActuatorApplication", "PhysicsStep", "PostPhysicsSnapshot", "InteractionEvaluation",
          "DomainCommit", "Observer", "TraceRecord", "ExternalOutputPublish"]  # fmt: skip


def test_there_are_thirteen_phases_in_one_order_and_the_contract_tells_them_so():
    assert [phase.title for phase in sorted(Phase)] == [str(phase) for phase in sorted(Phase)] == TITLES
    told = re.findall(r"^ +(\d+) +([A-Z]\w+)", sweep.runtime.__doc__, re.MULTILINE)
    assert told == [(str(number), title) for number, title in enumerate(TITLES, start=1)]


SEEN = []
"""What each participant of a step was shown: (who, thread, tick, ...)."""


def saw(who, *what):
    SEEN.append((who, threading.current_thread().name, *what))


class Hand:
    """Prescribed: up by one a second."""

    def __init__(self, setup):
        pass

    def pose(self, time_s):
        return (0.0, 0.0, 2.0 + time_s), (1.0, 0.0, 0.0, 0.0)


class Eye:
    """A device that sees the hand and the hinge."""

    reads = Reads(StateLevel.VELOCITY, frozenset({"xpos"}))
    width = 1

    def __init__(self, setup):
        pass

    def measure(self, view, noise):
        saw("device", view.tick, view.qpos[-1], float(view.body_position("hand")[2]))
        return [view.joint_position("hinge")]


class Muscle:
    """A driver that does as it is told."""

    def __init__(self, setup):
        pass

    def drive(self, command, view):
        saw("driver", view.tick, view.qpos[-1], float(command[0]))
        return command[0]


class Judge:
    """An interaction that counts steps in the domain."""

    reads = Reads(StateLevel.VELOCITY, frozenset({"xpos"}))

    def __init__(self, setup):
        pass

    def propose(self, view, state):
        told = state.get("steps", 0)
        saw("interaction", view.tick, view.qpos[-1], float(view.body_position("hand")[2]), view.ctrl[0], told)
        return Proposal(state={"steps": told + 1})


class Watch:
    """An observer."""

    reads = Reads(StateLevel.VELOCITY, frozenset({"xpos"}))

    def __init__(self, setup):
        pass

    def observe(self, view, state):
        saw("observer", view.tick, view.qpos[-1], float(view.body_position("hand")[2]), view.ctrl[0], state["steps"])


@per_lane
class Mind:
    """A controller whose command tells at which tick it was computed."""

    def __init__(self, setup):
        pass

    def compute(self, step):
        eye = step.inputs["eye"]
        saw("controller", step.tick, float(eye.values[0]), int(eye.acquired_tick))
        return [step.tick + 1.0]


PARTICIPANTS = {
    "hand": {"type": "prescribed_pose", "class": HERE + "Hand", "body": "hand"},
    "eye": {"type": "device", "class": HERE + "Eye", "period_s": DT, "initial_acquisition": True},
    "muscle": {"type": "driver", "class": HERE + "Muscle", "actuators": "push"},
    "judge": {"type": "interaction", "class": HERE + "Judge"},
    "watch": {"type": "observer", "class": HERE + "Watch"},
}
MIND = {"mind": {"class": HERE + "Mind", "period_s": DT, "inputs": "eye", "outputs": "muscle"}}


@pytest.mark.parametrize("mode", MODES)
def test_every_participant_of_a_step_is_shown_its_own_boundary_on_the_owners_thread(mode):
    """P_n before physics, P_(n+1) after it; the domain before the commit and after it; in every mode."""
    SEEN.clear()
    plan = plan_of(landing(PARTICIPANTS, controllers=MIND))
    with SimulationHost(plan, mode=mode, pace=1000.0 if mode in PACED else 1.0) as host:
        host.wait(20.0)
    seen = {who: [row[2:] for row in SEEN if row[0] == who]
            for who in ("device", "driver", "interaction", "observer", "controller")}  # fmt: skip
    steps = range(plan.horizon)
    assert plan.horizon == 30
    assert {row[1] for row in SEEN} == {f"host of {plan.plan_id}"}
    hinge = [0.0, *(row[1] for row in seen["observer"])]  # P_0, P_1, ...
    assert len(set(hinge)) == 31
    height = [2.0 + n * 2 / 1000 for n in range(31)]
    command = [0.0, 0.0, *(n + 1.0 for n in range(1, 29))]  # scheduled first at tick 1, committed one later
    assert seen["device"] == [(n, hinge[n], height[n]) for n in steps]
    assert seen["driver"] == [(n, hinge[n], command[n]) for n in steps]
    assert seen["interaction"] == [(n + 1, hinge[n + 1], height[n + 1], command[n], n) for n in steps]
    assert seen["observer"] == [(n + 1, hinge[n + 1], height[n + 1], command[n], n + 1) for n in steps]
    assert seen["controller"] == [(n, hinge[n], n) for n in steps if n]


# --- 2.2, 2.3: completed boundaries and lazy derived state ----------------------------------------------------------


def test_the_whole_state_is_copied_only_where_a_copy_is_asked_for(monkeypatch):
    made = []
    original = instance.Episode.snapshot
    monkeypatch.setattr(instance.Episode, "snapshot", lambda self: made.append(1) or original(self))
    run = plan_of(landing(PARTICIPANTS, controllers=MIND)).instantiate()
    run.advance(20)
    run.events(), run.outputs(), run.trace_digest, run.metrics
    assert made == []
    run.snapshot()
    assert made == [1]


POSITIONS = ("xpos", "cvel", "ncon", "nefc", "ten_length", "actuator_velocity", "cdof", "sensordata")


class Prefix(Watch):
    """Reads kinematics, collision, constraints, velocities and sensors, and declares them."""

    reads = Reads(StateLevel.VELOCITY, frozenset(POSITIONS))

    def observe(self, view, state):
        saw("prefix", *(np.array(view.field(name), float).ravel().tolist() for name in POSITIONS))


class Whole:
    """Declares nothing, and reads constraints themselves, and forces."""

    def __init__(self, setup):
        pass

    def observe(self, view, state):
        names = ("efc_J", "efc_pos", "efc_aref", "efc_force", "qacc", "sensordata")
        saw("whole", *(np.array(view.field(name), float).ravel().tolist() for name in names))


def hand_made(integrator, names, forward, steps=30):
    """The same of every completed boundary, by mj_step and a forward alone."""
    model = mujoco.MjModel.from_xml_string(LANDING.format(integrator=integrator))
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    rows = []
    for _ in range(steps):
        mujoco.mj_step(model, data)
        mujoco.mj_copyData(other, model, data)
        forward(model, other)
        rows.append([np.array(getattr(other, name), float).ravel().tolist() for name in names])
    return rows


def read_by(name, **how):
    SEEN.clear()
    batch = InstanceBatch([plan_of(landing({"w": {"type": "observer", "class": HERE + name}}, **how))], [0])
    batch.advance(30)
    batch.observation.flush()
    return [row[2:] for row in SEEN]


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_kinematics_collision_constraints_and_sensors_are_rebuilt_for_the_completed_boundary(integrator):
    seen, expected = read_by("Prefix", integrator=integrator), hand_made(integrator, POSITIONS, mujoco.mj_step1)
    accelerometer = slice(3, 6)
    for row in (*seen, *expected):
        row[-1][accelerometer] = []  # of the suffix: nobody asked for it
    assert [list(row) for row in seen] == expected
    assert len({tuple(row[POSITIONS.index("ncon")]) for row in expected}) > 1


def test_a_reader_that_declares_nothing_is_shown_constraints_and_forces_of_the_completed_boundary():
    names = ("efc_J", "efc_pos", "efc_aref", "efc_force", "qacc", "sensordata")
    found, expected = read_by("Whole"), hand_made("implicitfast", names, mujoco.mj_forward)
    assert [list(map(bits, row)) for row in found] == [list(map(bits, row)) for row in expected]


@pytest.mark.parametrize(("derived_state", "expected"), [("lazy", [0, 0, 2]), ("eager", [60, 60, 62])])
def test_force_state_waits_until_someone_needs_it(derived_state, expected, monkeypatch):
    """Encoders never need it, an accelerometer where controls change when it is due; eager has it at every boundary."""
    levels = []
    original = LanePhysics.forward
    monkeypatch.setattr(
        LanePhysics, "forward", lambda self, level, *rest: levels.append(level) or original(self, level, *rest)
    )
    drive = {"type": "torque", "actuators": ["push"]}
    encoder = {"type": "encoder", "joints": "hinge", "period_s": DT}
    imu = {"type": "imu", "site": "tip", "measures": "accelerometer", "period_s": 0.01}
    runtime = {"duration_s": 0.06, "derived_state": derived_state}
    shown = []
    for components in ({"enc": encoder}, {"enc": encoder, "imu": imu}, {"drive": drive, "imu": imu}):
        levels.clear()
        run = plan_of(landing(components, runtime=runtime)).instantiate()
        for tick, torque in ((7, 1.0), (10, 2.0), (15, 2.0), (20, 3.0)) if "drive" in components else ():
            run.enqueue_external_input("drive", [torque], source_id="me", effective_time_s=tick * DT)
        run.advance(30)  # samples are due at 5, 10, 15, 20, 25
        shown.append(levels.count(StateLevel.FULL))
    assert shown == expected


def test_a_host_is_lazy_unless_it_is_told_otherwise():
    with SimulationHost(plan_of(landing())) as host:
        assert host.call(lambda run: run._batch.reading.eager) is False
    with SimulationHost(plan_of(landing(runtime={"duration_s": 0.06, "derived_state": "eager"}))) as host:
        assert host.call(lambda run: run._batch.reading.eager) is True


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_a_snapshot_is_a_full_forward_of_its_own_boundary(integrator):
    run = plan_of(landing(integrator=integrator)).instantiate()
    model = mujoco.MjModel.from_xml_string(LANDING.format(integrator=integrator))
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    for _ in range(30):
        run.step()
        mujoco.mj_step(model, data)
        mujoco.mj_copyData(other, model, data)
        mujoco.mj_forward(model, other)
        shown = run.snapshot()
        for name in ("qpos", "qvel", "sensordata"):
            assert bits(getattr(shown, name)) == bits(getattr(other, name))


# --- 2.4, 2.5: controllers and drives -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_controller_outside_of_the_instance_has_the_run_of_one_inside():
    """It reads outputs after a step and sends its command for the boundary at which the inner one's would commit."""
    document = cart()
    document["components"]["enc"] |= {"period_s": 0.005, "latency_s": 0.0, "initial_acquisition": True}
    inside = plan_of(document).instantiate(5)
    outside = plan_of({**document, "controllers": {}}).instantiate(5)
    gain = document["controllers"]["fb"]["parameters"]["gain"]
    states = []
    for tick in range(120):
        for run in (inside, outside):
            run.step()
        if tick % 5 == 0 and tick:
            values = outside.output("enc").values.tolist()
            total = 0.0
            for factor, value in zip(gain, values, strict=True):
                total += factor * value
            outside.enqueue_external_input("drive", [-total])
        for run in (inside, outside):
            shown = run.snapshot()
            states.append(bits([*shown.qpos, *shown.qvel, *shown.ctrl]))
    assert states[::2] == states[1::2]
    asked = [[(e.tick, e.data["values"]) for e in run.events() if e.kind == "input"] for run in (inside, outside)]
    assert asked[0] == asked[1]
    assert len(asked[0]) == 23


def test_what_was_asked_and_what_was_applied_can_be_compared():
    run = plan_of(cart(controllers={})).instantiate()
    for tick, value in ((3, 2.0), (6, 99.0), (9, -99.0)):
        run.enqueue_external_input("drive", [value], effective_time_s=tick / 1000)
    run.advance(15)
    asked = [(e.tick, e.data["values"]) for e in run.events() if e.kind == "input"]
    applied = [(e.tick, e.data["values"]) for e in run.events() if e.kind == "application"]
    assert asked == [(3, (2.0,)), (6, (99.0,)), (9, (-99.0,))]
    assert applied == [(0, (0.0,)), (4, (2.0,)), (7, (6.0,)), (10, (-8.0,))]  # a tick later, within the motor's range


# --- 3.1 to 3.5: authority ------------------------------------------------------------------------------------------


def parts_of(value, depth=0):
    """A value and everything in it."""
    yield value
    if depth < 4:
        inner = []
        if is_dataclass(value):
            inner = [getattr(value, field.name) for field in fields(value)]
        elif isinstance(value, dict):
            inner = list(value.values())
        elif isinstance(value, list | tuple):
            inner = list(value)
        for part in inner:
            yield from parts_of(part, depth + 1)


@pytest.mark.parametrize("name", sorted(OWNER_ONLY | ANY_THREAD))
def test_nothing_public_hands_out_live_state(name):
    run = plan_of(cart()).instantiate()
    run.advance(10)
    state = run.physics_state()
    calls = {**OWNER_ONLY, **ANY_THREAD, "restore_physics_state": lambda i: i.restore_physics_state(state)}
    live = [run._batch.physics.data(0)[1].qpos, run._batch.boundary]
    for part in parts_of(calls[name](run)):
        assert not isinstance(part, mujoco.MjData | mujoco.MjModel | InstanceBatch)
        if isinstance(part, np.ndarray):
            assert not any(np.shares_memory(part, array) for array in live)
    digest = run.trace_digest
    for part in parts_of(run.history):  # the one result that may be written to is a copy
        if isinstance(part, np.ndarray) and part.flags.writeable:
            part[...] = 0
    assert run.trace_digest == digest


def test_three_resources_exist_and_a_mocap_pose_alone_can_be_claimed():
    assert {resource.kind: resource.enforceable for resource in RESOURCES} == {
        "joint_kinematics": False,
        "mocap_pose": True,
        "actuator_activation": False,
    }


def test_a_manifest_has_no_word_for_claims():
    def words(schema):
        if isinstance(schema, dict):
            yield from schema.get("properties", {})
            for value in schema.values():
                yield from words(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from words(value)

    found = set(words(manifest_schema()))
    assert {"components", "latency_s", "body"} <= found
    assert not [word for word in found if "claim" in word or "authority" in word]
    document = cart()
    document["components"]["drive"]["claims"] = ["actuator_activation:push"]
    with pytest.raises(InvalidInputError, match=r"components\.drive\.claims: .*unknown key"):
        plan_of(document)
    with pytest.raises(InvalidInputError, match="claims: unknown key"):
        plan_of({**cart(), "claims": []})


@pytest.mark.parametrize("kind", ["pre_step_overwrite", "joint_motion", "kinematic_model_variant"])
def test_overwriting_state_and_kinematic_variants_are_no_components(kind):
    document = cart()
    document["components"]["mine"] = {"type": kind, "joints": "hinge"}
    with pytest.raises(InvalidInputError, match=f"components.mine: .*{kind!r}"):
        plan_of(document)


def test_a_pose_of_ones_own_is_refused_for_a_dynamic_body():
    with pytest.raises(InvalidInputError, match=r"components\.lift\.body: .*'box'"):
        plan_of(landing({"lift": {"type": "prescribed_pose", "class": HERE + "Hand", "body": "box"}}))


# --- 5: what this project decided -----------------------------------------------------------------------------------


@per_lane
class Clerk:
    """Writes down when it was called and what was visible; its command is its tick."""

    def __init__(self, setup):
        pass

    def compute(self, step):
        shown = step.inputs["enc"]
        saw("clerk", step.tick, int(shown.acquired_tick), int(shown.delivered_tick))
        return [float(step.tick)]


@pytest.mark.parametrize("max_block", [None, 1, 3])
@pytest.mark.parametrize(
    ("compute_latency_s", "delay"), [(0.0, 1), (0.0004, 1), (0.001, 1), (0.0011, 2), (0.007, 7), ("1/60", 17)]
)
def test_a_controller_due_at_c_reads_update_c_and_its_command_commits_by_its_compute_latency(
    compute_latency_s, delay, max_block
):
    SEEN.clear()
    clerk = {"class": HERE + "Clerk", "period_s": 0.0045, "compute_latency_s": compute_latency_s, "inputs": "enc",
             "outputs": "drive"}  # fmt: skip
    document = cart(controllers={"clerk": clerk}, runtime={"timestep_s": 0.001, "duration_s": 0.06})
    document["components"]["enc"] |= {"period_s": 0.002, "latency_s": 0.003}
    run = SimulationInstance(plan_of(document), max_block=max_block)
    run.advance(60)
    due = [5, 9, 14, 18, 23, 27, 32, 36, 41, 45, 50, 54, 59]
    # Samples of ticks 2, 4, ... arrive three ticks later: the newest that has arrived by tick c.
    newest = [2 * ((tick - 3) // 2) for tick in due]
    assert [row[2:] for row in SEEN] == [(c, a, a + 3) for c, a in zip(due, newest, strict=True)]
    commits = [(e.tick, e.data["values"]) for e in run.events() if e.kind == "input"]
    assert commits == [(c + delay, (float(c),)) for c in due if c + delay < 60]
    ages = [c - a for c, a in zip(due, newest, strict=True)]
    summaries = run.record.summaries
    assert summaries["clerk/age_at_use_s"] == pytest.approx(sum(ages) / len(ages) / 1000, rel=1e-14)
    assert summaries["clerk/age_at_use_max_s"] == max(ages) / 1000


def test_two_latencies_may_be_one_run_and_the_age_at_use_says_so():
    document = cart()
    document["components"]["enc"] |= {"period_s": 0.01, "latency_s": 0.0}
    document["controllers"]["fb"]["period_s"] = 0.01
    records = [
        InstanceBatch([resolve_plan(document, {"components.enc.latency_s": latency})], [3]).run()[0]
        for latency in (0.002, 0.009, 0.011)
    ]
    assert [r.summaries["fb/age_at_use_s"] for r in records] == [0.01, 0.01, 0.02]
    assert records[0].metrics == records[1].metrics != records[2].metrics


def test_an_episode_begins_at_time_0_whatever_time_a_keyframe_has():
    key = '<keyframe><key name="late" time="0.5" qpos="0.25"/></keyframe>'
    xml = f'<mujoco><worldbody><body><joint type="slide"/><geom size=".1"/></body></worldbody>{key}</mujoco>'
    instance = resolve_plan({"schema": "3.3", "model": {"xml": xml, "keyframe": "late"}}).instantiate()
    assert instance.snapshot().qpos[0] == 0.25
    instance.advance(2)
    assert instance.history.states[:, 0].tolist() == [0.0, 0.002, 0.004]
