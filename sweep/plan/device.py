"""What every Device has: a clock of its own and a way for its samples to travel."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from sweep.errors import Problem
from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.component import Capability, ComponentSpec, Policy
from sweep.plan.fields import PositiveSeconds, Seconds
from sweep.plan.problems import duration_problems


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
