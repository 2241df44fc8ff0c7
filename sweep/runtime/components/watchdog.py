"""The watchdog of commands: what holds when none has arrived for too long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.plan.clock import Grid
from sweep.plan.drivers import DriverSpec
from sweep.runtime.components.command_transport import NEVER
from sweep.runtime.components.conversion import control_numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Watchdog:
    """Trips in each lane at the first tick where the last arrival is as old as its timeout.

    Args:
        specs: the driver's spec in each lane.
        grid: the physics grid.
        width: numbers of a command.

    Attributes:
        watches: ``(lanes,)`` lanes that have a timeout.
    """

    def __init__(self, specs: Sequence[DriverSpec], grid: Grid, width: int) -> None:
        timeouts = [spec.timeout_ticks(grid) for spec in specs]
        self.watches = np.array([timeout is not None for timeout in timeouts])
        self._timeout = np.array([NEVER if timeout is None else timeout for timeout in timeouts])[:, None]
        # A brake is applied to the effort; the command that it replaces stays what it was.
        self._replaces = np.array([spec.fallback not in ("hold", "brake") for spec in specs])[:, None]
        self._fallback = control_numbers(specs, _numbers, width)[:, None]

    @classmethod
    def of(cls, specs: Sequence[DriverSpec], grid: Grid, width: int) -> Watchdog | None:
        """The watchdog of a driver; None if no lane has a timeout."""
        return cls(specs, grid, width) if any(spec.timeout_s is not None for spec in specs) else None

    def tripped(self, ticks: Ints, since: Ints) -> Bools | None:
        """Where it has tripped, ``(lanes, ticks)``; None if nowhere.

        Args:
            ticks: ``(ticks,)``.
            since: ``(lanes, ticks)`` the tick of the last arrival; -1 before the first, and nothing trips.
        """
        tripped = (since >= 0) & (ticks - since >= self._timeout)
        return tripped if tripped.any() else None

    def watched(self, command: Floats, tripped: Bools | None) -> Floats:
        """The command, or what stands for it where it has tripped."""
        if tripped is None:
            return command
        return np.where((tripped & self._replaces)[..., None], self._fallback, command)


def _numbers(spec: DriverSpec) -> float | tuple[float, ...]:
    return 0.0 if isinstance(spec.fallback, str) else spec.fallback
