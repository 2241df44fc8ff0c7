"""What the Manifest says of sensors of the world around the robot, one class a family: contact, range, pose tracker."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sweep.plan.component import AddedSensor, ModelAdditions
from sweep.plan.fields import NonNegative, PositiveSeconds, one_or_many
from sweep.plan.imperfection import EPISODE_SOURCES, SOURCES, Imperfection, Range, in_unit, stream_names
from sweep.plan.mount import Metres, Mounted, Radians, about_y
from sweep.plan.sensors import SensorSpec, at_one_site, only_what_is_measured

Pose = Annotated[tuple[Literal["position", "orientation"], ...], BeforeValidator(one_or_many), Field(min_length=1)]
NonNegativeMetres = Annotated[float, in_unit("m"), Field(ge=0)]
PositiveMetres = Annotated[float, in_unit("m"), Field(gt=0)]
NonNegativeRadians = Annotated[float, in_unit("rad"), Field(ge=0)]

# Integer parameters of MuJoCo's contact sensor: which data (a bit each), how several contacts are reduced, how many
# are shown; and of its range finder: which data.
_FOUND, _NET_FORCE, _DISTANCE = (1, 0, 1), (2, 3, 1), (1,)


class ContactSpec(SensorSpec):
    """Contact of a body or a geom, as MuJoCo's collision detection finds it: whether there is any, or the force of it.

    The output is ``(lanes, 1)`` for ``found`` and where there is a threshold, else ``(lanes, 3)``: the net force of all
    matching contacts on the named body or geom, x, y, z of the world.

    Attributes:
        body: the body that is touched (its own geoms, not those of its children), or
        geom: the geom that is touched.
        other_body: count contacts with this body only (``world`` is the fixed scene), or
        other_geom: with this geom only.
        measures: ``found`` (1 while in contact, else 0; no imperfections), or ``force`` [N].
        threshold_n: show 1 where the force is at least this large, else 0 [N].
        force: imperfections of the force, before the threshold, u = N.
    """

    numbers: ClassVar[frozenset[str]] = SensorSpec.numbers | {"threshold_n", "force"}
    varying: ClassVar[frozenset[str]] = SensorSpec.varying | numbers
    streams: ClassVar[tuple[str, ...]] = stream_names(SOURCES, "force")
    episode_streams: ClassVar[tuple[str, ...]] = stream_names(EPISODE_SOURCES, "force")
    example: ClassVar[str] = """
        type: contact
        geom: palm
        measures: force
        threshold_n: 0.5
        period_s: 5 ms
    """

    type: Literal["contact"]
    body: str | None = None
    geom: str | None = None
    other_body: str | None = None
    other_geom: str | None = None
    measures: Literal["found", "force"] = "found"
    threshold_n: Annotated[float, in_unit("N"), Field(gt=0)] | None = None
    force: Imperfection = Field(default_factory=Imperfection)

    @model_validator(mode="after")
    def _consistent(self) -> ContactSpec:
        if (self.body is None) == (self.geom is None):
            raise ValueError("give one of: body, geom")
        if self.other_body is not None and self.other_geom is not None:
            raise ValueError("give other_body or other_geom, not both")
        if self.threshold_n is not None and self.measures == "found":
            raise ValueError("threshold_n goes with measures: force")
        only_what_is_measured(self, (self.measures,))
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        sensor = AddedSensor(
            name=f"{name}/{self.measures}",
            kind="contact",
            object_type="geom" if self.body is None else "body",
            object_name=self.body or self.geom or "",
            reference_type=None if self.other is None else "geom" if self.other_body is None else "body",
            reference_name=self.other,
            parameters=_FOUND if self.measures == "found" else _NET_FORCE,
        )
        return ModelAdditions(sensors=(sensor,))

    @property
    def channels(self) -> tuple[str, ...]:
        """See :attr:`DeviceSpec.channels`."""
        return (self.measures,)

    @property
    def other(self) -> str | None:
        """The body or geom that contacts are counted with; None for any."""
        return self.other_body or self.other_geom


class RangeSpec(Mounted, SensorSpec):
    """A range finder, or a fan of them: the distance along each beam to the nearest surface.

    A beam looks along +z of the mount; a fan spreads about its y axis, from ``-fov_rad / 2`` to ``fov_rad / 2`` (a
    positive angle turns towards +x), ends included.  Geoms of the body it sits on and invisible geoms are not seen:
    on the ``world`` it sees bodies, but not the fixed scene.  The output is ``(lanes, beams)`` [m].

    Attributes:
        beams: how many.
        fov_rad: angle between the first and the last beam, up to a turn [rad].
        min_m: the shortest distance it can show [m].
        max_m: the longest; what is farther is missed [m].
        miss_m: shown where a beam meets nothing; ``max_m`` if not given [m].
        white_std_m: standard deviation of white noise at distance 0 [m].
        white_per_m: what it grows by with distance [-].
        resolution_m: step of its values [m].
    """

    numbers: ClassVar[frozenset[str]] = SensorSpec.numbers | {
        "min_m",
        "max_m",
        "miss_m",
        "white_std_m",
        "white_per_m",
        "resolution_m",
    }
    varying: ClassVar[frozenset[str]] = SensorSpec.varying | numbers
    streams: ClassVar[tuple[str, ...]] = ("white",)
    example: ClassVar[str] = """
        type: range
        site: wrist
        beams: 5
        fov_rad: 60 deg
        max_m: 4
        white_std_m: 3 mm
        period_s: 50 ms
    """

    type: Literal["range"]
    beams: Annotated[int, Field(ge=1)] = 1
    fov_rad: Annotated[Radians, Field(ge=0, le=math.tau)] = 0.0
    min_m: NonNegativeMetres = 0.0
    max_m: PositiveMetres
    miss_m: Metres | None = None
    white_std_m: NonNegativeMetres | None = None
    white_per_m: NonNegative | None = None
    resolution_m: PositiveMetres | None = None

    @model_validator(mode="after")
    def _consistent(self) -> RangeSpec:
        if self.min_m >= self.max_m:
            raise ValueError(f"min_m must be below max_m, found {self.min_m:g} and {self.max_m:g}")
        if (self.beams > 1) != (self.fov_rad > 0):
            raise ValueError("several beams need a fov_rad, and one beam has none")
        return self

    @property
    def shown(self) -> Imperfection:
        """The limits and the step of what it shows."""
        return Imperfection(range=Range(low=self.min_m, high=self.max_m), resolution=self.resolution_m)

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        step = self.fov_rad / max(1, self.beams - 1)
        mounts = [
            self.mount(f"{name}/beam{beam}", about_y(beam * step - self.fov_rad / 2)) for beam in range(self.beams)
        ]
        sensors = tuple(
            AddedSensor(name=f"{name}/range{beam}", kind="rangefinder", object_name=site, parameters=_DISTANCE)
            for beam, (_, site) in enumerate(mounts)
        )
        return ModelAdditions(sites=tuple(site for sites, _ in mounts for site in sites), sensors=sensors)

    @property
    def channels(self) -> tuple[str, ...]:
        """See :attr:`DeviceSpec.channels`."""
        return tuple(f"range/{beam}" for beam in range(self.beams))


class PoseTrackerSpec(Mounted, SensorSpec):
    """A pose tracker (motion capture, satellite positioning): where a site or a body is in the world.

    The output is ``(lanes, 3)``, ``(lanes, 4)`` or ``(lanes, 7)``: position x, y, z [m], orientation as a unit
    quaternion (w, x, y, z) whose sign means nothing, in the order of the measures.

    Attributes:
        measures: ``position``, ``orientation`` or both.
        position_std_m: standard deviation of white noise on each coordinate [m].
        orientation_std_rad: standard deviation of a small rotation about each axis of the tracked frame [rad].
        bias_instability_m: standard deviation that a wandering offset of the position reaches, from 0 at time 0 [m].
        correlation_time_s: over which that offset forgets [s].
        outlier_probability: share of samples whose position is off by more [-].
        outlier_std_m: standard deviation of what they are off by [m].
    """

    numbers: ClassVar[frozenset[str]] = SensorSpec.numbers | {
        "position_std_m",
        "orientation_std_rad",
        "bias_instability_m",
        "correlation_time_s",
        "outlier_probability",
        "outlier_std_m",
    }
    varying: ClassVar[frozenset[str]] = SensorSpec.varying | numbers
    streams: ClassVar[tuple[str, ...]] = (
        *stream_names(("white", "bias_instability"), "position"),
        "orientation_white",
        "outlier",
        "outlier_size",
    )
    example: ClassVar[str] = """
        type: pose_tracker
        body: cup
        period_s: 1/120
        latency_s: 8 ms
        jitter: {type: uniform, high_s: 4 ms}
        drop_probability: 1 %
        position_std_m: 1 mm
    """

    type: Literal["pose_tracker"]
    measures: Pose = ("position", "orientation")
    position_std_m: NonNegativeMetres | None = None
    orientation_std_rad: NonNegativeRadians | None = None
    bias_instability_m: NonNegativeMetres | None = None
    correlation_time_s: PositiveSeconds | None = None
    outlier_probability: Annotated[NonNegative, Field(le=1)] | None = None
    outlier_std_m: NonNegativeMetres | None = None

    @model_validator(mode="after")
    def _consistent(self) -> PoseTrackerSpec:
        if (self.bias_instability_m is None) != (self.correlation_time_s is None):
            raise ValueError("bias_instability_m and correlation_time_s go together")
        if (self.outlier_probability is None) != (self.outlier_std_m is None):
            raise ValueError("outlier_probability and outlier_std_m go together")
        return self

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        return at_one_site(self, name, [_FRAME_SENSORS[measure] for measure in self.measures])

    @property
    def channels(self) -> tuple[str, ...]:
        """See :attr:`DeviceSpec.channels`."""
        axes = {"position": "xyz", "orientation": "wxyz"}
        return tuple(f"{measure}/{axis}" for measure in self.measures for axis in axes[measure])

    @property
    def position(self) -> Imperfection:
        """The imperfections of its position but for outliers."""
        return Imperfection(
            bias_instability=self.bias_instability_m,
            correlation_time_s=self.correlation_time_s,
            white_std=self.position_std_m,
        )


_FRAME_SENSORS = {"position": "framepos", "orientation": "framequat"}
