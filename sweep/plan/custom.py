"""Components of the user's own: a class of theirs behind each capability, one object per lane."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from sweep.plan.claims import MocapPose, StateClaim
from sweep.plan.component import Capability, ComponentSpec
from sweep.plan.device import DeviceSpec
from sweep.plan.drivers import DriverSpec
from sweep.plan.fields import ClassPath, Parameters, Section

_OWN = frozenset({"parameters"})


class UserClassSpec(Section):
    """What all components of the user's own say.

    Class attributes:
        method: what the class must offer.
    """

    method: ClassVar[str]

    class_: Annotated[ClassPath, Field(alias="class")]
    parameters: Parameters = Field(default_factory=dict)


class CustomDeviceSpec(DeviceSpec, UserClassSpec):
    """A Device whose class is yours: it says what it measures, and the runtime does its timing and transport.

    Attributes:
        class_: ``my_pkg.my_module:MySensor`` with ``width`` and ``measure(view, noise)``.
        parameters: handed to it; may differ between lanes.
    """

    varying: ClassVar[frozenset[str]] = DeviceSpec.varying | _OWN
    method: ClassVar[str] = "measure"
    example: ClassVar[str] = """
        type: device
        class: my_robot.parts:Strain
        parameters: {gain: 2}
        period_s: 1 ms
    """

    type: Literal["device"]


class CustomDriverSpec(DriverSpec, UserClassSpec):
    """An ActuatorDriver whose class is yours: the runtime lets commands arrive, your law turns them into controls.

    Attributes:
        class_: ``my_pkg.my_module:MyDrive`` with ``drive(command, view)``, which returns one number per control.
        parameters: handed to it; may differ between lanes.
    """

    varying: ClassVar[frozenset[str]] = DriverSpec.varying | _OWN
    method: ClassVar[str] = "drive"
    example: ClassVar[str] = """
        type: driver
        actuators: shoulder_motor
        class: my_robot.parts:Hydraulics
        parameters: {pressure: 2}
    """

    type: Literal["driver"]

    @model_validator(mode="after")
    def _no_brake(self) -> CustomDriverSpec:
        if self.fallback == "brake":
            raise ValueError("fallback: brake is for drivers of efforts; use hold, zero or numbers")
        return self


class CustomInteractionSpec(ComponentSpec, UserClassSpec):
    """An Interaction whose class is yours: it looks at every completed boundary and proposes.

    Attributes:
        class_: ``my_pkg.my_module:MyRule`` with ``propose(view, state)``.
        parameters: handed to it; may differ between lanes.
    """

    capability: ClassVar[Capability] = Capability.INTERACTION
    varying: ClassVar[frozenset[str]] = _OWN
    method: ClassVar[str] = "propose"
    example: ClassVar[str] = """
        type: interaction
        class: my_robot.parts:Overheated
        parameters: {limit: 80}
    """

    type: Literal["interaction"]


class CustomObserverSpec(ComponentSpec, UserClassSpec):
    """An Observer whose class is yours: it looks at every completed step and keeps numbers, for ``observed`` metrics.

    Attributes:
        class_: ``my_pkg.my_module:MyMeasure`` with ``observe(view, state)`` and ``summary()``.
        parameters: handed to it; may differ between lanes.
    """

    capability: ClassVar[Capability] = Capability.OBSERVER
    varying: ClassVar[frozenset[str]] = _OWN
    method: ClassVar[str] = "observe"
    example: ClassVar[str] = """
        type: observer
        class: my_robot.parts:Energy
    """

    type: Literal["observer"]


class CustomPoseSpec(ComponentSpec, UserClassSpec):
    """A PrescribedState whose class is yours: the pose of a mocap body as a function of time.

    Attributes:
        body: the mocap body.
        class_: ``my_pkg.my_module:MyMotion`` with ``pose(time_s)``.
        parameters: handed to it; may differ between lanes.
    """

    capability: ClassVar[Capability] = Capability.PRESCRIBED_STATE
    varying: ClassVar[frozenset[str]] = _OWN
    method: ClassVar[str] = "pose"
    example: ClassVar[str] = """
        type: prescribed_pose
        body: tray
        class: my_robot.parts:Orbit
        parameters: {radius_m: 0.1}
    """

    type: Literal["prescribed_pose"]
    body: str

    def claims(self, name: str) -> tuple[StateClaim, ...]:
        """See :meth:`ComponentSpec.claims`."""
        return (StateClaim(MocapPose(self.body), name),)
