"""MujocoReadView: what a callback of the user's own sees of one boundary of one lane, read-only and while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.errors import ExpiredViewError, UndeclaredReadError, did_you_mean
from sweep.runtime.model_index import ModelIndex

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """One boundary of one lane.

    Attributes:
        tick: its number.
        time_s: its time [s].
        row: time, qpos, qvel, act.
        controls: the controls of the step that led here; None for a Device, which does not see them.
        fields: the declared MjData fields.
        whole: makes a private MjData with everything computed, for a reader that declared nothing.
        forces: whether what depends on forces is among the fields.
    """

    tick: int
    time_s: float
    row: Floats
    controls: Floats | None
    fields: Mapping[str, NDArray[Any]]
    whole: Callable[[], mujoco.MjData] | None
    forces: bool = False


class MujocoReadView:
    """One boundary of one lane, read-only, valid only during the callback that receives it.

    It copies only what the component declared in ``reads``; keep a copy of what should outlive the call.
    Arrays are MuJoCo's: ``qpos (nq,)``, ``qvel (nv,)``, ``field("xpos") (nbody, 3)``, ...

    Attributes:
        model: the lane's nominal model, for names and sizes.
    """

    __slots__ = ("_boundary", "_index", "_whole", "model")

    def __init__(self, boundary: Boundary, index: ModelIndex) -> None:
        self._boundary: Boundary | None = boundary
        self._index = index
        self._whole: mujoco.MjData | None = None
        self.model = index.model

    @property
    def tick(self) -> int:
        """The boundary's number."""
        return self._alive().tick

    @property
    def time_s(self) -> float:
        """Its episode time [s]."""
        return self._alive().time_s

    @property
    def qpos(self) -> Floats:
        """Positions ``(nq,)``."""
        return self._state(1, int(self.model.nq))

    @property
    def qvel(self) -> Floats:
        """Velocities ``(nv,)``."""
        return self._state(1 + int(self.model.nq), int(self.model.nv))

    @property
    def act(self) -> Floats:
        """Actuator activations ``(na,)``."""
        return self._state(1 + int(self.model.nq + self.model.nv), int(self.model.na))

    @property
    def ctrl(self) -> Floats:
        """Controls of the step that led here ``(nu,)``."""
        controls = self._alive().controls
        if controls is None:
            raise UndeclaredReadError("controls are seen after their step, by Interactions and Observers")
        return _read_only(controls)

    def joint_position(self, joint: str) -> float:
        """Position of a hinge or slide joint [rad or m]."""
        return float(self.qpos[self._index.qpos([joint])[0]])

    def joint_velocity(self, joint: str) -> float:
        """Velocity of a hinge or slide joint [rad/s or m/s]."""
        return float(self.qvel[self._index.qvel([joint])[0]])

    def sensor(self, name: str) -> Floats:
        """What one of the model's sensors reads; needs ``sensordata``, of a force or an acceleration at the full level.

        Raises:
            UndeclaredReadError: it depends on forces, and the component declared a lower level.
        """
        if not self._alive().forces and self._index.needs_forces(name):
            raise UndeclaredReadError(f"{name!r} depends on forces; say StateLevel.FULL in the class's reads")
        return self.field("sensordata")[self._index.sensor_columns([name])]

    def body_position(self, name: str) -> Floats:
        """Position of a body in the world ``(3,)`` [m]; needs ``xpos``."""
        found: Floats = self.field("xpos")[self.model.body(name).id]
        return found

    def site_position(self, name: str) -> Floats:
        """Position of a site in the world ``(3,)`` [m]; needs ``site_xpos``."""
        found: Floats = self.field("site_xpos")[self.model.site(name).id]
        return found

    def field(self, name: str) -> NDArray[Any]:
        """A field of MjData.

        Raises:
            UndeclaredReadError: the component declared its reads, and this is not among them.
            ExpiredViewError: the callback is over.
        """
        boundary = self._alive()
        if boundary.whole is not None:
            if self._whole is None:
                self._whole = boundary.whole()
            return _read_only(getattr(self._whole, name))
        if name not in boundary.fields:
            declared = sorted(boundary.fields)
            raise UndeclaredReadError(
                f"{name!r} is not among the fields declared: {', '.join(declared) or 'none'}"
                f"{did_you_mean(name, declared)}; add it to the class's reads"
            )
        return _read_only(boundary.fields[name])

    def expire(self) -> None:
        """End its validity: the callback returned."""
        self._boundary = self._whole = None

    def _state(self, start: int, count: int) -> Floats:
        return _read_only(self._alive().row[start : start + count])

    def _alive(self) -> Boundary:
        if self._boundary is None:
            raise ExpiredViewError("a MujocoReadView is valid only during its callback; copy what should outlive it")
        return self._boundary


@contextmanager
def lent(boundary: Boundary, index: ModelIndex) -> Iterator[MujocoReadView]:
    """A view for the duration of one callback."""
    view = MujocoReadView(boundary, index)
    try:
        yield view
    finally:
        view.expire()


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    shown = np.array(array)
    shown.flags.writeable = False
    return shown
