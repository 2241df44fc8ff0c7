"""How a component declares itself: its capability, schedules, noise streams and claims.

A component's *spec* is what the Manifest says of it.  Specs are frozen values without any simulation
in them; the runtime builds the live part from them (one object for all lanes of a batch).
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from sweep.errors import Problem
from sweep.plan.claims import StateClaim
from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.fields import Names, NonNegative, Number, Numbers, PositiveSeconds, Seconds, Section, one_or_many
from sweep.plan.problems import duration_problems

Policy = Literal["next_boundary", "strict"]
Measures = Annotated[tuple[Literal["position", "velocity"], ...], BeforeValidator(one_or_many), Field(min_length=1)]


class Capability(StrEnum):
    """What the phases call."""

    DEVICE = "device"
    ACTUATOR_DRIVER = "actuator_driver"
    PRESCRIBED_STATE = "prescribed_state"
    INTERACTION = "interaction"
    OBSERVER = "observer"


class ComponentSpec(Section):
    """What the Manifest says of one component.

    Class attributes:
        capability: what the phases call it for.
        varying: fields that may differ between lanes of one batch; all others are part of the layout.
        streams: names of its noise streams with a draw for each sample.
        episode_streams: names of those with one draw for the whole episode.
    """

    capability: ClassVar[Capability]
    varying: ClassVar[frozenset[str]] = frozenset()
    streams: ClassVar[tuple[str, ...]] = ()
    episode_streams: ClassVar[tuple[str, ...]] = ()

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """Every duration that does not fit the grid: a period below the timestep, or off the grid under ``strict``."""
        return []

    def claims(self, name: str) -> tuple[StateClaim, ...]:
        """The state that this component holds authority over."""
        return ()

    def structure(self) -> dict[str, Any]:
        """What lanes of one batch must share."""
        return self.model_dump(mode="json", exclude=set(self.varying))


class DeviceSpec(ComponentSpec):
    """Timing that every sensor has: when it acquires, and how long a sample travels.

    Attributes:
        period_s: acquisition period [s], at least one timestep.
        phase_s: offset of the schedule [s], below the period; 0 first samples one whole period in.
        latency_s: from actual acquisition to delivery [s]; data is never younger than this.
        initial_acquisition: one more sample at tick 0.
        quantization: ``next_boundary``, or ``strict`` to refuse a period or phase off the grid.
        latency_quantization: the same for the latency.
    """

    capability: ClassVar[Capability] = Capability.DEVICE
    varying: ClassVar[frozenset[str]] = frozenset(
        {"period_s", "phase_s", "latency_s", "quantization", "latency_quantization"}
    )

    period_s: PositiveSeconds
    phase_s: Seconds = 0.0
    latency_s: Seconds = 0.0
    initial_acquisition: bool = False
    quantization: Policy = "next_boundary"
    latency_quantization: Policy = "next_boundary"

    def schedule(self, grid: Grid, name: str) -> GridSchedule:
        """When it acquires, on the grid."""
        return GridSchedule(grid, self.period_s, self.phase_s, self.quantization, name=f"components.{name}.period_s")

    def latency_ticks(self, grid: Grid) -> int:
        """Ticks from actual acquisition to delivery."""
        return grid.ticks(self.latency_s, self.latency_quantization)

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """See :meth:`ComponentSpec.grid_problems`."""
        return [
            *duration_problems(f"components.{name}.period_s", partial(self.schedule, grid, name)),
            *duration_problems(f"components.{name}.latency_s", partial(self.latency_ticks, grid)),
        ]


class EncoderSpec(DeviceSpec):
    """Joint encoders: position, velocity or both, of any number of joints.

    The output is ``(lanes, width)``: the first measure of all joints in their order, then the second.

    Attributes:
        joints: hinge or slide joints.
        measures: ``position``, ``velocity`` or both.
        white_std: standard deviation of white noise on positions [rad or m].
        velocity_white_std: the same on velocities [rad/s or m/s].
        bias_std: standard deviation of an offset of positions that an episode keeps: how well it was zeroed [rad or m].
        noise_scale: factor on all of them, to sweep the noise as a whole.
    """

    varying: ClassVar[frozenset[str]] = DeviceSpec.varying | {
        "white_std",
        "velocity_white_std",
        "bias_std",
        "noise_scale",
    }
    streams: ClassVar[tuple[str, ...]] = ("white",)
    episode_streams: ClassVar[tuple[str, ...]] = ("bias",)

    type: Literal["encoder"]
    joints: Names
    measures: Measures = ("position",)
    white_std: NonNegative = 0.0
    velocity_white_std: NonNegative = 0.0
    bias_std: NonNegative = 0.0
    noise_scale: NonNegative = 1.0


class TorqueSpec(ComponentSpec):
    """A drive that passes commands to actuators: transport, limits, watchdog.

    Attributes:
        actuators: the actuators it owns, in the order of the command's entries.
        command_latency_s: from a command's commit to its arrival [s].
        limit: largest magnitude passed on, one for all or one each (unit of the control); the actuator's own
            control range always holds too.
        initial: applied before the first arrival; zeros if not given.
        timeout_s: the watchdog trips at the first boundary where the last arrival is this old [s].
        fallback: what is applied while tripped: ``hold`` the last command, ``zero``, or numbers.
    """

    capability: ClassVar[Capability] = Capability.ACTUATOR_DRIVER
    varying: ClassVar[frozenset[str]] = frozenset(
        {"command_latency_s", "latency_quantization", "limit", "initial", "timeout_s", "fallback"}
    )

    type: Literal["torque"]
    actuators: Names
    command_latency_s: Seconds = 0.0
    latency_quantization: Policy = "next_boundary"
    limit: Numbers | None = None
    initial: Numbers | None = None
    timeout_s: PositiveSeconds | None = None
    fallback: Literal["hold", "zero"] | Numbers = "zero"

    def latency_ticks(self, grid: Grid) -> int:
        """Ticks from commit to arrival."""
        return grid.ticks(self.command_latency_s, self.latency_quantization)

    def timeout_ticks(self, grid: Grid) -> int | None:
        """Age [ticks] at which the watchdog trips; None without one."""
        return None if self.timeout_s is None else grid.ticks(self.timeout_s)

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """See :meth:`ComponentSpec.grid_problems`."""
        return duration_problems(f"components.{name}.command_latency_s", partial(self.latency_ticks, grid))


class LimitExceededSpec(ComponentSpec):
    """Ends the episode at the first completed boundary where a joint's position leaves ``[-limit, limit]``.

    Attributes:
        joints: hinge or slide joints; any one of them ends it.
        limit: largest magnitude allowed [rad or m].
        reason: what the outcome says, for example ``fell``.
        success: whether that is a success.
    """

    capability: ClassVar[Capability] = Capability.INTERACTION
    varying: ClassVar[frozenset[str]] = frozenset({"limit"})

    type: Literal["limit_exceeded"]
    joints: Names
    limit: Annotated[Number, Field(gt=0)]
    reason: Annotated[str, Field(min_length=1)] = "limit_exceeded"
    success: bool = False


AnyComponent = Annotated[EncoderSpec | TorqueSpec | LimitExceededSpec, Field(discriminator="type")]
"""Every built-in component."""
