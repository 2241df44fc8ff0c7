"""An Interaction that ends the episode when a joint leaves its range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.interactions import LimitExceededSpec
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.fault import EpisodeEnd
from sweep.runtime.model_index import ModelIndex


class LimitExceeded:
    """See :class:`sweep.plan.interactions.LimitExceededSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[LimitExceededSpec], context: BatchContext) -> None:
        self.name = name
        self._columns = as_slice(context.position_columns(specs[0].joints))
        self._limit = per_lane_values(specs, lambda s: s.limit)[:, None, None]
        self._reason, self._success = specs[0].reason, specs[0].success

    @classmethod
    def problems(cls, spec: LimitExceededSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return index.joint_problems(f"{path}.joints", spec.joints)

    def evaluate(self, view: BlockView) -> dict[int, EpisodeEnd]:
        """Phase 9 of every tick of a block: the first end proposed in each lane."""
        exceeded = np.abs(view.after(self._columns)) > self._limit
        if not exceeded.any():
            return {}
        outside = exceeded.any(axis=2) & view.alive[:, None]
        first = outside.argmax(axis=1)
        return {
            int(lane): EpisodeEnd(
                tick=view.block.start + int(first[lane]),
                component=self.name,
                reason=self._reason,
                success=self._success,
            )
            for lane in np.flatnonzero(outside.any(axis=1))
        }
