"""An Interaction of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sweep.plan.custom import CustomInteractionSpec
from sweep.runtime.block import BlockView
from sweep.runtime.components.own_watcher import OwnWatcher
from sweep.runtime.context import BatchContext
from sweep.runtime.domain.check import checked_proposal
from sweep.runtime.domain.proposal import Proposal
from sweep.runtime.fault import Fault
from sweep.runtime.phases import Phase


class CustomInteraction(OwnWatcher):
    """See :class:`sweep.plan.custom.CustomInteractionSpec`.

    The class may say ``acts_on_physics = False``: it never defers an action, so blocks may be long.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[CustomInteractionSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context)
        self.acts_on_physics = bool(getattr(self._objects[0], "acts_on_physics", True))

    def propose_at(self, view: BlockView, lane: int, tick: int, state: Mapping[str, Any]) -> Proposal | Fault | None:
        """See :class:`sweep.runtime.domain.commit.StatefulInteraction`."""
        try:
            with self._shown(view, lane, tick) as shown:
                proposal = checked_proposal(self._objects[lane].propose(shown, state))
            if proposal is not None and proposal.actions and not self.acts_on_physics:
                raise ValueError("it says acts_on_physics = False and defers an action")
            return proposal
        except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
            return self._fault(tick, Phase.INTERACTION_EVALUATION, error)
