"""An Interaction that ends the episode when two things have touched for long enough."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.errors import Problem
from sweep.plan.interactions import ContactHeldSpec
from sweep.plan.problems import unknown_name
from sweep.runtime.block import BlockView
from sweep.runtime.components.ending import Bools, Ending, sensed_after, sensor_columns
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex


class ContactHeld(Ending):
    """See :class:`sweep.plan.interactions.ContactHeldSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[ContactHeldSpec], context: BatchContext) -> None:
        sensors = [f"{name}/contact"]
        super().__init__(name, specs, context, sensors)
        self._columns = sensor_columns(context, sensors)

    @classmethod
    def problems(cls, spec: ContactHeldSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        problems = unknown_name(f"{path}.bodies", "body", spec.bodies or (), index.names("body"))
        return problems + unknown_name(f"{path}.geoms", "geom", spec.geoms or (), index.names("geom"))

    def ends(self, view: BlockView) -> Bools:
        """See :meth:`Ending.ends`."""
        touching = sensed_after(view, self._columns)[:, :, 0] > 0
        return self.held.enough(touching, view.block.start)
