"""An Interaction that ends the episode when a joint leaves its range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.interactions import LimitExceededSpec
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.components.ending import Bools, Ending
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.model_index import ModelIndex


class LimitExceeded(Ending):
    """See :class:`sweep.plan.interactions.LimitExceededSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[LimitExceededSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context)
        columns = context.position_columns if specs[0].signal == "position" else context.velocity_columns
        self._columns = as_slice(columns(specs[0].joints))
        self._limit = per_lane_values(specs, lambda s: s.limit)[:, None, None]

    @classmethod
    def problems(cls, spec: LimitExceededSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return index.joint_problems(f"{path}.joints", spec.joints)

    def ends(self, view: BlockView) -> Bools:
        """See :meth:`Ending.ends`."""
        exceeded = np.abs(view.after(self._columns)) > self._limit
        return self.held.enough(np.logical_or.reduce(exceeded, axis=2), view.block.start)
