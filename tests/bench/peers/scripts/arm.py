"""One episode of the arm as a user writes it who has no such project: a scalar loop around ``mj_step``.

Model and numbers are those of the sweep beside which it is measured; they come in a folder, ``model.mjb`` and
``arm.json``.  The same devices, controller and metric: an encoder with bias, white noise and latency, PD with
compensation of gravity and Coriolis forces along a minimum-jerk trajectory, command latency, RMS of the error.
"""

import json
from collections import deque
from functools import cache
from pathlib import Path

import mujoco
import numpy as np


@cache
def load(folder):
    """Model, the controller's model, and the numbers; once a process."""
    path = str(Path(folder, "model.mjb"))
    model, nominal = (mujoco.MjModel.from_binary_path(path) for _ in range(2))
    disable = mujoco.mjtDisableBit
    nominal.opt.disableflags |= int(disable.mjDSBL_CONSTRAINT | disable.mjDSBL_CONTACT | disable.mjDSBL_SENSOR)
    return model, nominal, json.loads(Path(folder, "arm.json").read_text())


def minimum_jerk(waypoints, segment_s, time_s):
    """Position and velocity of the reference."""
    index = int(time_s / segment_s)
    if index >= len(waypoints) - 1:
        return waypoints[-1], np.zeros_like(waypoints[-1])
    u = time_s / segment_s - index
    way = waypoints[index + 1] - waypoints[index]
    return (
        waypoints[index] + way * u**3 * (10 - 15 * u + 6 * u**2),
        way * 30 * u**2 * (1 - 2 * u + u**2) / segment_s,
    )


def episode(folder, latency_s, seed):
    """RMS of the tracking error [rad]."""
    model, nominal, arm = load(folder)
    rng = np.random.default_rng(seed)
    data, inverse = mujoco.MjData(model), mujoco.MjData(nominal)
    data.qpos[:], data.ctrl[:] = arm["qpos"], arm["ctrl"]
    mujoco.mj_forward(model, data)
    timestep = model.opt.timestep
    joints = [model.joint(name).id for name in arm["joints"]]
    positions, dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    actuators = [model.actuator(name).id for name in arm["actuators"]]
    kp, kd, waypoints = np.array(arm["kp"]), np.array(arm["kd"]), np.array(arm["waypoints"])
    bias = rng.normal(0, arm["bias_std"], len(joints))
    samples = deque(maxlen=round(latency_s / timestep) + 1)
    commands = deque([np.zeros(len(joints))] * round(arm["command_latency_s"] / timestep))
    every = round(arm["control_period_s"] / timestep)
    command, squares = np.zeros(len(joints)), 0.0
    steps = round(arm["duration_s"] / timestep)
    for tick in range(steps):
        wanted, velocity = minimum_jerk(waypoints, arm["segment_s"], tick * timestep)
        squares += np.mean((data.qpos[positions] - wanted) ** 2)
        if tick > 0:
            noise = rng.normal(0, arm["white_std"], len(joints)), rng.normal(0, arm["velocity_white_std"], len(joints))
            samples.append((data.qpos[positions] + bias + noise[0], data.qvel[dofs] + noise[1]))
        if tick % every == 0 and len(samples) == samples.maxlen:
            measured, measured_velocity = samples[0]
            inverse.qpos[:], inverse.qvel[:] = arm["qpos"], 0
            inverse.qpos[positions], inverse.qvel[dofs] = measured, velocity
            mujoco.mj_fwdPosition(nominal, inverse)
            mujoco.mj_fwdVelocity(nominal, inverse)
            command = kp * (wanted - measured) + kd * (velocity - measured_velocity)
            command = command + inverse.qfrc_bias[dofs] - inverse.qfrc_passive[dofs]
        commands.append(command)
        data.ctrl[actuators] = commands.popleft()
        mujoco.mj_step(model, data)
    return float(np.sqrt(squares / steps))
