"""What the Manifest says of Interactions: what they watch, and what ends an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from sweep.plan.component import AddedSensor, Capability, ComponentSpec, ModelAdditions
from sweep.plan.fields import Names, Number, Numbers, Seconds
from sweep.plan.mount import Metres, Position, Radians

Reason = Annotated[str, Field(min_length=1)]
Pair = Annotated[Names, Field(min_length=2, max_length=2)]
PositiveMetres = Annotated[Metres, Field(gt=0)]


class EndingSpec(ComponentSpec):
    """An Interaction that ends the episode once something has been so for long enough.

    What first is so at the completed boundary of step *a* and stays so ends the episode at the first step *b* with
    ``(b - a) * timestep >= hold_s``.

    Attributes:
        hold_s: how long it must be so without a break [s]; 0 ends at the first boundary.
        reason: what the outcome says.
        success: whether that is a success.
    """

    capability: ClassVar[Capability] = Capability.INTERACTION
    varying: ClassVar[frozenset[str]] = frozenset({"hold_s"})

    hold_s: Seconds = 0.0
    reason: Reason
    success: bool

    def structure(self) -> dict[str, Any]:
        """See :meth:`ComponentSpec.structure`; whether a number is given at all is part of the layout."""
        given = sorted(name for name in self.varying if getattr(self, name) is not None)
        return super().structure() | {"given": given}


class LimitExceededSpec(EndingSpec):
    """Ends the episode when a joint leaves ``[-limit, limit]``.

    Attributes:
        joints: hinge or slide joints; any one of them ends it.
        limit: largest magnitude allowed [rad or m; rad/s or m/s].
        signal: ``position`` or ``velocity``.
        hold_s: how long it must stay outside [s].
        reason: what the outcome says, for example ``fell``.
        success: whether that is a success.
    """

    varying: ClassVar[frozenset[str]] = EndingSpec.varying | {"limit"}
    example: ClassVar[str] = """
        type: limit_exceeded
        joints: [shoulder, elbow]
        limit: 2.6
        reason: overstretched
    """

    type: Literal["limit_exceeded"]
    joints: Names
    limit: Annotated[Number, Field(gt=0)]
    signal: Literal["position", "velocity"] = "position"
    reason: Reason = "limit_exceeded"
    success: bool = False


class GoalReachedSpec(EndingSpec):
    """Ends the episode when joints are at their targets, or a site or body is at a point; with both given, at both.

    Attributes:
        joints: hinge or slide joints, all of which must be there.
        target: where, one for all or one each [rad or m].
        tolerance: how near each must be, one for all or one each [rad or m].
        site: the site, or
        body: the body whose frame must be there.
        point_m: where, in the world [m].
        tolerance_m: within this distance [m].
        hold_s: how long it must stay there [s].
        reason: what the outcome says.
        success: whether that is a success.
    """

    varying: ClassVar[frozenset[str]] = EndingSpec.varying | {"target", "tolerance", "point_m", "tolerance_m"}
    example: ClassVar[str] = """
        type: goal_reached
        body: hand
        point_m: [0.5, 0, 0.4]
        tolerance_m: 2 cm
        hold_s: 0.2
    """

    type: Literal["goal_reached"]
    joints: Names | None = None
    target: Numbers | None = None
    tolerance: Numbers | None = None
    site: str | None = None
    body: str | None = None
    point_m: Position | None = None
    tolerance_m: PositiveMetres | None = None
    reason: Reason = "goal_reached"
    success: bool = True

    @model_validator(mode="after")
    def _consistent(self) -> GoalReachedSpec:
        if self.site is not None and self.body is not None:
            raise ValueError("give site or body, not both")
        if self.joints is None and self.place is None:
            raise ValueError("give joints, with target and tolerance; or a site or body, with point_m and tolerance_m")
        for what, there, numbers in (
            ("joints", self.joints, {"target": self.target, "tolerance": self.tolerance}),
            ("a site or body", self.place, {"point_m": self.point_m, "tolerance_m": self.tolerance_m}),
        ):
            for name, value in numbers.items():
                if (there is None) != (value is None):
                    raise ValueError(f"{what} and {name} go together; {what if there is None else name} is missing")
        for name, values in (("target", self.target), ("tolerance", self.tolerance)):
            if values is not None and self.joints is not None and len(values) not in (1, len(self.joints)):
                raise ValueError(f"{name} has {len(values)} numbers for {len(self.joints)} joints")
        if self.tolerance is not None and min(self.tolerance) <= 0:
            raise ValueError(f"a tolerance is above 0; {min(self.tolerance):g} is not allowed")
        return self

    @property
    def place(self) -> str | None:
        """The site or body that must be at the point."""
        return self.site or self.body

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        if self.place is None:
            return ModelAdditions()
        kind = "site" if self.body is None else "xbody"
        return ModelAdditions(sensors=(_frame_sensor(name, "framepos", kind, self.place),))


class FellSpec(EndingSpec):
    """Ends the episode when a body is too low, or its z axis leans too far from the world's.

    Attributes:
        body: the body, judged by its frame.
        min_height_m: the least height in the world [m].
        max_tilt_rad: the largest angle between its z axis and the world's [rad].
        hold_s: how long it must stay so [s].
        reason: what the outcome says.
        success: whether that is a success.
    """

    varying: ClassVar[frozenset[str]] = EndingSpec.varying | {"min_height_m", "max_tilt_rad"}
    example: ClassVar[str] = """
        type: fell
        body: hand
        min_height_m: 0.1
        max_tilt_rad: 60 deg
    """

    type: Literal["fell"]
    body: str
    min_height_m: Metres | None = None
    max_tilt_rad: Annotated[Radians, Field(gt=0, lt=3.1416)] | None = None
    reason: Reason = "fell"
    success: bool = False

    @model_validator(mode="after")
    def _one_limit(self) -> FellSpec:
        if self.min_height_m is None and self.max_tilt_rad is None:
            raise ValueError("give min_height_m, max_tilt_rad, or both")
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        kinds = {"framepos": self.min_height_m, "framezaxis": self.max_tilt_rad}
        sensors = tuple(_frame_sensor(name, kind, "xbody", self.body) for kind, v in kinds.items() if v is not None)
        return ModelAdditions(sensors=sensors)


class ContactHeldSpec(EndingSpec):
    """Ends the episode when two bodies or geoms touch.

    Attributes:
        bodies: the two bodies (their own geoms, not those of their children; ``world`` is the fixed scene), or
        geoms: the two geoms.
        hold_s: how long they must touch without a break [s].
        reason: what the outcome says.
        success: whether that is a success.
    """

    example: ClassVar[str] = """
        type: contact_held
        geoms: [palm, cup_side]
        hold_s: 0.5
        reason: grasped
    """

    type: Literal["contact_held"]
    bodies: Pair | None = None
    geoms: Pair | None = None
    reason: Reason = "contact_held"
    success: bool = True

    @model_validator(mode="after")
    def _one_pair(self) -> ContactHeldSpec:
        if (self.bodies is None) == (self.geoms is None):
            raise ValueError("give one of: bodies, geoms")
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        kind, pair = ("body", self.bodies) if self.bodies is not None else ("geom", self.geoms or ())
        return ModelAdditions(sensors=(_contact_sensor(f"{name}/contact", kind, pair),))


class DroppedObjectSpec(EndingSpec):
    """Ends the episode when an object is too low, or has lost every contact with those that held it.

    Attributes:
        body: the object, judged by its frame and its own geoms.
        min_height_m: the least height in the world; below it ends at once [m].
        held_by: bodies that hold it (their own geoms); nothing is lost before one of them has touched it.
        hold_s: how long none of them must touch it [s].
        reason: what the outcome says.
        success: whether that is a success.
    """

    varying: ClassVar[frozenset[str]] = EndingSpec.varying | {"min_height_m"}
    example: ClassVar[str] = """
        type: dropped_object
        body: cup
        min_height_m: 0.05
        held_by: [hand, tray]
        hold_s: 0.1
    """

    type: Literal["dropped_object"]
    body: str
    min_height_m: Metres | None = None
    held_by: Names | None = None
    reason: Reason = "dropped"
    success: bool = False

    @model_validator(mode="after")
    def _one_sign(self) -> DroppedObjectSpec:
        if self.min_height_m is None and self.held_by is None:
            raise ValueError("give min_height_m, held_by, or both")
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        height = () if self.min_height_m is None else (_frame_sensor(name, "framepos", "xbody", self.body),)
        holders = enumerate(self.held_by or ())
        contacts = (_contact_sensor(f"{name}/contact{n}", "body", (self.body, holder)) for n, holder in holders)
        return ModelAdditions(sensors=(*height, *contacts))


def _frame_sensor(name: str, kind: str, object_type: str, object_name: str) -> AddedSensor:
    return AddedSensor(name=f"{name}/{kind}", kind=kind, object_type=object_type, object_name=object_name)


def _contact_sensor(name: str, kind: str, pair: Sequence[str]) -> AddedSensor:
    """How many contacts two elements have: MuJoCo's contact sensor showing ``found`` of one contact, unreduced."""
    return AddedSensor(
        name=name,
        kind="contact",
        object_type=kind,
        object_name=pair[0],
        reference_type=kind,
        reference_name=pair[1],
        parameters=(1, 0, 1),
    )
