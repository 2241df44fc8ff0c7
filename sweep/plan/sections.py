"""The sections of a Manifest: model, runtime, references, controllers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from sweep.errors import Problem
from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.component import Policy
from sweep.plan.fields import (
    SHORTEST_TIMESTEP_S,
    Identifier,
    Names,
    Number,
    Numbers,
    Parameters,
    PositiveSeconds,
    Seconds,
    Section,
    Waypoints,
    one_or_many,
)
from sweep.plan.problems import duration_problems

TraceLevel = Literal["summary", "events", "full"]
"""How much of a run is kept, each level with everything of those before it."""

TRACE_LEVELS: tuple[TraceLevel, ...] = get_args(TraceLevel)


class ModelEdit(Section):
    """A change of model values that lanes may differ in, applied to the compiled model.

    Attributes:
        fields: MjModel fields, for example ``[body_mass, body_inertia]``.
        names: the model elements it concerns; None means all of that kind.
        scale: factor on the model's own values.
        value: replaces the model's values.
    """

    fields: Names
    names: Names | None = None
    scale: Number | None = None
    value: Numbers | None = None

    @model_validator(mode="after")
    def _one_change(self) -> ModelEdit:
        if (self.scale is None) == (self.value is None):
            raise ValueError("give either scale or value")
        numbers = self.value if self.value is not None else (self.scale,)
        least = min(number for number in numbers if number is not None)
        if least <= 0 and set(self.fields) & _POSITIVE:
            raise ValueError(f"a mass or an inertia stays above 0; {least:g} is not allowed")
        if least < 0 and set(self.fields) & _NOT_NEGATIVE:
            raise ValueError(f"{', '.join(self.fields)} cannot be negative; {least:g} is not allowed")
        return self


_POSITIVE = {"body_mass", "body_inertia"}
_NOT_NEGATIVE = {
    "dof_armature",
    "dof_damping",
    "dof_frictionloss",
    "geom_friction",
    "jnt_stiffness",
    "opt.density",
    "opt.viscosity",
    "tendon_damping",
    "tendon_frictionloss",
    "tendon_stiffness",
}


class ModelSpec(Section):
    """Where the robot comes from: a file, a file of an installed package, or inline XML.

    Attributes:
        file: MJCF file, found from the document's folder; inside ``package`` when that is given.
        package: an installed distribution that carries the file.
        xml: inline MJCF.
        keyframe: the model's keyframe that an episode starts from.
        initial: starting position of joints by name [rad or m], over the keyframe's.
        motors: servos that become plain motors at load (names or patterns such as ``*_joint*``); their force range
            becomes the control range.
        visual: keep meshes and textures that only a renderer needs.
        edits: changes of model values, by an id of your choice.
    """

    varying: ClassVar[frozenset[str]] = frozenset({"edits", "initial", "keyframe"})

    file: str | None = None
    package: str | None = None
    xml: str | None = None
    keyframe: str | None = None
    initial: dict[str, Number] = Field(default_factory=dict)
    motors: Names | None = None
    visual: bool = False
    edits: dict[Identifier, ModelEdit] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source(self) -> ModelSpec:
        if (self.file is None) == (self.xml is None):
            raise ValueError("give one of: file (with package if it lies in one), or xml")
        if self.package is not None and self.file is None:
            raise ValueError("package needs file, a path inside the package")
        return self


class RuntimeSpec(Section):
    """How long, how fine, under which seed; all but timestep and duration leave the Plan what it is.

    Attributes:
        mode: the host's use; the simulated bits are the same in all.
        episode_seed: base of all randomness when no seed is given.
        timestep_s: length of one step [s]; the model's own if not given.
        duration_s: length of a run [s].
        max_block: longest block of ticks executed at once; it changes speed, never bits.
        derived_state: ``lazy`` computes what depends on forces when someone reads it, ``eager`` at every boundary; it
            changes speed, never bits.
        trace: ``summary`` keeps nothing but the record, ``events`` also every sample, command, application and domain
            event, ``full`` also the state, the controls and the sensors of every boundary; it never changes bits.
        unbatched: controllers that are not fit to compute many lanes at once, and why: each lane gets an object of its
            own, which is slower and gives the numbers that the lane has alone.
        max_lanes: most runs that are simulated in one call; 1 where a component's numbers depend on its neighbours.
    """

    mode: Literal["unbounded", "realtime_paced", "deterministic_ci", "rendered", "operator_training"] = "unbounded"
    episode_seed: Annotated[int, Field(ge=0, lt=2**64)] = 0
    timestep_s: Annotated[PositiveSeconds, Field(ge=SHORTEST_TIMESTEP_S)] | None = None
    duration_s: PositiveSeconds = 1.0
    max_block: Annotated[int, Field(ge=1)] | None = None
    derived_state: Literal["lazy", "eager"] = "lazy"
    trace: TraceLevel = "summary"
    unbatched: dict[Identifier, str] = Field(default_factory=dict)
    max_lanes: Annotated[int, Field(ge=1)] | None = None


class ReferenceSpec(Section):
    """A reference trajectory through waypoints, by minimum-jerk segments from rest to rest.

    Attributes:
        joints: the joints it is for.
        waypoints: one row per waypoint, one column per joint [rad or m].
        segment_s: duration of each segment [s].
        repeat: go back to the first waypoint and start over; otherwise stay at the last.
    """

    type: Literal["minimum_jerk"]
    joints: Names
    waypoints: Waypoints
    segment_s: PositiveSeconds
    repeat: bool = True

    @model_validator(mode="after")
    def _rectangular(self) -> ReferenceSpec:
        for index, row in enumerate(self.waypoints):
            if len(row) != len(self.joints):
                raise ValueError(f"waypoint {index} has {len(row)} numbers for {len(self.joints)} joints")
        return self


class ControllerSpec(Section):
    """A controller: outside the Instance, due on its own schedule, heard through the mailbox.

    Attributes:
        class_: ``my_pkg.my_module:MyController``.
        period_s: control period [s].
        phase_s: offset of its schedule [s].
        quantization: ``next_boundary`` or ``strict``.
        compute_latency_s: from reading to commit [s]; at least one tick passes.
        inputs: devices it reads.
        outputs: drivers it commands.
        references: reference trajectories it follows.
        parameters: handed to it; numbers may differ between lanes.
        files: files handed to it by a name of its choosing, found from the document's folder; their content is part of
            the Plan.
    """

    varying: ClassVar[frozenset[str]] = frozenset({"parameters", "compute_latency_s", "period_s", "phase_s"})

    class_: Annotated[str, Field(alias="class", pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
    period_s: PositiveSeconds
    phase_s: Seconds = 0.0
    quantization: Policy = "next_boundary"
    compute_latency_s: Seconds = 0.0
    inputs: Names
    outputs: Names
    references: Annotated[tuple[str, ...], BeforeValidator(one_or_many)] = ()
    parameters: Parameters = Field(default_factory=dict)
    files: dict[Identifier, str] = Field(default_factory=dict)

    def schedule(self, grid: Grid, name: str) -> GridSchedule:
        """When it is due, on the grid."""
        return GridSchedule(grid, self.period_s, self.phase_s, self.quantization, name=f"controllers.{name}.period_s")

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """A period or phase that does not fit the grid."""
        return duration_problems(f"controllers.{name}.period_s", partial(self.schedule, grid, name))
