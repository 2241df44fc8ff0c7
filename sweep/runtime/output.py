"""What a device shows: the last delivered sample, or nothing yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sweep.plan.instants import LaneInstants


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOutput:
    """The sample that is visible now.  For many lanes every attribute has the lane as its first axis.

    Attributes:
        valid: whether anything was delivered yet; before that the output is absent, never zero.
        values: ``(lanes, width)``, or ``(width,)`` of one lane; NaN where absent.
        acquired_tick: tick of actual acquisition, -1 where absent.
        delivered_tick: tick of actual delivery, -1 where absent.
        index: acquisition number, 0 for an initial acquisition; -1 where absent.
        clock: what the device's own clock says at each tick.
    """

    valid: Any
    values: Any
    acquired_tick: Any
    delivered_tick: Any
    index: Any
    clock: LaneInstants | None = None

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
        return DeviceOutput(
            valid=bool(self.valid[lane]),
            values=values,
            acquired_tick=int(self.acquired_tick[lane]),
            delivered_tick=int(self.delivered_tick[lane]),
            index=int(self.index[lane]),
            clock=None if self.clock is None else self.clock.lane(lane),
        )

    def row(self, lane: int) -> DeviceOutput:
        """The output of one lane, as that of a batch which has no other."""
        rows = slice(lane, lane + 1)
        return DeviceOutput(
            valid=self.valid[rows],
            values=self.values[rows],
            acquired_tick=self.acquired_tick[rows],
            delivered_tick=self.delivered_tick[rows],
            index=self.index[rows],
            clock=None if self.clock is None else self.clock.lane(lane),
        )

    def substituted(self, dead: Any, by: int) -> DeviceOutput:
        """The same with lanes that are over showing another lane's sample, so that shared code meets no garbage."""
        if not dead.any():
            return self
        values = self.values.copy()
        values[dead] = values[by]
        values.flags.writeable = False
        return replace(self, values=values)
