"""Copied state: values that may leave the owner's thread."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSnapshot:
    """A coherent copy of a completed boundary: every array describes the same instant.

    Attributes:
        episode_index: which episode.
        tick: the boundary.
        time_s: its time [s].
        qpos: ``(nq,)`` positions.
        qvel: ``(nv,)`` velocities.
        act: ``(na,)`` actuator activations.
        ctrl: ``(nu,)`` the controls last applied.
        sensordata: ``(nsensordata,)`` the model's sensors, recomputed for this state; NaN where that makes MuJoCo fail.
    """

    episode_index: int
    tick: int
    time_s: float
    qpos: Floats
    qvel: Floats
    act: Floats
    ctrl: Floats
    sensordata: Floats


def snapshot_of(data: mujoco.MjData, *, episode_index: int, tick: int, time_s: float) -> SimulationSnapshot:
    """Copy a private, forwarded MjData."""
    fields = {name: _frozen(getattr(data, name)) for name in ("qpos", "qvel", "act", "ctrl", "sensordata")}
    return SimulationSnapshot(episode_index=episode_index, tick=tick, time_s=time_s, **fields)


def _frozen(array: Floats) -> Floats:
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
