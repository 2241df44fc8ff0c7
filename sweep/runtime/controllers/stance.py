"""Standing: a posture held by joint feedback, and reflexes against leaning."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.control.controller import ControllerSetup, ControlStep

Floats = NDArray[np.float64]

_GRAVITY = 9.81


class Stance:
    """tau = kp (posture + reflex - q) - kd v, where the reflex moves joints by how the body leans.

    Its inputs are, in this order, an encoder with positions and velocities of the joints and an IMU with gyro and
    accelerometer, x forward and z up; its output drives one actuator per joint, in the same order.  Pitch and roll come
    from a complementary filter: the gyro's rates are integrated, and what the accelerometer takes for the direction of
    gravity pulls the sum back.

    Parameters of the manifest:
        posture: position of each joint [rad].
        kp: stiffness, one for all joints or one each [N m/rad].
        kd: damping, one for all joints or one each [N m s/rad].
        pitch: reflex of each joint to pitch [rad/rad].
        pitch_rate: reflex of each joint to its rate [rad s/rad].
        roll: reflex of each joint to roll [rad/rad].
        roll_rate: reflex of each joint to its rate [rad s/rad].
        reflex: factor on all reflexes.
        filter_s: time constant of the pull towards the accelerometer's direction [s].
    """

    def __init__(self, setup: ControllerSetup) -> None:
        self._encoder, self._imu = setup.inputs
        values = setup.parameters
        self._posture, self._kp, self._kd = values["posture"], values["kp"], values["kd"]
        # (2, lanes, joints): about pitch, about roll.
        self._lean = values["reflex"] * np.stack([values["pitch"], values["roll"]])
        self._rate = values["reflex"] * np.stack([values["pitch_rate"], values["roll_rate"]])
        self._period_s = setup.period_s
        self._pull = setup.period_s / (values["filter_s"] + setup.period_s)
        self._lanes, self._joints = setup.lanes, self._posture.shape[1]

    def initial_state(self) -> dict[str, Floats]:
        """The estimate of pitch and roll [rad]: upright."""
        return {"attitude": np.zeros((self._lanes, 2))}

    def compute(self, step: ControlStep) -> Floats:
        """Commands ``(lanes, joints)`` [N m]."""
        measured, inertial = step.inputs[self._encoder].values, step.inputs[self._imu].values
        rates = inertial[:, 1::-1]  # about y and x: pitch, roll
        # Gravity is felt at -g sin(pitch) along x and at g sin(roll) along y.
        felt = inertial[:, 3:5] * np.array([-1 / _GRAVITY, 1 / _GRAVITY])
        attitude = step.state["attitude"]
        attitude += self._period_s * rates
        attitude += self._pull * (felt - attitude)
        reflex = self._lean[0] * attitude[:, :1] + self._rate[0] * rates[:, :1]
        reflex += self._lean[1] * attitude[:, 1:] + self._rate[1] * rates[:, 1:]
        position, velocity = measured[:, : self._joints], measured[:, self._joints :]
        torque: Floats = self._kp * (self._posture + reflex - position) - self._kd * velocity
        return torque
