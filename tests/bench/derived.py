"""What derived state costs: the same runs with a reader of each level, and with eager forward, against none."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

from sweep.plan import load_manifest
from sweep.runtime import InstanceBatch, Resolver
from tests.bench.lanes import Robot, manifest

READERS: Mapping[str, Mapping[str, Any]] = {
    "gyro at 200 Hz": {"type": "imu", "body": "torso", "measures": "gyro", "period_s": 0.005},
    "accelerometer at 200 Hz": {"type": "imu", "body": "torso", "measures": "accelerometer", "period_s": 0.005},
    "force sensor at 500 Hz": {"type": "force_torque", "body": "torso", "period_s": 0.002},
}


def derived_costs(robot: Robot, *, lanes: int = 32, ticks: int = 500, repeats: int = 3) -> dict[str, float]:
    """Ratios of CPU time to runs without such a reader, by name; each alternates with them."""
    documents = {"": manifest(robot, ticks * robot.timestep_s)}
    for name, reader in READERS.items():
        documents[name] = manifest(robot, ticks * robot.timestep_s)
        documents[name]["components"]["reader"] = dict(reader)
    documents["a body's height at every boundary"] = manifest(robot, ticks * robot.timestep_s)
    documents["a body's height at every boundary"]["components"]["fall"] = {
        "type": "fell", "body": "torso", "min_height_m": -100.0,
    }  # fmt: skip
    documents["eager, no reader"] = manifest(robot, ticks * robot.timestep_s)
    documents["eager, no reader"]["runtime"]["derived_state"] = "eager"
    resolver = Resolver()
    plans = {name: [resolver.resolve(load_manifest(d), {})] * lanes for name, d in documents.items()}
    ratios: dict[str, list[float]] = {name: [] for name in plans if name}
    for _ in range(repeats):
        plain = _seconds(plans[""])
        for name, found in ratios.items():
            found.append(_seconds(plans[name]) / plain)
    return {name: statistics.median(found) for name, found in ratios.items()}


def _seconds(plans: list[Any]) -> float:
    batch = InstanceBatch(plans, range(len(plans)))
    start = time.process_time()
    batch.run()
    return time.process_time() - start
