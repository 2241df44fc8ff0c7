"""Names of a model's elements and where their numbers lie."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.problems import unknown_name

Ints = NDArray[np.intp]

_SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))

_ELEMENTS = {
    "body": "nbody",
    "jnt": "njnt",
    "dof": "njnt",
    "geom": "ngeom",
    "actuator": "nactuator",
    "tendon": "ntendon",
    "site": "nsite",
    "sensor": "nsensor",
    "eq": "neq",
}
_ACCESSORS = {
    "body": "body",
    "jnt": "joint",
    "dof": "joint",
    "geom": "geom",
    "actuator": "actuator",
    "tendon": "tendon",
    "site": "site",
    "sensor": "sensor",
    "eq": "equality",
}

EDITABLE = (
    "actuator_biasprm", "actuator_forcerange", "actuator_gainprm", "actuator_gear", "body_gravcomp", "body_inertia",
    "body_ipos", "body_mass", "dof_armature", "dof_damping", "dof_frictionloss", "geom_friction", "geom_solimp",
    "geom_solref", "jnt_range", "jnt_stiffness", "opt.density", "opt.gravity", "opt.viscosity", "opt.wind",
    "tendon_damping", "tendon_frictionloss", "tendon_stiffness",
)  # fmt: skip
"""Numeric model fields that lanes may differ in; MuJoCo derives what depends on them."""


class ModelIndex:
    """Looks names up in a compiled model.

    Args:
        model: the compiled model.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self._names: dict[str, list[str]] = {}

    def names(self, kind: str) -> list[str]:
        """All names of a kind: ``body``, ``jnt``, ``geom``, ``actuator``, ``tendon``, ``site``, ``sensor``, ``eq``."""
        if kind not in self._names:
            element, count = getattr(self.model, _ACCESSORS[kind]), getattr(self.model, _ELEMENTS[kind])
            self._names[kind] = [element(index).name for index in range(count)]
        return self._names[kind]

    def joint_names(self) -> list[str]:
        """All hinge and slide joints."""
        if "scalar" not in self._names:
            scalar = [kind in _SCALAR_JOINTS for kind in self.model.jnt_type]
            self._names["scalar"] = list(itertools.compress(self.names("jnt"), scalar))
        return self._names["scalar"]

    def keyframe_names(self) -> list[str]:
        """All keyframes."""
        return [self.model.key(i).name for i in range(self.model.nkey)]

    def qpos(self, joints: Iterable[str]) -> Ints:
        """Positions of joints in qpos."""
        return np.array([self.model.joint(j).qposadr[0] for j in joints], np.intp)

    def qvel(self, joints: Iterable[str]) -> Ints:
        """Positions of joints in qvel."""
        return np.array([self.model.joint(j).dofadr[0] for j in joints], np.intp)

    def controls(self, actuators: Iterable[str]) -> Ints:
        """Columns of ctrl that belong to actuators; an actuator with several inputs has several."""
        columns: list[int] = []
        for name in actuators:
            index = self.model.actuator(name).id
            first = int(self.model.actuator_ctrladr[index])
            columns += range(first, first + int(self.model.actuator_ctrlnum[index]))
        return np.array(columns, np.intp)

    def sensor_columns(self, sensors: Iterable[str]) -> Ints:
        """Columns of sensordata that belong to sensors, in their order."""
        columns: list[int] = []
        for name in sensors:
            sensor = self.model.sensor(name)
            columns += range(int(sensor.adr[0]), int(sensor.adr[0]) + int(sensor.dim[0]))
        return np.array(columns, np.intp)

    def needs_forces(self, sensor: str) -> bool:
        """Whether a sensor depends on forces or accelerations, so that only a full forward computes it."""
        stage = int(self.model.sensor_needstage[self.model.sensor(sensor).id])
        return stage == int(mujoco.mjtStage.mjSTAGE_ACC)

    def control_limits(self, columns: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest control of each column; infinite where the model sets none."""
        # One row a control: an actuator with several inputs has several.
        limited, ends = self.model.actuator_ctrllimited[columns] != 0, self.model.actuator_ctrlrange[columns]
        return np.where(limited, ends[:, 0], -np.inf), np.where(limited, ends[:, 1], np.inf)

    def rows(self, field: str, names: Sequence[str] | None) -> Ints | slice:
        """Rows of a model field that belong to named elements; all of them for None."""
        kind = field.partition("_")[0]
        if names is None or field.startswith("opt."):
            return slice(None)
        if kind == "dof":
            return np.concatenate([np.atleast_1d(self._dofs(n)) for n in names])
        return np.array([getattr(self.model, _ACCESSORS[kind])(n).id for n in names], np.intp)

    def _dofs(self, joint: str) -> Ints:
        index = self.model.joint(joint).id
        first = int(self.model.jnt_dofadr[index])
        count = {0: 6, 1: 3}.get(int(self.model.jnt_type[index]), 1)
        return np.arange(first, first + count, dtype=np.intp)

    def joint_problems(self, path: str, joints: Iterable[str]) -> list[Problem]:
        """Problems of names that must be hinge or slide joints."""
        return unknown_name(path, "hinge or slide joint", joints, self.joint_names())

    def actuator_problems(self, path: str, actuators: Iterable[str]) -> list[Problem]:
        """Problems of names that must be actuators."""
        return unknown_name(path, "actuator", actuators, self.names("actuator"))

    def mocap_names(self) -> list[str]:
        """All mocap bodies."""
        return [name for i, name in enumerate(self.names("body")) if self.model.body_mocapid[i] >= 0]

    def mocap_problems(self, path: str, bodies: Sequence[str]) -> list[Problem]:
        """Problems of names that must be mocap bodies."""
        mocap, everyone = self.mocap_names(), self.names("body")
        missing = [body for body in bodies if body not in everyone]
        there = f"mocap bodies there are: {', '.join(mocap)}" if mocap else "the model has none"
        return unknown_name(path, "mocap body", missing, mocap) + [
            Problem(path, f"{body!r} is not a mocap body ({there}); weld it to one, and prescribe the pose of that")
            for body in bodies
            if body in everyone and body not in mocap
        ]

    def edit_problems(
        self, path: str, fields: Iterable[str], names: Sequence[str] | None, value: Sequence[float] | None
    ) -> list[Problem]:
        """Problems of a model edit's fields, names and numbers."""
        problems = []
        for field in fields:
            kind = field.partition("_")[0]
            wrong = unknown_name(f"{path}.fields", "editable model field", [field], EDITABLE)
            if not wrong and names is not None and kind in _ELEMENTS:
                wrong = unknown_name(f"{path}.names", kind, names, self.names("jnt" if kind == "dof" else kind))
            elif not wrong and names is not None:
                wrong = [Problem(f"{path}.names", f"{field} belongs to the whole model; leave names out")]
            if not wrong and value is not None and len(value) not in (fitting := {1, self._width(field, names)}):
                allowed = " or ".join(map(str, sorted(fitting)))
                wrong = [Problem(f"{path}.value", f"{len(value)} numbers for {field}; give {allowed}")]
            problems += wrong
        return problems

    def _width(self, field: str, names: Sequence[str] | None) -> int:
        """How many numbers a model field has for each element, or, where that is one, for all those named."""
        owner, _, name = field.rpartition(".")
        shape = np.shape(getattr(self.model.opt if owner else self.model, name))
        if len(shape) == 1:
            return len(np.arange(shape[0])[self.rows(field, names)])
        return int(shape[1]) if shape else 1
