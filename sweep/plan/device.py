"""What every Device has: a schedule of its own, a clock of its own, and a way for its samples to travel."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from sweep.errors import Problem
from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.component import Capability, Policy
from sweep.plan.fields import PositiveSeconds, Seconds
from sweep.plan.problems import duration_problems
from sweep.plan.transport import TransportSpec
from sweep.plan.units import exact_seconds, quantity


def _ppm(value: Any) -> Any:
    return quantity(value, "ppm") if isinstance(value, str) else value


SignedSeconds = Annotated[float, BeforeValidator(lambda value: float(exact_seconds(value)))]
"""A time that may be negative [s]: a number, or text such as ``-7 ms``."""

SkewPpm = Annotated[float, BeforeValidator(_ppm), Field(gt=-1e6)]
"""A relative rate in parts per million: a number, or text such as ``20 ppm``."""


class DeviceSpec(TransportSpec):
    """Timing that every sensor has: when it acquires, how long a sample travels, what its clock says.

    Attributes:
        period_s: acquisition period [s], at least one timestep.
        phase_s: offset of the schedule [s], below the period; 0 first samples one whole period in.
        latency_s: from actual acquisition to delivery [s]; data is never younger than this.
        initial_acquisition: one more sample at tick 0.
        quantization: ``next_boundary``, or ``strict`` to refuse a period or phase off the grid.
        latency_quantization: the same for the latency.
        clock_offset_s: what the device's clock says at time 0 [s]; it may be negative.
        clock_skew_ppm: how much too fast the device's clock runs [parts per million].  The clock stamps samples; when
            they are acquired and how they travel is counted in true time.
        enabled: a disabled device acquires and draws its noise as ever, but nothing of it is delivered.
    """

    capability: ClassVar[Capability] = Capability.DEVICE
    varying: ClassVar[frozenset[str]] = TransportSpec.varying | {
        "period_s",
        "phase_s",
        "latency_s",
        "quantization",
        "latency_quantization",
        "clock_offset_s",
        "clock_skew_ppm",
        "enabled",
    }

    period_s: PositiveSeconds
    phase_s: Seconds = 0.0
    latency_s: Seconds = 0.0
    initial_acquisition: bool = False
    quantization: Policy = "next_boundary"
    latency_quantization: Policy = "next_boundary"
    clock_offset_s: SignedSeconds = 0.0
    clock_skew_ppm: SkewPpm = 0.0
    enabled: bool = True

    def schedule(self, grid: Grid, name: str) -> GridSchedule:
        """When it acquires, on the grid."""
        return GridSchedule(grid, self.period_s, self.phase_s, self.quantization, name=f"components.{name}.period_s")

    def latency_ticks(self, grid: Grid) -> int:
        """Ticks from actual acquisition to delivery, without jitter."""
        return grid.ticks(self.latency_s, self.latency_quantization)

    def stamped(self, interval: Fraction) -> tuple[Fraction, Fraction]:
        """What its clock makes of instants ``k * interval`` [s]: the interval it shows, and the offset it adds."""
        rate = 1 + exact_seconds(self.clock_skew_ppm) / 10**6
        return interval * rate, exact_seconds(self.clock_offset_s)

    @property
    def channels(self) -> tuple[str, ...]:
        """What the numbers of a sample are called, in their order; empty where nobody knows."""
        return ()

    @property
    def true_clock(self) -> bool:
        """Whether its clock is right."""
        return self.clock_offset_s == 0.0 and self.clock_skew_ppm == 0.0

    @property
    def lossless(self) -> bool:
        """Whether every sample is delivered."""
        return self.enabled and "dropout" not in self.transport_streams

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """See :meth:`ComponentSpec.grid_problems`."""
        return [
            *duration_problems(f"components.{name}.period_s", partial(self.schedule, grid, name)),
            *duration_problems(f"components.{name}.latency_s", partial(self.latency_ticks, grid)),
        ]
