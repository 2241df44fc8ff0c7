"""InstanceBatch against C: what exact semantics cost, as ratios in one process.

The workload: two noisy devices whose latency differs between lanes (positions of all driven joints at 500 Hz, their
velocities at 200 Hz), one feedback controller on both at 100 Hz, one drive with command latency, three metrics on qpos
and qvel; runs of five seconds.  Other rows have the same and something more: a different cell in every lane, or
somebody who reads derived state.

The baseline replays the controls that were recorded, lane by lane, in one `mujoco.rollout` call per lane on one thread,
so that both integrate the same trajectories, with the same sensors in the model.  CPU time of both, alternating, at
least five times and until C has taken 0.3 s; a ratio is the median over the pairs.  A batch is made, run and asked for
its records: its set-up counts.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from sweep.plan import Plan, load_manifest
from sweep.runtime import InstanceBatch, Resolver
from sweep.runtime.model import open_model
from sweep.runtime.reads import STATE_ONLY

TICKS = 2500
"""Five seconds."""

CELLS = 64
"""Different cells in a batch."""

READERS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "gyro at 200 Hz": {
        "components": {"reader": {"type": "imu", "body": "torso", "measures": "gyro", "period_s": 0.005}}
    },
    "accelerometer at 200 Hz": {
        "components": {"reader": {"type": "imu", "body": "torso", "measures": "accelerometer", "period_s": 0.005}}
    },
    "force sensor at 500 Hz": {"components": {"reader": {"type": "force_torque", "body": "torso", "period_s": 0.002}}},
    "metric on a site's position": {
        "metrics": {"height": {"type": "mean", "site": "mark", "axis": "z", "unit": "m", "better": "higher"}}
    },
    "eager, no reader": {"runtime": {"derived_state": "eager"}},
}
"""What is added to a manifest of the humanoid, by the name of its row."""

CARTPOLE = Path(__file__).parents[2] / "conf" / "scene" / "cartpole.xml"


@dataclass(frozen=True)
class Robot:
    name: str
    file: Path
    timestep_s: float
    gain: float


def robots() -> list[Robot]:
    assets = Path(str(resources.files("gymnasium"))) / "envs" / "mujoco" / "assets"
    return [
        Robot("humanoid", assets / "humanoid.xml", 0.002, 0.1),
        Robot("half_cheetah", assets / "half_cheetah.xml", 0.002, 0.1),
        Robot("cartpole", CARTPOLE, 0.002, 1.0),
    ]


def manifest(robot: Robot, duration_s: float) -> dict[str, Any]:
    text = _implicitfast(robot.file)
    model = mujoco.MjModel.from_xml_string(text)
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    joints = [model.joint(i).name for i in range(model.njnt) if model.jnt_type[i] in kinds]
    actuators = [model.actuator(i).name or f"a{i}" for i in range(model.nu)]
    driven = [model.joint(int(model.actuator_trnid[i, 0])).name for i in range(model.nu)]
    return {
        "schema": "3.3",
        "model": {"xml": text},
        "runtime": {"timestep_s": robot.timestep_s, "duration_s": duration_s},
        "components": {
            "fast": {"type": "encoder", "joints": driven, "period_s": 0.002, "latency_s": 0.004, "white_std": 1e-3},
            "slow": {"type": "encoder", "joints": driven, "measures": ["velocity"], "period_s": 0.005,
                     "latency_s": 0.01, "velocity_white_std": 1e-2},
            "drive": {"type": "torque", "actuators": actuators, "command_latency_s": 0.004},
        },
        "controllers": {
            "damp": {"class": "tests.bench.lanes:Damp", "period_s": 0.01, "inputs": ["fast", "slow"],
                     "outputs": ["drive"], "parameters": {"gain": robot.gain}},
        },
        "metrics": {
            "position_rms": {"type": "rms", "joints": joints, "unit": "rad"},
            "velocity_rms": {"type": "rms", "joints": joints, "signal": "velocity", "unit": "rad/s"},
            "position_max": {"type": "max_abs", "joints": joints, "unit": "rad"},
        },
    }  # fmt: skip


class Damp:
    """u = -gain * (q + 0.1 v) of each driven joint."""

    def __init__(self, setup: Any) -> None:
        self.gain = setup.parameters["gain"]

    def compute(self, step: Any) -> Any:
        position, velocity = step.inputs["fast"].values, step.inputs["slow"].values
        return -self.gain * (position + 0.1 * velocity)


def _implicitfast(file: Path) -> str:
    spec = mujoco.MjSpec.from_file(str(file))
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for index, actuator in enumerate(spec.actuators):
        if not actuator.name:
            actuator.name = f"a{index}"
    for index, joint in enumerate(spec.joints):
        if not joint.name:
            joint.name = f"j{index}"
    (spec.body("torso") or spec.body("pole")).add_site(name="mark")
    spec.compile()
    return spec.to_xml()


@dataclass(frozen=True)
class Ratio:
    """Attributes: CPU time against C, and what C takes for a step [us]."""

    ratio: float
    us_per_step: float


def plans_of(robot: Robot, lanes: int, ticks: int, more: Mapping[str, Mapping[str, Any]] | None = None) -> list[Plan]:
    """The workload in lanes whose latencies differ, and what is added to its manifest, section by section."""
    return _resolved(robot, lanes, ticks, more or {}, _latencies)


def cells_of(robot: Robot, lanes: int, ticks: int) -> list[Plan]:
    """The workload in lanes of :data:`CELLS` cells: latencies, noise and gain differ."""
    return _resolved(robot, lanes, ticks, {}, _cell)


def _resolved(robot: Robot, lanes: int, ticks: int, more: Mapping[str, Mapping[str, Any]],
              changes: Callable[[int], Mapping[str, Any]]) -> list[Plan]:  # fmt: skip
    document = manifest(robot, ticks * robot.timestep_s)
    for section, added in more.items():
        document[section] |= added
    resolver, base = Resolver(), load_manifest(document)
    return [resolver.resolve(base, changes(lane)) for lane in range(lanes)]


def _latencies(lane: int) -> dict[str, Any]:
    return {"components.fast.latency_s": 0.002 * (lane % 4), "components.slow.latency_s": 0.005 * (lane % 3)}


def _cell(lane: int) -> dict[str, Any]:
    cell = lane % CELLS
    return _latencies(cell) | {
        "components.fast.white_std": 1e-3 * (1 + cell / CELLS),
        "components.drive.command_latency_s": 0.002 * (1 + cell % 3),
        "controllers.damp.parameters.gain": 0.1 * (1 + cell / CELLS),
    }


def against_c(plans: Sequence[Plan], *, pairs: int = 5, c_s: float = 0.3) -> Ratio:
    """Run Plans, each with a seed of its own, and replay them, in turn.

    Args:
        plans: one a lane.
        pairs: how often at least.
        c_s: CPU time of C at least, altogether [s]: a short run is measured more often.
    """
    ticks = plans[0].horizon
    replay = Replay(plans, ticks)
    ours: list[float] = []
    theirs: list[float] = []
    while len(theirs) < pairs or sum(theirs) < c_s:
        before = time.process_time()
        InstanceBatch(plans, range(len(plans))).run()
        ours.append(time.process_time() - before)
        theirs.append(replay.cpu_s())
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    return Ratio(ratio, statistics.median(theirs) / len(plans) / ticks * 1e6)


class Replay:
    """C's part of runs: from the same start and with the controls that they applied, lane by lane on one thread.

    Lanes have the nominal model, so the Plans edit none.

    Args:
        plans: one a lane, whose seeds count from 0; nothing stops them.
        ticks: steps of each.
    """

    def __init__(self, plans: Sequence[Plan], ticks: int) -> None:
        self._model = open_model(plans[0].model)
        self._starts = InstanceBatch(plans, range(len(plans))).boundary
        self._controls = recorded_controls(plans, ticks)
        self._data = [mujoco.MjData(self._model)]
        width = mujoco.mj_stateSize(self._model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        assert self._starts.shape[1] == width
        self._out = np.empty((1, ticks, width))

    def __call__(self) -> None:
        for start, controls in zip(self._starts, self._controls, strict=True):
            rollout.rollout(self._model, self._data, start[None], controls[None], state=self._out)

    def cpu_s(self) -> float:
        """CPU time that it takes [s]."""
        before = time.process_time()
        self()
        return time.process_time() - before


def recorded_controls(plans: Any, ticks: int) -> np.ndarray:
    """The controls that a run applies, ``(lanes, ticks, nu)``."""
    recorder = Controls()
    batch = InstanceBatch(plans, range(len(plans)), observers=[recorder])
    batch.advance(ticks)
    assert batch.alive.all()
    batch.observation.flush()
    return np.concatenate(recorder.rows, axis=1)


class Controls:
    """An Observer that keeps what was applied."""

    reads = STATE_ONLY

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []

    def fold(self, view: Any) -> None:
        self.rows.append(view.controls.copy())
