"""A lane's bits do not depend on neighbours, order, threads or blocks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sweep
from sweep.config.load import load_spec
from sweep.errors import InvalidInputError
from sweep.plan import load_manifest
from sweep.results.record import Status
from sweep.runtime import InstanceBatch, Resolver, SimulationInstance, resolve_plan
from sweep.runtime.model import open_model
from tests.runtime.scenes import cart, plan_of, scene_manifest

CELLS = {
    # Leaning far and seen late, some poles fall inside a block; masses, noise and latencies differ between lanes.
    "cartpole": [
        {"components.encoders.latency_s": latency, "model.initial.hinge": angle,
         "components.encoders.noise_scale": noise,
         "model.edits.pole_mass.scale": mass, "components.motor.command_latency_s": command,
         "controllers.balancer.compute_latency_s": compute}
        for latency, angle, noise, mass, command, compute in [
            (0.0, 0.05, 1.0, 1.0, 0.001, 0.0),
            (0.06, 0.77, 1.0, 1.0, 0.001, 0.0),
            (0.1, 0.7, 2.0, 0.5, 0.004, 0.007),
            (0.1, 0.6, 1.0, 3.0, 0.0, 0.0),
            (0.0105, 0.7, 0.0, 1.0, 0.02, 0.0125),
        ]
    ],
    "arm": [
        {"components.encoders.latency_s": latency, "components.encoders.noise_scale": noise,
         "model.edits.hand_mass.scale": mass, "controllers.tracker.parameters.gain_scale": gain}
        for latency, noise, mass, gain in [(0.0, 1.0, 1.0, 1.0), (0.004, 0.5, 2.0, 1.0), (0.0085, 1.0, 1.0, 0.5)]
    ],
    # Shaken harder or not at all, the last from an angle at which it falls.
    "platform": [
        {"components.shaking.amplitude_m": amplitude, "components.shaking.frequency_hz": frequency,
         "components.shaking.ramp_s": ramp, "components.encoders.latency_s": latency, "model.initial.lean": lean}
        for amplitude, frequency, ramp, latency, lean in [
            (0.03, 1.5, 1.0, 0.0, 0.03), (0.08, 4.0, 0.0, 0.011, 0.03), (0.0, 1.0, 0.0, 0.0, 0.03),
            (0.05, 2.0, 0.1, 0.006, 0.75),
        ]
    ],
    "stand": [
        {"components.pushes.first_s": first, "components.pushes.duration_s": duration,
         "components.pushes.force_n": force, "components.imu.latency_s": latency}
        for first, duration, force, latency in [
            (0.01, 0.1, 60.0, 0.004), (0.013, 0.004, [100, 900], 0.0), (0.5, 0.1, 0.0, 0.015),
        ]
    ],
}  # fmt: skip
SHORT = {"cartpole": 0.45, "arm": 0.1, "platform": 0.2, "stand": 0.06}
SCENES = sorted(path.stem for path in (Path(sweep.__file__).parents[1] / "conf" / "scene").glob("*.yaml"))


@cache
def cells(scene):
    resolver = Resolver()
    duration = {"runtime.duration_s": SHORT[scene]}
    return [resolver.resolve(scene_manifest(scene), {**cell, **duration}) for cell in CELLS[scene]]


@cache
def alone(scene, cell, seed):
    return InstanceBatch([cells(scene)[cell]], [seed]).run()[0]


def runs(scene, lanes, shift=0):
    plans = cells(scene)
    return [((lane + shift) % len(plans), (lane + shift) // len(plans)) for lane in range(lanes)]


def test_every_scene_that_is_shipped_is_here():
    assert sorted(CELLS) == SCENES


def test_some_of_the_lanes_end_inside_blocks():
    outcomes = [alone("cartpole", cell, 0).outcome for cell in range(5)]
    ended = [outcome.tick for outcome in outcomes if outcome.status is Status.ENDED]
    assert len(ended) >= 2
    assert any((tick + 1) % 5 not in (0, 1) for tick in ended)
    assert outcomes[0].status is Status.COMPLETED


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(
    ("lanes", "shift", "threads", "max_block"),
    [(1, 0, 2, 1), (1, 1, 1, 3), (7, 0, 1, None), (7, 3, 2, 3), (7, 2, 2, 1), (64, 0, 2, None)],
)
def test_one_record_whatever_the_batch(scene, lanes, shift, threads, max_block):
    chosen = runs(scene, lanes, shift)
    plans = [cells(scene)[cell] for cell, _ in chosen]
    records = InstanceBatch(plans, [seed for _, seed in chosen], max_block, threads).run()
    for (cell, seed), record in zip(chosen, records, strict=True):
        assert record == alone(scene, cell, seed)


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_first_or_last_lane_is_the_same(scene):
    chosen = runs(scene, 7)
    forward = InstanceBatch([cells(scene)[c] for c, _ in chosen], [s for _, s in chosen]).run()
    backward = InstanceBatch([cells(scene)[c] for c, _ in chosen[::-1]], [s for _, s in chosen[::-1]]).run()
    assert forward == backward[::-1]


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "cell"), [("cartpole", 0), ("cartpole", 2), ("arm", 1)])
def test_one_step_at_a_time_is_the_same_run(scene, cell):
    plan, expected = cells(scene)[cell], alone(scene, cell, 1)
    instance = plan.instantiate(1)
    for _ in range(plan.horizon):
        if instance.end is None:
            instance.step()
    assert instance.trace_digest == expected.trace_digest
    assert instance.stream_receipts == expected.receipts
    assert instance.run() == expected


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.integers(0, 60), max_size=8), st.sampled_from([None, 2]))
def test_one_digest_whatever_pieces_a_run_is_advanced_in(pieces, max_block):
    plan = cells("cartpole")[0]
    instance = SimulationInstance(plan, 1, max_block=max_block)
    for piece in pieces:
        instance.advance(piece)
        instance.trace_digest, instance.metrics, instance.snapshot(), instance.output("encoders")
    whole = SimulationInstance(plan, 1)
    whole.advance(sum(pieces))
    assert instance.trace_digest == whole.trace_digest
    assert instance.metrics == whole.metrics


def mixed(**parameters):
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.1})
    return plan_of(document, parameters)


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("controllers.fb.compute_latency_s", [0, 0.007, 0.0021]),  # once, all but the first lane lost its commands
        ("components.drive.timeout_s", [None, 0.004, 0.05]),  # once, the watchdog of a neighbour was in the summaries
        ("components.drive.fallback", ["hold", "zero", [1.5]]),
        ("components.drive.limit", [None, 0.5, [2]]),
        ("components.drive.initial", [None, 1.0, [-3.0]]),
        ("components.drive.command_latency_s", [0, 0.0123, 0.002]),
        ("components.enc.period_s", [0.001, 0.0033, 0.01]),
        ("components.enc.phase_s", [0, 0.001, 0.0025]),
        ("controllers.fb.parameters.gain", [[1.0, 2.0, 3.0, 4.0], [0.0] * 4, [1, -40, 2, -8]]),
        ("model.initial.hinge", [0.0, 0.3, -0.1]),
    ],
)
def test_lanes_may_differ_in_whatever_is_not_of_the_layout(path, values):
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.1})
    document["components"]["drive"]["timeout_s"] = 0.003
    plans = [plan_of(document, {path: value}) for value in values]
    assert len({plan.layout for plan in plans}) == 1
    assert len({plan.plan_id for plan in plans}) == 3
    for max_block in (None, 2):
        records = InstanceBatch(plans, [5, 5, 5], max_block).run()
        assert records == [InstanceBatch([plan], [5]).run()[0] for plan in plans]


def test_parameters_that_cannot_stand_in_one_array_are_of_the_layout():
    plans = [mixed(**{"controllers.fb.parameters.gain": gain}) for gain in ([1, "a", 2, 3], [2, "a", 2, 3])]
    assert plans[0].layout != plans[1].layout
    ragged = [mixed(**{"controllers.fb.parameters.gain": gain}) for gain in ([[1, 2], [3]], [[1, 2], [4]])]
    assert ragged[0].layout != ragged[1].layout


def test_a_batch_refuses_what_it_cannot_run():
    plan, other = plan_of(cart()), plan_of(cart(), {"components.enc.joints": ["hinge", "slider"]})
    for arguments in (([], []), ([plan], [1, 2]), ([plan, other], [1, 2]), ([plan], [-1]), ([plan], [2**64]),
                      ([plan], [True]), ([plan], [1.5]), ([plan], [1], 0), ([plan], [1], None, 0)):  # fmt: skip
        with pytest.raises(InvalidInputError):
            InstanceBatch(*arguments)


def test_mode_is_no_part_of_a_plan_and_changes_no_bit():
    found = set()
    for mode in ("unbounded", "realtime_paced", "deterministic_ci", "rendered", "operator_training"):
        plan = mixed(**{"runtime.mode": mode})
        instance = plan.instantiate(3)
        instance.advance(60)
        found.add((plan.plan_id, instance.trace_digest))
    assert len(found) == 1


def felt(scene, **runtime):
    """A scene for a moment, with an accelerometer and a force and torque sensor on its outermost body."""
    manifest, folder = dict(load_spec([f"scene={scene}"]).manifest), scene_manifest(scene).folder
    model = open_model(cells(scene)[0].model)
    body = model.body(max(body for body in range(model.nbody) if model.body_parentid[body])).name
    mounted = {"body": body, "position_m": [0.01, 0, 0.02], "period_s": "7 ms"}
    manifest["components"] = manifest["components"] | {
        "felt": {"type": "imu", **mounted, "measures": "accelerometer", "accelerometer": {"white_density": 0.01}},
        "held": {"type": "force_torque", **mounted, "phase_s": "3 ms", "latency_s": "2 ms"},
    }
    manifest["runtime"] = manifest["runtime"] | {"duration_s": SHORT[scene], **runtime}
    return resolve_plan(load_manifest(manifest, folder=folder))


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_eager_and_lazy_are_bit_identical_with_forces_in_play(scene):
    batches = [
        InstanceBatch([felt(scene, derived_state=derived)] * 2, [4, 5], max_block, trace="events")
        for derived, max_block in (("lazy", None), ("lazy", 1), ("eager", None))
    ]
    found = [batch.run() for batch in batches]
    assert found == found[:1] * 3
    forces = batches[0].parts.devices["held"].event_table(0)["values"]
    assert np.abs(np.diff(forces, axis=0)).max() > 1e-3
