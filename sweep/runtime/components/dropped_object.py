"""An Interaction that ends the episode when an object has been dropped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.interactions import DroppedObjectSpec
from sweep.plan.problems import unknown_name
from sweep.runtime.block import BlockView
from sweep.runtime.components.ending import Bools, Ending, sensed_after, sensor_columns
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex


class DroppedObject(Ending):
    """See :class:`sweep.plan.interactions.DroppedObjectSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[DroppedObjectSpec], context: BatchContext) -> None:
        first, height = specs[0], f"{name}/framepos"
        contacts = [f"{name}/contact{number}" for number in range(len(first.held_by or ()))]
        super().__init__(name, specs, context, [height, *contacts])
        index = context.index
        self._height = None if first.min_height_m is None else int(index.sensor_columns([height])[2])
        self._contacts = sensor_columns(context, contacts) if contacts else None
        self._least = np.array([spec.min_height_m or 0.0 for spec in specs])[:, None]
        self._was_held = np.zeros((context.lanes, 1), bool)

    @classmethod
    def problems(cls, spec: DroppedObjectSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        problems = unknown_name(f"{path}.body", "body", [spec.body], index.names("body"))
        return problems + unknown_name(f"{path}.held_by", "body", spec.held_by or (), index.names("body"))

    def ends(self, view: BlockView) -> Bools:
        """See :meth:`Ending.ends`."""
        dropped: Bools | None = None
        if self._height is not None:
            dropped = sensed_after(view, slice(self._height, self._height + 1))[:, :, 0] < self._least
        if self._contacts is not None:
            lost = self.held.enough(self._unheld(view, self._contacts), view.block.start)
            dropped = lost if dropped is None else dropped | lost
        assert dropped is not None
        return dropped

    def _unheld(self, view: BlockView, contacts: slice | np.ndarray) -> Bools:
        """Whether nothing touches the object after each step that had touched it before."""
        touched: Bools = np.logical_or.reduce(sensed_after(view, contacts) > 0, axis=2)
        held: Bools = np.logical_or.accumulate(touched, axis=1) | self._was_held
        self._was_held = held[:, -1:]
        return held & ~touched
