"""Joint-space tracking: proportional-derivative feedback plus compensation from a nominal model."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np
from mujoco import batch
from numpy.typing import NDArray

from sweep.runtime.control.controller import ControllerSetup, ControlStep
from sweep.runtime.model_index import ModelIndex

Floats = NDArray[np.float64]


class JointPd:
    """tau = kp (q_ref - q) + kd (v_ref - v) + b(q, v_ref): PD with compensation from a nominal model.

    The bias b holds gravity, Coriolis and joint damping as the controller's own copy of the robot has them; what is
    swept of the simulated robot it does not know.  Its input is an encoder with positions and velocities of the
    joints of its reference, in that order; its output drives one actuator per joint, in that order.

    Parameters of the manifest:
        kp: stiffness, one for all joints or one each [N m/rad].
        kd: damping, one for all joints or one each [N m s/rad].
        gain_scale: factor on both (default 1).
    """

    def __init__(self, setup: ControllerSetup) -> None:
        self._input = next(iter(setup.inputs))
        self._reference = next(iter(setup.references.values()))
        scale = setup.parameters.get("gain_scale", 1.0)
        self._kp, self._kd = scale * setup.parameters["kp"], scale * setup.parameters["kd"]
        self._width = len(self._reference.joints)
        self._nominal = NominalModel(setup.model, self._reference.joints, setup.lanes)

    def compute(self, step: ControlStep) -> Floats:
        """Commands ``(lanes, joints)`` [N m]."""
        measured = step.inputs[self._input].values
        position, velocity = measured[:, : self._width], measured[:, self._width :]
        wanted, wanted_velocity = self._reference.at(step.tick)
        torque: Floats = self._kp * (wanted - position) + self._kd * (wanted_velocity - velocity)
        return torque + self._nominal.bias(position, wanted_velocity)


class NominalModel:
    """What it takes to move a robot as if it had no gravity, Coriolis forces or damping, for all lanes at once.

    Args:
        model: the nominal model; contacts and constraints are switched off in a copy.
        joints: the joints of interest; all others rest where the model starts.
        lanes: number of lanes.
    """

    def __init__(self, model: mujoco.MjModel, joints: tuple[str, ...], lanes: int) -> None:
        nominal = copy.copy(model)
        disable = mujoco.mjtDisableBit
        nominal.opt.disableflags |= int(disable.mjDSBL_CONSTRAINT | disable.mjDSBL_CONTACT | disable.mjDSBL_SENSOR)
        index = ModelIndex(nominal)
        self._positions, self._dofs = index.qpos(joints), index.qvel(joints)
        self._batch: Any = batch.Batch(nominal, lanes, 1)
        self._bias, self._passive = self._batch.bind("qfrc_bias"), self._batch.bind("qfrc_passive")

    def bias(self, position: Floats, velocity: Floats) -> Floats:
        """Bias torques ``(lanes, joints)`` [N m] at joint positions [rad] and velocities [rad/s]."""
        self._batch.qpos[:, self._positions] = position
        self._batch.qvel[:, self._dofs] = velocity
        self._batch.forward(stage=int(mujoco.mjtStage.mjSTAGE_VEL))
        bias: Floats = self._bias[:, self._dofs] - self._passive[:, self._dofs]
        return bias
