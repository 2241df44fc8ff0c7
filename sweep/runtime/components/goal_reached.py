"""An Interaction that ends the episode when the robot is where it should be."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.interactions import GoalReachedSpec
from sweep.plan.problems import unknown_name
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.components.ending import Bools, Ending, Floats, sensed_after, sensor_columns
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex


class GoalReached(Ending):
    """See :class:`sweep.plan.interactions.GoalReachedSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[GoalReachedSpec], context: BatchContext) -> None:
        first = specs[0]
        sensors = [f"{name}/framepos"] if first.place is not None else []
        super().__init__(name, specs, context, sensors)
        self._joints = None if first.joints is None else as_slice(context.position_columns(first.joints))
        self._place = sensor_columns(context, sensors) if sensors else None
        width = len(first.joints or ())
        self._target = np.array([_spread(spec.target, width) for spec in specs])[:, None]
        self._tolerance = np.array([_spread(spec.tolerance, width) for spec in specs])[:, None]
        self._point = np.array([spec.point_m or (0.0,) * 3 for spec in specs])[:, None]
        self._radius_squared = np.array([(spec.tolerance_m or 0.0) ** 2 for spec in specs])[:, None]

    @classmethod
    def problems(cls, spec: GoalReachedSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        problems = index.joint_problems(f"{path}.joints", spec.joints or ())
        for kind, name in (("site", spec.site), ("body", spec.body)):
            if name is not None:
                problems += unknown_name(f"{path}.{kind}", kind, [name], index.names(kind))
        return problems

    def ends(self, view: BlockView) -> Bools:
        """See :meth:`Ending.ends`."""
        there: Bools | None = None
        if self._joints is not None:
            there = np.logical_and.reduce(self._joint_errors(view) <= self._tolerance, axis=2)
        if self._place is not None:
            near = self._distances_squared(view) <= self._radius_squared
            there = near if there is None else there & near
        assert there is not None
        return self.held.enough(there, view.block.start)

    def facts(self, view: BlockView, lane: int, row: int) -> dict[str, float]:
        """How far from the goal it still was: ``joint_error`` [rad or m], ``distance_m``."""
        facts = {}
        if self._joints is not None:
            facts["joint_error"] = float(self._joint_errors(view)[lane, row].max())
        if self._place is not None:
            facts["distance_m"] = math.sqrt(self._distances_squared(view)[lane, row])
        return facts

    def _joint_errors(self, view: BlockView) -> Floats:
        assert self._joints is not None
        errors: Floats = np.abs(view.after(self._joints) - self._target)
        return errors

    def _distances_squared(self, view: BlockView) -> Floats:
        assert self._place is not None
        offsets = sensed_after(view, self._place) - self._point
        squared: Floats = (offsets * offsets).sum(axis=2)
        return squared


def _spread(values: tuple[float, ...] | None, width: int) -> Floats:
    return np.broadcast_to(np.array(values or 0.0), (width,))
