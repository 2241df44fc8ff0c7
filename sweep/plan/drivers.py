"""What the Manifest says of ActuatorDrivers, one class a family.

A command passes these stages, always in this order; a stage whose parameters are neutral is left out::

    transport      command_latency_s, jitter, loss, ordering, command_period_s
    watchdog       timeout_s, fallback (before the first arrival: initial)
    dead band      dead_band
    resolution     resolution
    slew           slew_per_s, or slew_up_per_s and slew_down_per_s
    lag            lag_s
    servo law      kp, kd                                        (servo)
    strength       strength
    gearbox        efficiency, back_efficiency                   (motor)
    torque-speed   stall_torque, no_load_speed, continuous_torque (motor)
    limits         limit or effort_limit, and the actuator's own control range

Where a field has one number for all controls, a list may give one for each.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, model_validator

from sweep.errors import Problem
from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.component import Capability, Policy
from sweep.plan.fields import Names, Numbers, PositiveSeconds, Seconds
from sweep.plan.problems import duration_problems
from sweep.plan.transport import TransportSpec


def _at_least_0(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if min(numbers) < 0:
        raise ValueError(f"must be at least 0, not {min(numbers):g}")
    return numbers


def _above_0(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if min(numbers) <= 0:
        raise ValueError(f"must be above 0, not {min(numbers):g}")
    return numbers


def _share(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if max(numbers) > 1:
        raise ValueError(f"must be at most 1, not {max(numbers):g}")
    return _above_0(numbers)


Magnitudes = Annotated[Numbers, AfterValidator(_at_least_0)]
"""One number of at least zero, or a list of them."""

Positives = Annotated[Numbers, AfterValidator(_above_0)]
"""One number above zero, or a list of them."""

Shares = Annotated[Numbers, AfterValidator(_share)]
"""One number above zero and up to one, or a list of them."""


class DriverSpec(TransportSpec):
    """What every driver has: a way for commands to come, a watchdog, and what turns a command into a control.

    Attributes:
        actuators: the actuators it owns, in the order of the command's entries.
        command_latency_s: from a command's commit to its arrival [s].
        latency_quantization: ``next_boundary``, or ``strict`` to refuse a latency off the grid.
        command_period_s: what has arrived is taken up at the next multiple of this [s] (zero-order hold), the first one
            period in; at once if not given.
        initial: stands for the command before the first arrival; zeros if not given.
        timeout_s: the watchdog trips at the first boundary where the last arrival is this old [s].
        fallback: what stands for the command while tripped: ``hold`` the last one, ``zero``, or numbers; a driver of
            efforts may also ``brake``.
        resolution: step of the command, whose nearest multiple is passed on; 0 is none.
        slew_per_s: most that the command changes [unit/s], or
        slew_up_per_s: most that it rises [unit/s], and
        slew_down_per_s: most that it falls [unit/s]; a direction that is not given has no limit.
        lag_s: time constant of a first-order lag [s]; 0 is none.
        strength: factor on the effort; of MuJoCo's own servos, on their gains.
    """

    capability: ClassVar[Capability] = Capability.ACTUATOR_DRIVER
    per_control: ClassVar[frozenset[str]] = frozenset(
        {"initial", "fallback", "resolution", "slew_per_s", "slew_up_per_s", "slew_down_per_s", "strength"}
    )
    """Fields with one number for all controls or one for each."""
    varying: ClassVar[frozenset[str]] = (
        TransportSpec.varying
        | per_control
        | {"command_latency_s", "latency_quantization", "command_period_s", "timeout_s", "lag_s"}
    )

    actuators: Names
    command_latency_s: Seconds = 0.0
    latency_quantization: Policy = "next_boundary"
    command_period_s: PositiveSeconds | None = None
    initial: Numbers | None = None
    timeout_s: PositiveSeconds | None = None
    fallback: Literal["hold", "zero", "brake"] | Numbers = "zero"
    resolution: Magnitudes = (0.0,)
    slew_per_s: Positives | None = None
    slew_up_per_s: Positives | None = None
    slew_down_per_s: Positives | None = None
    lag_s: Seconds = 0.0
    strength: Magnitudes = (1.0,)

    @model_validator(mode="after")
    def _one_slew(self) -> DriverSpec:
        if self.slew_per_s is not None and (self.slew_up_per_s or self.slew_down_per_s):
            raise ValueError("give either slew_per_s, or slew_up_per_s and slew_down_per_s")
        return self

    def latency_ticks(self, grid: Grid) -> int:
        """Ticks from commit to arrival, without jitter."""
        return grid.ticks(self.command_latency_s, self.latency_quantization)

    def timeout_ticks(self, grid: Grid) -> int | None:
        """Age [ticks] at which the watchdog trips; None without one."""
        return None if self.timeout_s is None else grid.ticks(self.timeout_s)

    def command_schedule(self, grid: Grid, name: str) -> GridSchedule | None:
        """When commands are taken up; None if whenever they arrive."""
        path = f"components.{name}.command_period_s"
        return None if self.command_period_s is None else GridSchedule(grid, self.command_period_s, name=path)

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """See :meth:`ComponentSpec.grid_problems`."""
        return [
            *duration_problems(f"components.{name}.command_latency_s", partial(self.latency_ticks, grid)),
            *duration_problems(f"components.{name}.command_period_s", partial(self.command_schedule, grid, name)),
        ]


class EffortSpec(DriverSpec):
    """What drivers have that command efforts [N m, on a slide joint N].

    Attributes:
        dead_band: commands up to this magnitude act as zero.
        dead_band_jump: whether a larger one acts in full, instead of by what it exceeds the dead band.
        brake_damping: effort against the joint's velocity while ``fallback: brake`` holds [N m s/rad, N s/m].
    """

    per_control: ClassVar[frozenset[str]] = DriverSpec.per_control | {"dead_band", "brake_damping"}
    varying: ClassVar[frozenset[str]] = DriverSpec.varying | per_control

    dead_band: Magnitudes = (0.0,)
    dead_band_jump: bool = False
    brake_damping: Magnitudes | None = None

    @property
    def brakes(self) -> bool:
        """Whether its fallback is to brake."""
        return self.fallback == "brake"

    @model_validator(mode="after")
    def _brake_has_damping(self) -> EffortSpec:
        if self.brakes and self.brake_damping is None:
            raise ValueError("fallback: brake needs brake_damping, the effort per velocity that it brakes with")
        return self


class TorqueSpec(EffortSpec):
    """A drive whose commands are the actuators' controls, whatever kind of actuator they are.

    Attributes:
        limit: largest magnitude passed on (unit of the control); the actuator's own control range always holds too.
    """

    per_control: ClassVar[frozenset[str]] = EffortSpec.per_control | {"limit"}
    varying: ClassVar[frozenset[str]] = EffortSpec.varying | per_control
    example: ClassVar[str] = """
        type: torque
        actuators: [shoulder_motor, elbow_motor]
        command_latency_s: 1 ms
        limit: [40, 20]
        timeout_s: 50 ms
    """

    type: Literal["torque"]
    limit: Magnitudes | None = None


class ServoSpec(EffortSpec):
    """A position servo in software on motors: ``kp * (command - position) - kd * velocity``.

    It reads the joints' true state every tick.  Where the model's own position servos will do, prefer ``position``.

    Attributes:
        kp: effort per position error [N m/rad, N/m].
        kd: effort per velocity [N m s/rad, N s/m].
        effort_limit: largest effort [N m, N]; the actuator's own control range always holds too.
        servo_period_s: how often the law is evaluated, from tick 0 on [s]; every tick if not given.
        dead_band: errors of position up to this act as zero [rad, m].
        fallback: what stands for the command while tripped: ``hold`` the last one, ``zero``, ``brake``, or positions.
    """

    per_control: ClassVar[frozenset[str]] = EffortSpec.per_control | {"kp", "kd", "effort_limit"}
    varying: ClassVar[frozenset[str]] = EffortSpec.varying | per_control | {"servo_period_s"}
    example: ClassVar[str] = """
        type: servo
        actuators: [shoulder_motor, elbow_motor]
        kp: [300, 200]
        kd: 8
        servo_period_s: 2 ms
        command_latency_s: 1 ms
    """

    type: Literal["servo"]
    kp: Magnitudes
    kd: Magnitudes = (0.0,)
    effort_limit: Magnitudes | None = None
    servo_period_s: PositiveSeconds | None = None
    fallback: Literal["hold", "zero", "brake"] | Numbers = "hold"

    def servo_schedule(self, grid: Grid, name: str) -> GridSchedule | None:
        """When the law is evaluated, beside tick 0; None if every tick."""
        path = f"components.{name}.servo_period_s"
        return None if self.servo_period_s is None else GridSchedule(grid, self.servo_period_s, name=path)

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """See :meth:`ComponentSpec.grid_problems`."""
        path = f"components.{name}.servo_period_s"
        return super().grid_problems(grid, name) + duration_problems(path, partial(self.servo_schedule, grid, name))


class MotorSpec(EffortSpec):
    """A motor behind a gearbox, whose torque falls with speed.  Commands are efforts at the joint.

    A torque that drives the motion is at most ``stall_torque * (1 - speed / no_load_speed)`` at the shaft, and none at
    all beyond the no-load speed; every torque, a braking one too, is at most ``continuous_torque``.

    Attributes:
        stall_torque: at standstill, at the shaft [N m, N].
        no_load_speed: where no torque is left, at the shaft [rad/s, m/s].
        continuous_torque: largest torque at the shaft [N m, N]; the stall torque if not given.
        gear_ratio: turns of the shaft per turn of the joint.
        efficiency: part of a driving torque that reaches the joint.
        back_efficiency: part of a braking load that reaches the motor; the gearbox takes the rest.
    """

    per_control: ClassVar[frozenset[str]] = EffortSpec.per_control | {
        "stall_torque",
        "no_load_speed",
        "continuous_torque",
        "gear_ratio",
        "efficiency",
        "back_efficiency",
    }
    varying: ClassVar[frozenset[str]] = EffortSpec.varying | per_control
    example: ClassVar[str] = """
        type: motor
        actuators: elbow_motor
        stall_torque: 0.6
        no_load_speed: 500
        gear_ratio: 50
        efficiency: 80 %
        lag_s: 2 ms
    """

    type: Literal["motor"]
    stall_torque: Positives
    no_load_speed: Positives
    continuous_torque: Positives | None = None
    gear_ratio: Positives = (1.0,)
    efficiency: Shares = (1.0,)
    back_efficiency: Shares = (1.0,)
