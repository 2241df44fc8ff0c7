"""An Interaction that ends the episode when a body has fallen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.interactions import FellSpec
from sweep.plan.problems import unknown_name
from sweep.runtime.block import BlockView
from sweep.runtime.components.ending import Bools, Ending, sensed_after
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.numerics.sine import TURNS_PER_RAD, cosines_of

_Z = slice(2, 3)


class Fell(Ending):
    """See :class:`sweep.plan.interactions.FellSpec`.

    Both signs are a number that is too small: the height, and the z component of the body's z axis, which is the cosine
    of its tilt.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[FellSpec], context: BatchContext) -> None:
        limits = {}
        if specs[0].min_height_m is not None:
            limits["framepos"] = np.array([spec.min_height_m for spec in specs])
        if specs[0].max_tilt_rad is not None:
            limits["framezaxis"] = cosines_of(np.array([spec.max_tilt_rad for spec in specs]) * TURNS_PER_RAD)
        sensors = [f"{name}/{kind}" for kind in limits]
        super().__init__(name, specs, context, sensors)
        self._columns = np.concatenate([context.index.sensor_columns([sensor])[_Z] for sensor in sensors])
        self._least = np.stack(list(limits.values()), axis=1)[:, None]
        self._facts = [{"framepos": "height_m", "framezaxis": "cosine_of_tilt"}[kind] for kind in limits]

    @classmethod
    def problems(cls, spec: FellSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return unknown_name(f"{path}.body", "body", [spec.body], index.names("body"))

    def ends(self, view: BlockView) -> Bools:
        """See :meth:`Ending.ends`."""
        too_little = sensed_after(view, self._columns) < self._least
        return self.held.enough(np.logical_or.reduce(too_little, axis=2), view.block.start)

    def facts(self, view: BlockView, lane: int, row: int) -> dict[str, float]:
        """How it lay: ``height_m``, ``cosine_of_tilt``."""
        return dict(zip(self._facts, sensed_after(view, self._columns)[lane, row].tolist(), strict=True))
