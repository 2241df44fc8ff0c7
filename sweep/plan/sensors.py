"""What the Manifest says of sensors of the robot itself, one class a family: encoder, IMU, force and torque."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sweep.plan.component import AddedSensor, ModelAdditions
from sweep.plan.device import DeviceSpec
from sweep.plan.fields import Names, NonNegative, one_or_many
from sweep.plan.imperfection import EPISODE_SOURCES, SOURCES, Imperfection, Positive, Rounding, stream_names
from sweep.plan.mount import Mounted, Radians

Measures = Annotated[tuple[Literal["position", "velocity"], ...], BeforeValidator(one_or_many), Field(min_length=1)]
Inertial = Annotated[tuple[Literal["gyro", "accelerometer"], ...], BeforeValidator(one_or_many), Field(min_length=1)]
Wrench = Annotated[tuple[Literal["force", "torque"], ...], BeforeValidator(one_or_many), Field(min_length=1)]


class SensorSpec(DeviceSpec):
    """A device with imperfections.

    Class attributes:
        numbers: fields whose values may differ between lanes; whether they are given at all is part of the layout,
            so that no lane draws noise because of a neighbour.

    Attributes:
        noise_scale: factor on everything random in its values, to sweep the noise as a whole [-].
    """

    numbers: ClassVar[frozenset[str]] = frozenset({"noise_scale"})
    varying: ClassVar[frozenset[str]] = DeviceSpec.varying | numbers

    noise_scale: NonNegative = 1.0

    def structure(self) -> dict[str, Any]:
        """See :meth:`ComponentSpec.structure`."""
        values = {name: getattr(self, name) for name in sorted(self.numbers)}
        given = {
            name: value.structure() if isinstance(value, Imperfection) else value is not None
            for name, value in values.items()
        }
        return super().structure() | {"given": given}


def at_one_site(spec: Mounted, name: str, kinds: Sequence[str]) -> ModelAdditions:
    """One sensor of each kind, all at the mount."""
    sites, site = spec.mount(f"{name}/mount")
    sensors = tuple(AddedSensor(name=f"{name}/{kind}", kind=kind, object_name=site) for kind in kinds)
    return ModelAdditions(sites=sites, sensors=sensors)


def only_what_is_measured(spec: SensorSpec, measured: Iterable[str]) -> None:
    """Refuse imperfections of what a sensor does not show: sweeping them would change nothing.

    Raises:
        ValueError: a part has imperfections but is not measured.
    """
    for name in sorted(spec.numbers - set(measured)):
        value = getattr(spec, name)
        if isinstance(value, Imperfection) and value != Imperfection():
            raise ValueError(f"has imperfections of {name}, which it does not measure; add {name} to measures")


class EncoderSpec(SensorSpec):
    """Joint encoders: position, velocity or both, of any number of joints.

    The output is ``(lanes, width)``: the first measure of all joints in their order, then the second.

    Attributes:
        joints: hinge or slide joints.
        measures: ``position``, ``velocity`` or both.
        white_std: standard deviation of white noise on positions [rad or m].
        velocity_white_std: the same on velocities [rad/s or m/s].
        bias_std: standard deviation of an offset of positions that an episode keeps: how well it was zeroed [rad or m].
        index_offset_rad: known angle that positions show too much, hinges only [rad].
        counts_per_turn: counts of a whole turn, hinges only: positions are multiples of ``2 pi / counts_per_turn``; or
        resolution: step of positions [rad or m].
        rounding: ``nearest`` step (ties to even) or ``floor``.
        wrap: positions stay within [-pi, pi), hinges only: a single-turn encoder.
        velocity_from: ``truth``, or ``difference`` of successive positions as the encoder sees them, before they wrap,
            divided by ``period_s``; 0 at the first acquisition, which has no predecessor.
    """

    numbers: ClassVar[frozenset[str]] = SensorSpec.numbers | {
        "white_std",
        "velocity_white_std",
        "bias_std",
        "index_offset_rad",
        "counts_per_turn",
        "resolution",
    }
    varying: ClassVar[frozenset[str]] = SensorSpec.varying | numbers
    streams: ClassVar[tuple[str, ...]] = ("white",)
    episode_streams: ClassVar[tuple[str, ...]] = EPISODE_SOURCES
    example: ClassVar[str] = """
        type: encoder
        joints: [shoulder, elbow]
        measures: [position, velocity]
        period_s: 1 ms
        latency_s: 2 ms
        counts_per_turn: 4096
        velocity_white_std: 0.02
    """

    type: Literal["encoder"]
    joints: Names
    measures: Measures = ("position",)
    white_std: NonNegative = 0.0
    velocity_white_std: NonNegative = 0.0
    bias_std: NonNegative = 0.0
    index_offset_rad: Radians | None = None
    counts_per_turn: Annotated[int, Field(ge=1)] | None = None
    resolution: Positive | None = None
    rounding: Rounding = "nearest"
    wrap: bool = False
    velocity_from: Literal["truth", "difference"] = "truth"

    @model_validator(mode="after")
    def _consistent(self) -> EncoderSpec:
        if self.counts_per_turn is not None and self.resolution is not None:
            raise ValueError("give counts_per_turn or resolution, not both")
        if self.velocity_from == "difference" and self.velocity_white_std:
            raise ValueError("a velocity from differences has the noise of its positions: leave velocity_white_std out")
        return self

    @property
    def channels(self) -> tuple[str, ...]:
        """See :attr:`DeviceSpec.channels`."""
        return tuple(f"{measure}/{joint}" for measure in self.measures for joint in self.joints)


class ImuSpec(Mounted, SensorSpec):
    """An inertial measurement unit: angular velocity and specific force in its own frame.

    The accelerometer shows specific force: at rest it reads the gravity that holds it, +9.81 along whatever points up,
    and in free fall 0.  Away from the body's centre it feels the lever arm's ``omega^2 r`` and ``alpha r``.  The output
    is ``(lanes, 3)`` or ``(lanes, 6)``: x, y, z of the first measure, then of the second.

    Attributes:
        measures: ``gyro``, ``accelerometer`` or both.
        gyro: imperfections of the angular velocity, u = rad/s.
        accelerometer: imperfections of the specific force, u = m/s^2.
    """

    numbers: ClassVar[frozenset[str]] = SensorSpec.numbers | {"gyro", "accelerometer"}
    varying: ClassVar[frozenset[str]] = SensorSpec.varying | numbers
    streams: ClassVar[tuple[str, ...]] = stream_names(SOURCES, "gyro", "accelerometer")
    episode_streams: ClassVar[tuple[str, ...]] = stream_names(EPISODE_SOURCES, "gyro", "accelerometer")
    example: ClassVar[str] = """
        type: imu
        site: wrist
        period_s: 1/400
        latency_s: 1 ms
        gyro: {white_density: 2e-4, bias_std: 0.003}
        accelerometer: {white_density: 2e-3, range: {low: -80, high: 80}}
    """

    type: Literal["imu"]
    measures: Inertial = ("gyro", "accelerometer")
    gyro: Imperfection = Field(default_factory=Imperfection)
    accelerometer: Imperfection = Field(default_factory=Imperfection)

    @model_validator(mode="after")
    def _measured(self) -> ImuSpec:
        only_what_is_measured(self, self.measures)
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        return at_one_site(self, name, self.measures)

    @property
    def channels(self) -> tuple[str, ...]:
        """See :attr:`DeviceSpec.channels`."""
        return tuple(f"{measure}/{axis}" for measure in self.measures for axis in "xyz")


class ForceTorqueSpec(Mounted, SensorSpec):
    """A force and torque sensor between the body it sits on and that body's parent.

    It shows the force and the torque that hold the body against everything else that acts on it and on what it
    carries, in the sensor's frame, the torque about the sensor's place: a weight that hangs still reads ``+m g`` along
    whatever points up.  To cut a body in two there, make the outer part a child body without a joint; the world has no
    parent.  The output is ``(lanes, 3)`` or ``(lanes, 6)``: x, y, z of the first measure, then of the second.

    Attributes:
        measures: ``force``, ``torque`` or both.
        force: imperfections of the force, u = N.
        torque: imperfections of the torque, u = N m.
    """

    numbers: ClassVar[frozenset[str]] = SensorSpec.numbers | {"force", "torque"}
    varying: ClassVar[frozenset[str]] = SensorSpec.varying | numbers
    streams: ClassVar[tuple[str, ...]] = stream_names(SOURCES, "force", "torque")
    episode_streams: ClassVar[tuple[str, ...]] = stream_names(EPISODE_SOURCES, "force", "torque")
    example: ClassVar[str] = """
        type: force_torque
        site: wrist
        period_s: 2 ms
        force: {white_std: 0.1, resolution: 0.05}
        torque: {white_std: 0.002}
    """

    type: Literal["force_torque"]
    measures: Wrench = ("force", "torque")
    force: Imperfection = Field(default_factory=Imperfection)
    torque: Imperfection = Field(default_factory=Imperfection)

    @model_validator(mode="after")
    def _measured(self) -> ForceTorqueSpec:
        only_what_is_measured(self, self.measures)
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        return at_one_site(self, name, self.measures)

    @property
    def channels(self) -> tuple[str, ...]:
        """See :attr:`DeviceSpec.channels`."""
        return tuple(f"{measure}/{axis}" for measure in self.measures for axis in "xyz")
