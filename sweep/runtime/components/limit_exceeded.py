"""An Interaction that ends the episode when a joint leaves its range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.interactions import LimitExceededSpec
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.proposal import End, LaneProposal, Proposal
from sweep.runtime.reads import STATE_ONLY


class LimitExceeded:
    """See :class:`sweep.plan.interactions.LimitExceededSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    reads = STATE_ONLY

    def __init__(self, name: str, specs: Sequence[LimitExceededSpec], context: BatchContext) -> None:
        self.name = name
        self._columns = as_slice(context.position_columns(specs[0].joints))
        self._limit = per_lane_values(specs, lambda s: s.limit)[:, None, None]
        self._end = End(reason=specs[0].reason, success=specs[0].success)

    @classmethod
    def problems(cls, spec: LimitExceededSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return index.joint_problems(f"{path}.joints", spec.joints)

    def propose(self, view: BlockView) -> Iterator[LaneProposal]:
        """The first end of each lane; see :class:`sweep.runtime.domain.Interaction`."""
        exceeded = np.abs(view.after(self._columns)) > self._limit
        if not exceeded.any():
            return
        outside = exceeded.any(axis=2)
        first = outside.argmax(axis=1)
        for lane in np.flatnonzero(outside.any(axis=1)).tolist():
            yield LaneProposal(lane, view.block.start + int(first[lane]), self.name, Proposal(end=self._end))
