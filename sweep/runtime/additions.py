"""What components change of a model before it is compiled: sites and sensors that they read, servos they command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

from sweep.plan.component import AddedSensor, AddedSite, ModelAdditions, NativeServo
from sweep.runtime.actuators import CONVERTIBLE, SERVOS, actuator_kind

_LIMITED = mujoco.mjtLimited


def add_to(source: mujoco.MjSpec, additions: Iterable[ModelAdditions]) -> None:
    """Put sites and sensors into a model's source, and make servos of its actuators.

    What refers to an element that does not exist is left out: the component's own check names it.
    """
    everything = list(additions)
    for addition in everything:
        for site in addition.sites:
            _add_site(source, site)
    for addition in everything:
        for sensor in addition.sensors:
            _add_sensor(source, sensor)
        for servo in addition.servos:
            _make_servo(source, servo)


def _add_site(source: mujoco.MjSpec, site: AddedSite) -> None:
    at = None if site.site is None else source.site(site.site)
    body = source.body(site.body) if site.site is None else at and at.parent
    if body is None:
        return
    added = body.add_site(name=site.name, pos=site.position_m, quat=site.quaternion)
    if at is not None:
        added.set_frame(_frame_of(body, at))


def _frame_of(body: mujoco.MjsBody, site: mujoco.MjsSite) -> mujoco.MjsFrame:
    """A frame where a site is; MuJoCo resolves what the site is within, and how its orientation is written."""
    frame = body.add_frame(site.frame, pos=site.pos, quat=site.quat)
    for way in ("type", "euler", "axisangle", "xyaxes", "zaxis"):
        setattr(frame.alt, way, getattr(site.alt, way))
    return frame


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


def _make_servo(source: mujoco.MjSpec, servo: NativeServo) -> None:
    """Let an actuator be a servo, of nominal gains, and have a force range where lanes limit its force."""
    actuator = source.actuator(servo.actuator)
    if actuator is None:
        return
    kind = actuator_kind(actuator)
    if servo.kind is not None and kind in CONVERTIBLE and kind != SERVOS[servo.kind]:
        _take_control_range_for_force(actuator)
        if servo.kind == "position":
            actuator.set_to_position(kp=1.0)
        else:
            actuator.set_to_velocity(kv=1.0)
    if servo.force_limited:
        actuator.forcelimited, actuator.forcerange = _LIMITED.mjLIMITED_TRUE, np.array([-1.0, 1.0])


def _take_control_range_for_force(actuator: mujoco.MjsActuator) -> None:
    """What limited a motor's control limited its force; a servo's control is a setpoint."""
    control = sorted(float(actuator.gainprm[0]) * end for end in actuator.ctrlrange)
    if _limits(actuator.ctrllimited, actuator.ctrlrange):
        force = actuator.forcerange if _limits(actuator.forcelimited, actuator.forcerange) else control
        narrower = [max(control[0], force[0]), min(control[1], force[1])]
        actuator.forcelimited, actuator.forcerange = _LIMITED.mjLIMITED_TRUE, np.array(narrower)
    actuator.ctrllimited, actuator.ctrlrange = _LIMITED.mjLIMITED_FALSE, np.zeros(2)


def _limits(limited: int, ends: Sequence[float]) -> bool:
    """Whether a range is in force; one that is not declared is where it is given (the compiler's autolimits)."""
    return bool(limited == _LIMITED.mjLIMITED_TRUE or (limited == _LIMITED.mjLIMITED_AUTO and ends[0] < ends[1]))


def _object_type(name: str) -> mujoco.mjtObj:
    found: mujoco.mjtObj = getattr(mujoco.mjtObj, f"mjOBJ_{name.upper()}")
    return found


def _exists(source: mujoco.MjSpec, kind: str, name: str | None) -> bool:
    kind = {"xbody": "body"}.get(kind, kind)
    if kind == "body" and name == "world":
        return True
    return getattr(source, kind)(name) is not None
