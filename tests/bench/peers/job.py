"""The job that everyone is given: runs of the arm, as :mod:`tests.bench.peers.scripts.arm` reads it from a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco

from sweep.config.load import load_spec
from sweep.execution.planning import plan_sweep
from sweep.plan import Plan
from sweep.runtime import InstanceBatch
from sweep.runtime.model import open_model
from tests.bench.lanes import recorded_controls

LATENCIES = ("0.002", "0.005")

WORDS = ("scene=arm", f"+latency={','.join(LATENCIES)}", "manifest.runtime.duration_s=2", "tracking=none")


def write_job(folder: Path) -> None:
    """The compiled model, and the numbers that the manifest and MuJoCo's start have."""
    plan = plan_sweep(load_spec([*WORDS, "seeds=1"])).runs[0].plan
    manifest = plan.manifest
    components: Mapping[str, Any] = manifest.components
    encoders, drives = components["encoders"], components["drives"]
    (tracker,), (reach,) = manifest.controllers.values(), manifest.references.values()
    fields = {
        "joints": encoders.joints,
        **{name: getattr(encoders, name) for name in ("white_std", "bias_std", "velocity_white_std")},
        **{name: getattr(drives, name) for name in ("actuators", "command_latency_s")},
        **{name: getattr(reach, name) for name in ("waypoints", "segment_s")},
        **{name: tracker.parameters[name] for name in ("kp", "kd")},
        "control_period_s": tracker.period_s,
        "duration_s": manifest.runtime.duration_s,
        **_start(plan),
    }
    folder.joinpath("arm.json").write_text(json.dumps(fields))
    folder.joinpath("model.mjb").write_bytes(plan.model.binary)


def _start(plan: Plan) -> dict[str, list[float]]:
    model = open_model(plan.model)
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, InstanceBatch([plan], [0]).boundary[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return {"qpos": data.qpos.tolist(), "ctrl": recorded_controls([plan], 1)[0, 0].tolist()}
