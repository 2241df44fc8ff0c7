"""Where an episode starts."""

from __future__ import annotations

import mujoco
import numpy as np

from sweep.plan.manifest import Manifest


def start_state(manifest: Manifest, model: mujoco.MjModel) -> mujoco.MjData:
    """The state an episode of this manifest starts from: reset, keyframe, initial joint positions."""
    data = mujoco.MjData(model)
    if manifest.model.keyframe is None:
        mujoco.mj_resetData(model, data)
    else:
        mujoco.mj_resetDataKeyframe(model, data, model.key(manifest.model.keyframe).id)
    data.time = 0.0  # a keyframe may have a time of its own; boundary n is at n timesteps
    for joint, position in manifest.model.initial.items():
        data.qpos[model.joint(joint).qposadr[0]] = np.float64(position)
    return data
