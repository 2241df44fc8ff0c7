"""How a component declares itself: its capability, schedules, noise streams, claims, and what it needs of the model.

A component's *spec* is what the Manifest says of it.  Specs are frozen values without any simulation
in them; the runtime builds the live part from them (one object for all lanes of a batch).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Literal

from sweep.errors import Problem
from sweep.plan.claims import StateClaim
from sweep.plan.clock import Grid
from sweep.plan.fields import Section

Policy = Literal["next_boundary", "strict"]


class Capability(StrEnum):
    """What the phases call."""

    DEVICE = "device"
    ACTUATOR_DRIVER = "actuator_driver"
    PRESCRIBED_STATE = "prescribed_state"
    DISTURBANCE = "disturbance"
    INTERACTION = "interaction"
    OBSERVER = "observer"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSite:
    """A site that a component needs in the model, rigid on a body.

    Attributes:
        name: its name in the model.
        body: the body it is fixed to, or
        site: an existing site whose frame it is placed in.
        position_m: in the frame of that body or site [m].
        quaternion: orientation in that frame, (w, x, y, z).
    """

    name: str
    body: str | None = None
    site: str | None = None
    position_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedSensor:
    """A MuJoCo sensor that a component reads.

    Attributes:
        name: its name in the model.
        kind: MuJoCo's sensor type in lower case: ``gyro``, ``accelerometer``, ``force``, ``framepos``, ...
        object_type: what it is attached to: ``site``, ``body``, ``xbody``, ``geom``, ...
        object_name: that element's name.
        reference_type: its reference element's kind, if it has one.
        reference_name: that element's name.
        parameters: integer parameters of the kind (``intprm``).
    """

    name: str
    kind: str
    object_type: str = "site"
    object_name: str = ""
    reference_type: str | None = None
    reference_name: str | None = None
    parameters: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeServo:
    """An actuator that becomes one of MuJoCo's own servos; its gains are numbers of each lane (:class:`ModelValue`).

    Attributes:
        actuator: its name in the model.
        kind: what it becomes if it is none yet; None leaves it what it is.
        force_limited: whether lanes limit its force.
    """

    actuator: str
    kind: Literal["position", "velocity"] | None
    force_limited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAdditions:
    """What a component changes of the model when it is loaded.  Sites and sensors change no bit of the physics.

    Attributes:
        sites: sites, added first.
        sensors: sensors.
        servos: actuators that become servos.
    """

    sites: tuple[AddedSite, ...] = ()
    sensors: tuple[AddedSensor, ...] = ()
    servos: tuple[NativeServo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelValue:
    """One number of the compiled model that a component sets in its lane: ``(value or the model's own) * scale``.

    Attributes:
        field: the MjModel field, ``(elements, columns)``.
        element: name of the model element.
        column: which of its numbers.
        value: what replaces the model's own; None keeps it.
        scale: factor on either.
    """

    field: str
    element: str
    column: int
    value: float | None = None
    scale: float = 1.0


class ComponentSpec(Section):
    """What the Manifest says of one component.

    Class attributes:
        capability: what the phases call it for.
        streams: names of its noise streams with a draw for each sample.
        episode_streams: names of those with one draw for the whole episode.
        example: what may stand under its name in a Manifest, as YAML.
    """

    capability: ClassVar[Capability]
    streams: ClassVar[tuple[str, ...]] = ()
    episode_streams: ClassVar[tuple[str, ...]] = ()
    example: ClassVar[str] = ""

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """Every duration that does not fit the grid: a period below the timestep, or off the grid under ``strict``."""
        return []

    def claims(self, name: str) -> tuple[StateClaim, ...]:
        """The state that this component holds authority over."""
        return ()

    def additions(self, name: str) -> ModelAdditions:
        """Sites, sensors and servos that it needs in the model."""
        return ModelAdditions()

    def model_values(self) -> tuple[ModelValue, ...]:
        """Numbers of the compiled model that it sets in its lane."""
        return ()

    def structure(self) -> dict[str, Any]:
        """What lanes of one batch must share."""
        return self.model_dump(mode="json", exclude=set(self.varying))
