"""What a device shows: the last delivered sample, or nothing yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sweep.plan.instants import LaneInstants

DELIVERED, ACQUIRED, NUMBER = range(3)
"""What a row of :attr:`DeviceOutput.sample` says."""


@dataclass(frozen=True, slots=True)
class DeviceOutput:
    """The sample that is visible now, in many lanes or in one.

    Attributes:
        values: ``(lanes, width)``, or ``(width,)`` of one lane; NaN where absent.
        sample: ``(3, lanes)``, or three integers: tick of actual delivery, tick of actual acquisition, acquisition
            number (0 for an initial acquisition); -1 where absent.
        clock: what the device's own clock says at each tick.
    """

    values: Any
    sample: Any
    clock: LaneInstants | None = None

    @property
    def valid(self) -> Any:
        """Whether anything was delivered yet, ``(lanes,)``; before that the output is absent, never zero."""
        return self.sample[DELIVERED] >= 0

    @property
    def acquired_tick(self) -> Any:
        """Tick of actual acquisition, -1 where absent."""
        return self.sample[ACQUIRED]

    @property
    def delivered_tick(self) -> Any:
        """Tick of actual delivery, -1 where absent."""
        return self.sample[DELIVERED]

    @property
    def index(self) -> Any:
        """Acquisition number, 0 for an initial acquisition; -1 where absent."""
        return self.sample[NUMBER]

    @property
    def stamp_s(self) -> Any:
        """The sample's time stamp: what the device's clock said at its acquisition [s]; NaN where absent."""
        ticks = np.atleast_1d(self.acquired_tick)
        stamps = np.where(
            self.valid, np.nan if self.clock is None else self.clock.at(ticks), np.full(len(ticks), np.nan)
        )
        return stamps if np.ndim(self.valid) else float(stamps[0])

    def lane(self, lane: int) -> DeviceOutput:
        """One lane's output, as plain values and a copied vector."""
        values = np.array(self.values[lane])
        values.flags.writeable = False
        clock = None if self.clock is None else self.clock.lane(lane)
        return DeviceOutput(values, tuple(self.sample[:, lane].tolist()), clock)

    def row(self, lane: int) -> DeviceOutput:
        """The output of one lane, as that of a batch which has no other."""
        rows = slice(lane, lane + 1)
        clock = None if self.clock is None else self.clock.lane(lane)
        return DeviceOutput(self.values[rows], self.sample[:, rows], clock)

    def substituted(self, dead: Any, by: int) -> DeviceOutput:
        """The same with lanes that are over showing another lane's sample, so that shared code meets no garbage."""
        if not dead.any():
            return self
        values = self.values.copy()
        values[dead] = values[by]
        values.flags.writeable = False
        return replace(self, values=values)
