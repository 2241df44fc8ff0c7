"""An Interaction of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sweep.errors import Problem
from sweep.plan.custom import CustomInteractionSpec
from sweep.runtime.block import BlockView
from sweep.runtime.component_setup import reads_of, user_objects
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault, what_raised
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.phases import Phase
from sweep.runtime.proposal import Proposal
from sweep.runtime.proposal_check import checked_proposal
from sweep.runtime.sight import Sight
from sweep.runtime.view import lent


class CustomInteraction:
    """See :class:`sweep.plan.custom.CustomInteractionSpec`.

    The class may say ``acts_on_physics = False``: it never defers an action, so blocks may be long.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[CustomInteractionSpec], context: BatchContext) -> None:
        self.name = name
        self._objects = user_objects(name, specs, context, "propose")
        self.reads = reads_of(name, self._objects[0])
        self.acts_on_physics = bool(getattr(self._objects[0], "acts_on_physics", True))
        self._sight, self._index = Sight(self.reads, context), context.index

    @classmethod
    def problems(cls, spec: CustomInteractionSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return []

    def propose_at(self, view: BlockView, lane: int, tick: int, state: Mapping[str, Any]) -> Proposal | Fault | None:
        """See :class:`sweep.runtime.domain.StatefulInteraction`."""
        try:
            with lent(self._sight.completed(view, lane, tick), self._index) as shown:
                proposal = checked_proposal(self._objects[lane].propose(shown, state))
            if proposal is not None and proposal.actions and not self.acts_on_physics:
                raise ValueError("it says acts_on_physics = False and defers an action")
            return proposal
        except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
            return Fault(tick=tick, phase=Phase.INTERACTION_EVALUATION, component=self.name, kind="component",
                         message=what_raised(error))  # fmt: skip
