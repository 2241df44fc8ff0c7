"""Diagnostic injection: overwriting one complete logical resource of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.claims import RESOURCES, ActuatorActivation, JointKinematics, MocapPose, StateResource
from sweep.runtime.model_index import ModelIndex

Write = tuple[str, Any, NDArray[np.float64]]


def resource_of(text: str | StateResource) -> StateResource:
    """A resource, or its text: ``joint_kinematics:hinge``.

    Raises:
        InvalidInputError: no such kind of resource.
    """
    if isinstance(text, StateResource):
        return text
    kind, _, name = text.partition(":")
    kinds = {resource.kind: resource for resource in RESOURCES}
    if kind not in kinds or not name:
        message = f"{text!r} is not kind:name{did_you_mean(kind, list(kinds))}"
        raise InvalidInputError("resource", [Problem("", message)])
    return kinds[kind](name)


def writes_of(resource: StateResource, value: Any, index: ModelIndex) -> list[Write]:
    """What to write where: (state field, columns, numbers).

    Raises:
        InvalidInputError: no such element, or the value is not the complete resource.
    """
    model = index.model
    if isinstance(resource, JointKinematics):
        _known(resource, index.names("jnt"))
        joint = model.joint(resource.name)
        widths = {"qpos": len(joint.qpos0), "qvel": len(index._dofs(resource.name))}
        places = {"qpos": int(joint.qposadr[0]), "qvel": int(joint.dofadr[0])}
    elif isinstance(resource, MocapPose):
        _known(resource, [n for i, n in enumerate(index.names("body")) if model.body_mocapid[i] >= 0])
        row = int(model.body(resource.name).mocapid[0])
        parts = _parts(resource, value, {"mocap_pos": 3, "mocap_quat": 4})
        return [(field, row, numbers) for field, numbers in parts.items()]
    else:
        assert isinstance(resource, ActuatorActivation)
        _known(resource, [n for i, n in enumerate(index.names("actuator")) if model.actuator_actnum[i] > 0])
        actuator = model.actuator(resource.name).id
        widths = {"act": int(model.actuator_actnum[actuator])}
        places = {"act": int(model.actuator_actadr[actuator])}
    parts = _parts(resource, value, widths)
    return [(f, slice(places[f], places[f] + len(numbers)), numbers) for f, numbers in parts.items()]


def _parts(resource: StateResource, value: Any, widths: Mapping[str, int]) -> dict[str, NDArray[np.float64]]:
    """The complete value of a resource as one array per state field, in the order of ``widths``."""
    if isinstance(value, Mapping):
        given: Any = [value.get(field) for field in widths] if set(value) == set(widths) else []
    elif len(widths) > 1:
        given = value if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else []
    else:
        given = [value]
    try:
        arrays = [np.atleast_1d(np.asarray(part, np.float64)) for part in given]
    except (TypeError, ValueError):
        arrays = []
    if [array.shape for array in arrays] != [(width,) for width in widths.values()]:
        expected = ", ".join(f"{field} ({width},)" for field, width in widths.items())
        raise InvalidInputError("injection", [Problem(str(resource), f"give the complete resource: {expected}")])
    return dict(zip(widths, arrays, strict=True))


def _known(resource: StateResource, names: Sequence[str]) -> None:
    if resource.name not in names:
        message = f"there is none in the model{did_you_mean(resource.name, names)}"
        raise InvalidInputError("injection", [Problem(str(resource), message)])
