"""An Observer of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sweep.errors import Problem
from sweep.plan.custom import CustomObserverSpec
from sweep.runtime.block import BlockView
from sweep.runtime.component_setup import reads_of, user_objects
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault, what_raised
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.phases import Phase
from sweep.runtime.sight import Sight
from sweep.runtime.view import lent


class CustomObserver:
    """See :class:`sweep.plan.custom.CustomObserverSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[CustomObserverSpec], context: BatchContext) -> None:
        self.name = name
        self._objects = user_objects(name, specs, context, "observe")
        self.reads = reads_of(name, self._objects[0])
        self._sight, self._index = Sight(self.reads, context), context.index

    @classmethod
    def problems(cls, spec: CustomObserverSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return []

    def observe_at(self, view: BlockView, lane: int, tick: int, state: Mapping[str, Any]) -> Fault | None:
        """See :class:`sweep.runtime.domain.StatefulObserver`."""
        try:
            with lent(self._sight.completed(view, lane, tick), self._index) as shown:
                self._objects[lane].observe(shown, state)
        except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
            return Fault(tick=tick, phase=Phase.OBSERVER, component=self.name, kind="component",
                         message=what_raised(error))  # fmt: skip
        return None

    def summary(self, lane: int) -> dict[str, float]:
        """The numbers that it kept.

        Raises:
            TypeError: the class's summary is no mapping of names to numbers.
        """
        numbers = self._objects[lane].summary() if hasattr(self._objects[lane], "summary") else {}
        try:
            return {str(name): float(value) for name, value in numbers.items()}
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"observer {self.name!r}: summary is names and numbers, not {numbers!r}") from None
