"""What the Manifest says of ActuatorDrivers: command transport, watchdog, hardware conversion."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal

from sweep.errors import Problem
from sweep.plan.clock import Grid
from sweep.plan.component import Capability, ComponentSpec, Policy
from sweep.plan.fields import Names, Numbers, PositiveSeconds, Seconds
from sweep.plan.problems import duration_problems


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
