"""Copied state: values that may leave the owner's thread."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem

Floats = NDArray[np.float64]

_COPIED = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "sensordata")
_PHYSICS = int(mujoco.mjtState.mjSTATE_PHYSICS)
# What the physics state consists of; history buffers, its last part, are refused in a model.
_PHYSICS_FIELDS = ("qpos", "qvel", "act", "plastic")


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
        mocap_pos: ``(nmocap, 3)`` positions of mocap bodies [m].
        mocap_quat: ``(nmocap, 4)`` their orientations.
        sensordata: ``(nsensordata,)`` the model's sensors, recomputed for this state; NaN where that makes MuJoCo fail.
    """

    episode_index: int
    tick: int
    time_s: float
    qpos: Floats
    qvel: Floats
    act: Floats
    ctrl: Floats
    mocap_pos: Floats
    mocap_quat: Floats
    sensordata: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class MujocoPhysicsStateSnapshot:
    """The physics state of one boundary as MuJoCo keeps it: positions, velocities and activations, for diagnosis.

    It is NOT a checkpoint of the simulation.  Clocks, the queues of devices and drivers, committed input, domain state,
    random streams and the trace are neither saved in it nor rewound by restoring it; time, controls, mocap poses and
    the solver's warm start are no part of it either.  An episode goes on from a restored state as the episode that it
    is, at the tick where it is.

    Attributes:
        episode_index: the episode it was taken in.
        tick: the boundary it was taken at.
        time_s: the time of that boundary [s].
        qpos: ``(nq,)`` positions.
        qvel: ``(nv,)`` velocities.
        act: ``(na,)`` actuator activations.
        vector: all of it as ``mj_getState`` lays out ``mjSTATE_PHYSICS``.
        model_id: digest of the model's source; only an Instance of the same model takes the state back.
    """

    episode_index: int
    tick: int
    time_s: float
    qpos: Floats
    qvel: Floats
    act: Floats
    vector: Floats = field(repr=False)
    model_id: str


def snapshot_of(data: mujoco.MjData, *, episode_index: int, tick: int, time_s: float) -> SimulationSnapshot:
    """Copy a private, forwarded MjData."""
    fields = {name: _frozen(getattr(data, name)) for name in _COPIED}
    return SimulationSnapshot(episode_index=episode_index, tick=tick, time_s=time_s, **fields)


def physics_state_of(
    model: mujoco.MjModel, data: mujoco.MjData, *, model_id: str, episode_index: int, tick: int, time_s: float
) -> MujocoPhysicsStateSnapshot:
    """Copy the physics part of a private MjData."""
    vector = np.empty(mujoco.mj_stateSize(model, _PHYSICS))
    mujoco.mj_getState(model, data, vector, _PHYSICS)
    return MujocoPhysicsStateSnapshot(
        episode_index=episode_index,
        tick=tick,
        time_s=time_s,
        qpos=_frozen(data.qpos),
        qvel=_frozen(data.qvel),
        act=_frozen(data.act),
        vector=_frozen(vector),
        model_id=model_id,
    )


def restored_writes(
    model: mujoco.MjModel, state: MujocoPhysicsStateSnapshot, *, model_id: str
) -> list[tuple[str, slice, Floats]]:
    """What to write where, so that MjData holds a physics state: (field, where in it, what).

    Raises:
        InvalidInputError: it is a state of another model.
    """
    size = mujoco.mj_stateSize(model, _PHYSICS)
    if state.model_id != model_id or state.vector.shape != (size,):
        theirs = f"{len(state.qpos)} positions, {len(state.qvel)} velocities and {len(state.act)} activations"
        here = f"{model.nq}, {model.nv} and {model.na}"
        message = f"of another model, with {theirs} (here {here}); restore it in an Instance of its own model"
        raise InvalidInputError("physics state", [Problem("", message)])
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state.vector, _PHYSICS)
    return [(name, slice(None), getattr(data, name)) for name in _PHYSICS_FIELDS]


def _frozen(array: Floats) -> Floats:
    copy = np.array(array)
    copy.flags.writeable = False
    return copy
