"""The scenes ``platform`` and ``stand``: what they ask has an answer, and one record however they are executed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sweep.results.record import Status
from sweep.runtime import InstanceBatch, Resolver
from tests.runtime.scenes import scene_manifest

pytestmark = pytest.mark.slow

RESOLVER = Resolver()
LATE = {"components.encoders.latency_s": 0.02, "components.imu.latency_s": 0.02}
CELLS = {
    "platform": [
        {},
        {"components.shaking.amplitude_m": 0.22},
        {"components.encoders.latency_s": 0.05, "components.shaking.frequency_hz": 3.0},
        {"model.edits.payload.scale": 2.0, "components.motors.command_latency_s": 0.0},
    ],
    "stand": [
        {},
        {"components.pushes.force_n": 400.0, "model.edits.friction.scale": 0.5},
        LATE,
        {"controllers.stance.parameters.kp": 150, "components.imu.noise_scale": 3.0},
    ],
}


@cache
def plans(scene, duration_s):
    duration = {"runtime.duration_s": duration_s}
    return [RESOLVER.resolve(scene_manifest(scene), {**cell, **duration}) for cell in CELLS[scene]]


@cache
def alone(scene, cell, seed, duration_s=1.4):
    return InstanceBatch([plans(scene, duration_s)[cell]], [seed]).run()[0]


@pytest.mark.parametrize("scene", sorted(CELLS))
@pytest.mark.parametrize("max_block", [1, 3, 7, None])
def test_one_record_whatever_the_batch_and_the_blocks(scene, max_block):
    cells = plans(scene, 1.4)
    assert len({plan.layout for plan in cells}) == 1
    runs = [(cell, seed) for seed in (0, 1) for cell in range(len(cells))]
    records = InstanceBatch([cells[cell] for cell, _ in runs], [seed for _, seed in runs], max_block, 2).run()
    assert records == [alone(scene, cell, seed) for cell, seed in runs]
    assert {record.outcome.status for record in records} == {Status.COMPLETED, Status.ENDED}


@pytest.mark.parametrize("scene", sorted(CELLS))
def test_eager_is_lazy(scene):
    plan = RESOLVER.resolve(scene_manifest(scene), {"runtime.duration_s": 0.2, "runtime.derived_state": "eager"})
    lazy = RESOLVER.resolve(scene_manifest(scene), {"runtime.duration_s": 0.2})
    assert InstanceBatch([plan], [4]).run() == InstanceBatch([lazy], [4]).run()


def fallen(scene, seeds=8, **parameters):
    """Which share of the seeds fell."""
    plan = RESOLVER.resolve(scene_manifest(scene), parameters)
    records = InstanceBatch([plan] * seeds, list(range(seeds))).run()
    assert {record.outcome.status for record in records} <= {Status.COMPLETED, Status.ENDED}
    assert {record.outcome.reason for record in records} <= {None, "fell"}
    return sum(record.outcome.status is Status.ENDED for record in records) / seeds


@pytest.mark.parametrize(
    ("scene", "path", "holds", "falls"),
    [
        ("platform", "components.shaking.amplitude_m", 0.1, 0.22),
        ("platform", "components.shaking.frequency_hz", 3.0, 8.0),
        ("platform", "components.encoders.latency_s", 0.01, 0.04),
        ("stand", "components.pushes.force_n", 50.0, 150.0),
        ("stand", "components.encoders.latency_s", 0.0, 0.024),
        ("stand", "controllers.stance.parameters.kp", 200, 40),
    ],
)
def test_it_holds_nominally_and_falls_when_pressed(scene, path, holds, falls):
    assert fallen(scene, **{path: holds}) <= 0.25
    assert fallen(scene, **{path: falls}) >= 0.75


def test_the_table_follows_its_shaker():
    plan = RESOLVER.resolve(scene_manifest("platform"), {})
    batch = InstanceBatch([plan], [0])
    for _ in range(10):
        batch.advance(137)
        data = batch.physics.data(0)[1]
        assert np.abs(data.body("table").xpos - data.body("shaker").xpos).max() < 2e-3


def test_pushes_are_the_same_in_every_cell():
    """No axis shifts the pushes: what a shorter run saw is the beginning of what a longer one saw."""
    records = [alone("stand", cell, 1) for cell in range(len(CELLS["stand"]))]
    counts = {record.receipts["pushes/direction"].count for record in records}
    same = [r.receipts["pushes/direction"].digest for r in records if r.receipts["pushes/direction"].count == 1]
    assert 1 in counts
    assert len(set(same)) == 1
    assert len(same) >= 2
