"""What an actuator of the model is: its kind, and the joint it moves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mujoco
import numpy as np

from sweep.errors import Problem

_GAIN, _BIAS, _DYN = mujoco.mjtGain, mujoco.mjtBias, mujoco.mjtDyn
_JOINTS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_OF_ITS_GAIN = {
    int(_GAIN.mjGAIN_DCMOTOR): "DC motor",
    int(_GAIN.mjGAIN_PID): "PID servo",
    int(_GAIN.mjGAIN_SO3): "orientation servo",
    int(_GAIN.mjGAIN_MUSCLE): "muscle",
}

MOTOR = "motor"
"""Its control is its force, up to a constant factor."""

SERVOS = {"position": "position servo", "velocity": "velocity servo"}
"""MuJoCo's own servos, by the driver type that commands them."""

CONVERTIBLE = (MOTOR, *SERVOS.values())
"""Kinds that can become one another when the model is loaded."""


def actuator_kind(actuator: Any) -> str:
    """What an actuator is, in a word for people.

    Args:
        actuator: of a compiled model (``model.actuator(name)``) or of its source (``spec.actuator(name)``).
    """
    gain, bias, dynamics = (_number(getattr(actuator, f)) for f in ("gaintype", "biastype", "dyntype"))
    if gain in _OF_ITS_GAIN:
        return _OF_ITS_GAIN[gain]
    if gain != _GAIN.mjGAIN_FIXED or dynamics not in (_DYN.mjDYN_NONE, _DYN.mjDYN_FILTER, _DYN.mjDYN_FILTEREXACT):
        return "general actuator"
    if bias == _BIAS.mjBIAS_NONE and dynamics == _DYN.mjDYN_NONE:
        return MOTOR
    strength, (constant, stiffness, damping) = float(actuator.gainprm[0]), actuator.biasprm[:3].tolist()
    if bias == _BIAS.mjBIAS_AFFINE and strength and not constant:
        if stiffness == -strength:
            return SERVOS["position"]
        if not stiffness and damping == -strength:
            return SERVOS["velocity"]
    return "general actuator"


def scalar_joint(model: mujoco.MjModel, actuator: str) -> int | None:
    """The id of the hinge or slide joint that an actuator moves directly; None if it moves something else."""
    index = model.actuator(actuator).id
    joint = int(model.actuator_trnid[index, 0])
    moves = int(model.actuator_trntype[index]) in _JOINTS and int(model.jnt_type[joint]) in _SCALAR_JOINTS
    return joint if moves and model.actuator_gear[index, 0] else None


def motor_problems(model: mujoco.MjModel, path: str, actuators: Iterable[str], what: str) -> list[Problem]:
    """A problem for each actuator that is no motor on a hinge or slide joint, though ``what`` needs one."""
    problems = []
    for name in actuators:
        kind = actuator_kind(model.actuator(name))
        if kind != MOTOR:
            remedy = f"list it in model.motors to make it a motor, or {_own_driver(kind)}"
            problems.append(Problem(path, f"{name!r} is a {kind}, and {what} needs motors; {remedy}"))
        elif scalar_joint(model, name) is None:
            message = f"{name!r} does not move a hinge or slide joint, whose state {what} reads; use type: torque"
            problems.append(Problem(path, message))
    return problems


def servo_problems(model: mujoco.MjModel, path: str, actuators: Iterable[str], driver: str) -> list[Problem]:
    """A problem for each actuator that is no servo of the kind that a driver of that type commands."""
    wanted, gain = SERVOS[driver], {"position": "kp", "velocity": "kd"}[driver]
    problems = []
    for name in actuators:
        kind = actuator_kind(model.actuator(name))
        if kind in CONVERTIBLE and kind != wanted:
            remedy = f"give {gain} to make it a {wanted}, or {_own_driver(kind)}"
        else:
            remedy = f"it cannot become a {wanted}; {_own_driver(kind)}"
        if kind != wanted:
            problems.append(Problem(path, f"{name!r} is a {kind}; {remedy}"))
    return problems


def _own_driver(kind: str) -> str:
    fitting = next((driver for driver, servo in SERVOS.items() if servo == kind), "torque")
    return f"command it as it is with type: {fitting}"


def _number(value: Any) -> int:
    return int(np.ravel(value)[0])
