"""Diagnostic injection: overwriting one complete logical resource of the state."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.claims import RESOURCES, ActuatorActivation, JointKinematics, MocapPose, StateResource
from sweep.runtime.model_index import ModelIndex

Floats = NDArray[np.float64]
Write = tuple[str, Any, Floats]
"""A field of MjData, where in it, and what."""

UNIT_TOLERANCE = 1e-6
"""How far from 1 the length of an injected quaternion may be; it is written as it is given, bit for bit."""

_JOINT = mujoco.mjtJoint
_JOINT_WIDTHS = {
    int(_JOINT.mjJNT_FREE): (7, 6),
    int(_JOINT.mjJNT_BALL): (4, 3),
    int(_JOINT.mjJNT_SLIDE): (1, 1),
    int(_JOINT.mjJNT_HINGE): (1, 1),
}
_QUATERNIONS = {(7, 6): slice(3, 7), (4, 3): slice(0, 4)}
"""Where in the positions of a joint its orientation stands."""


def resource_of(text: str | StateResource) -> StateResource:
    """A resource, or its text: ``joint_kinematics:hinge``.

    Raises:
        InvalidInputError: no such kind of resource.
    """
    if isinstance(text, RESOURCES):
        return text
    kind, _, name = str(text).partition(":")
    kinds = {resource.kind: resource for resource in RESOURCES}
    if kind not in kinds or not name:
        message = f"{text!r} is not kind:name{did_you_mean(kind, list(kinds))}"
        raise InvalidInputError("resource", [Problem("", message)])
    return kinds[kind](name)


def refuse_claimed(resource: StateResource, claimed: Mapping[StateResource, str]) -> None:
    """Leave a resource alone over which a component has authority.

    Raises:
        InvalidInputError: naming the component.
    """
    if resource in claimed:
        message = f"is claimed by {claimed[resource]!r}, which would overwrite it"
        raise InvalidInputError("injection", [Problem(str(resource), message)])


def writes_of(resource: StateResource, value: Any, index: ModelIndex) -> list[Write]:
    """What to write where.

    Numbers need not be finite: a NaN is how a fault is provoked.

    Raises:
        InvalidInputError: no such element, the value is not the complete resource, or an orientation is no unit
            quaternion.
    """
    return _WRITERS[type(resource)](resource, value, index)


def _joint(resource: StateResource, value: Any, index: ModelIndex) -> list[Write]:
    _known(resource, index.names("jnt"))
    joint = index.model.joint(resource.name)
    widths = _JOINT_WIDTHS[int(joint.type[0])]
    qpos, qvel = _parts(resource, value, {"qpos": widths[0], "qvel": widths[1]})
    if widths in _QUATERNIONS:
        _check_unit(resource, "qpos", qpos[_QUATERNIONS[widths]])
    return [("qpos", _from(joint.qposadr, qpos), qpos), ("qvel", _from(joint.dofadr, qvel), qvel)]


def _mocap(resource: StateResource, value: Any, index: ModelIndex) -> list[Write]:
    _known(resource, index.mocap_names())
    row = int(index.model.body(resource.name).mocapid[0])
    pos, quat = _parts(resource, value, {"mocap_pos": 3, "mocap_quat": 4})
    _check_unit(resource, "mocap_quat", quat)
    return [("mocap_pos", row, pos), ("mocap_quat", row, quat)]


def _activation(resource: StateResource, value: Any, index: ModelIndex) -> list[Write]:
    model = index.model
    _known(resource, [n for i, n in enumerate(index.names("actuator")) if model.actuator_actnum[i] > 0])
    actuator = model.actuator(resource.name).id
    (act,) = _parts(resource, value, {"act": int(model.actuator_actnum[actuator])})
    return [("act", _from(model.actuator_actadr[[actuator]], act), act)]


_WRITERS: dict[type[StateResource], Callable[[StateResource, Any, ModelIndex], list[Write]]] = {
    JointKinematics: _joint,
    MocapPose: _mocap,
    ActuatorActivation: _activation,
}


def _from(address: NDArray[Any], numbers: Floats) -> slice:
    return slice(int(address[0]), int(address[0]) + len(numbers))


def _parts(resource: StateResource, value: Any, widths: Mapping[str, int]) -> list[Floats]:
    """The complete value of a resource as one array per part, in the order of ``widths``."""
    if isinstance(value, Mapping):
        given: Any = [value[part] for part in widths] if set(value) == set(widths) else []
    elif len(widths) > 1:
        given = value if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
    else:
        given = [value]
    try:
        arrays = [np.atleast_1d(np.asarray(part, np.float64)) for part in given]
    except (TypeError, ValueError):
        arrays = []
    if [array.shape for array in arrays] != [(width,) for width in widths.values()]:
        expected = ", ".join(f"{part} ({width},)" for part, width in widths.items())
        raise InvalidInputError("injection", [Problem(str(resource), f"give the complete resource: {expected}")])
    return arrays


def _check_unit(resource: StateResource, part: str, quaternion: Floats) -> None:
    length = math.hypot(*quaternion)
    if abs(length - 1) > UNIT_TOLERANCE:  # never true of NaN
        message = f"the orientation in {part} must be a unit quaternion (w, x, y, z); its length is {length:g}"
        raise InvalidInputError("injection", [Problem(str(resource), message)])


def _known(resource: StateResource, names: Sequence[str]) -> None:
    if resource.name not in names:
        message = f"there is none in the model{did_you_mean(resource.name, [name for name in names if name])}"
        raise InvalidInputError("injection", [Problem(str(resource), message)])
