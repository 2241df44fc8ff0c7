"""An Observer of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweep.runtime.block import BlockView
from sweep.runtime.components.own_watcher import OwnWatcher
from sweep.runtime.fault import Fault
from sweep.runtime.phases import Phase


class CustomObserver(OwnWatcher):
    """See :class:`sweep.plan.custom.CustomObserverSpec`."""

    def observe_at(self, view: BlockView, lane: int, tick: int, state: Mapping[str, Any]) -> Fault | None:
        """See :class:`sweep.runtime.domain.commit.StatefulObserver`."""
        try:
            with self._shown(view, lane, tick) as shown:
                self._objects[lane].observe(shown, state)
        except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
            return self._fault(tick, Phase.OBSERVER, error)
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
