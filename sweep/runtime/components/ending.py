"""What all Interactions that end an episode have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.plan.interactions import EndingSpec
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.domain.held import Held, first_steps
from sweep.runtime.domain.proposal import End, LaneProposal, Proposal
from sweep.runtime.reads import SENSORS, STATE_ONLY, Reads

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Columns = slice | NDArray[np.intp]


class Ending(ABC):
    """Ends each lane at the first step after which something has been so for long enough.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
        sensors: sensors that it reads, if any.
    """

    acts_on_physics = False

    def __init__(
        self, name: str, specs: Sequence[EndingSpec], context: BatchContext, sensors: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.reads: Reads = SENSORS if sensors else STATE_ONLY
        self.held = Held(per_lane_values(specs, lambda s: context.grid.ticks(s.hold_s), np.int64))
        self._end = End(reason=specs[0].reason, success=specs[0].success)

    @abstractmethod
    def ends(self, view: BlockView) -> Bools:
        """Whether the episode ends after each step of a block, ``(lanes, length)``; called once a block, in order."""

    def facts(self, view: BlockView, lane: int, row: int) -> dict[str, float]:
        """What the trace says of the boundary that ended a lane: the one after the block's step number ``row``."""
        return {}

    def propose(self, view: BlockView) -> Iterator[LaneProposal]:
        """The first end of each lane; see :class:`sweep.runtime.domain.commit.Interaction`."""
        so, start = self.ends(view), view.block.start
        if not so.any():
            return
        for lane, tick in first_steps(so & view.alive[:, None], start):
            proposal = Proposal(facts=self.facts(view, lane, tick - start), end=self._end)
            yield LaneProposal(lane, tick, self.name, proposal)


def sensed_after(view: BlockView, columns: Columns) -> Floats:
    """Sensors at P_(t+1) of each step t of a block, ``(lanes, length, width)``."""
    found: Floats = view.derived["sensordata"][:, 1:, columns]
    return found


def sensor_columns(context: BatchContext, sensors: Sequence[str]) -> Columns:
    """Where sensors stand in sensordata."""
    return as_slice(context.index.sensor_columns(sensors))
