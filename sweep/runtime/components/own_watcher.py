"""What Interactions and Observers of the user's own have in common: an object a lane, and what it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from sweep.errors import Problem
from sweep.runtime.block import BlockView
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault, what_raised
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.own.component_setup import reads_of, user_objects
from sweep.runtime.own.sight import Sight
from sweep.runtime.own.view import MujocoReadView, lent
from sweep.runtime.phases import Phase


class OwnWatcher:
    """Watches completed boundaries with a class of the user's.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.

    Attributes:
        reads: what the class declares that it reads.
    """

    def __init__(self, name: str, specs: Sequence[Any], context: BatchContext) -> None:
        self.name = name
        self._objects = user_objects(name, specs, context, specs[0].method)
        self.reads = reads_of(name, self._objects[0])
        self._sight, self._index = Sight(self.reads, context), context.index

    @classmethod
    def problems(cls, spec: Any, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return []

    def _shown(self, view: BlockView, lane: int, tick: int) -> AbstractContextManager[MujocoReadView]:
        """The boundary that a step completed, for one callback."""
        return lent(self._sight.completed(view, lane, tick), self._index)

    def _fault(self, tick: int, phase: Phase, error: Exception) -> Fault:
        """Whatever the class raises is that lane's fault."""
        return Fault(tick=tick, phase=phase, component=self.name, kind="component", message=what_raised(error))
