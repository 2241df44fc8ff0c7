"""Sites and sensors that components add to a model before it is compiled; they change no bit of the physics."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from sweep.plan.component import AddedSensor, AddedSite, ModelAdditions


def add_to(source: mujoco.MjSpec, additions: Iterable[ModelAdditions]) -> None:
    """Put sites and sensors into a model's source.

    What refers to an element that does not exist is left out: the component's own check names it.
    """
    everything = list(additions)
    for addition in everything:
        for site in addition.sites:
            _add_site(source, site)
    for addition in everything:
        for sensor in addition.sensors:
            _add_sensor(source, sensor)


def _add_site(source: mujoco.MjSpec, site: AddedSite) -> None:
    position, quaternion = np.array(site.position_m), np.array(site.quaternion)
    if site.site is not None:
        frame = source.site(site.site)
        if frame is None:
            return
        body = frame.parent
        turned = np.empty(3)
        mujoco.mju_rotVecQuat(turned, position, frame.quat)
        position = frame.pos + turned
        composed = np.empty(4)
        mujoco.mju_mulQuat(composed, frame.quat, quaternion)
        quaternion = composed
    else:
        body = source.body(site.body)
    if body is not None:
        body.add_site(name=site.name, pos=position, quat=quaternion)


def _add_sensor(source: mujoco.MjSpec, sensor: AddedSensor) -> None:
    if not _exists(source, sensor.object_type, sensor.object_name):
        return
    if sensor.reference_type is not None and not _exists(source, sensor.reference_type, sensor.reference_name):
        return
    added = source.add_sensor(
        name=sensor.name,
        type=getattr(mujoco.mjtSensor, f"mjSENS_{sensor.kind.upper()}"),
        objtype=_object_type(sensor.object_type),
        objname=sensor.object_name,
    )
    if sensor.reference_type is not None:
        added.reftype, added.refname = _object_type(sensor.reference_type), sensor.reference_name
    if sensor.parameters:
        added.intprm[: len(sensor.parameters)] = sensor.parameters


def _object_type(name: str) -> mujoco.mjtObj:
    found: mujoco.mjtObj = getattr(mujoco.mjtObj, f"mjOBJ_{name.upper()}")
    return found


def _exists(source: mujoco.MjSpec, kind: str, name: str | None) -> bool:
    kind = {"xbody": "body"}.get(kind, kind)
    if kind == "body" and name == "world":
        return True
    return getattr(source, kind)(name) is not None
