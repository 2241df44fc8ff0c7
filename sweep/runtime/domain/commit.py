"""The domain of every lane: committed state, transactions, and actions waiting for their boundary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Protocol

import xxhash

from sweep.digest import canonical_json
from sweep.runtime.block import BlockView
from sweep.runtime.domain.deferred import DeferredActions, Refusal, resource_of_action
from sweep.runtime.domain.proposal import Deferred, LaneProposal, Proposal
from sweep.runtime.fault import EpisodeEnd, Fault, Stop
from sweep.runtime.phases import Phase
from sweep.runtime.tracing.trace import TraceEvent


class Interaction(Protocol):
    """Phase 9: reads completed boundaries and proposes."""

    name: str

    def propose(self, view: BlockView) -> Iterable[LaneProposal]:
        """Everything proposed in a block, in tick order within a lane; the domain drops what comes after a stop."""


class StatefulInteraction(Protocol):
    """Phase 9 for an Interaction that reads committed domain state, so it is asked boundary by boundary."""

    name: str

    def propose_at(self, view: BlockView, lane: int, tick: int, state: Mapping[str, Any]) -> Proposal | Fault | None:
        """What it proposes on the completed boundary of step ``tick``."""


class StatefulObserver(Protocol):
    """Phase 11 for an Observer that looks at committed domain state."""

    name: str

    def observe_at(self, view: BlockView, lane: int, tick: int, state: Mapping[str, Any]) -> Fault | None:
        """Look at the completed boundary of step ``tick`` and the state that the step committed."""


class Domain:
    """Phases 9 and 10 of all lanes, and 11 for Observers that look at what was committed.

    The proposals of a lane's step are one transaction: all are committed, or none, and then the lane is faulted.

    Args:
        lanes: number of lanes.
        actions: where physical actions wait.
        interactions: by id.
        observers: by id.
        keep_events: whether to remember what was committed, for traces.
    """

    def __init__(self, lanes: int, actions: DeferredActions, interactions: Mapping[str, Any],
                 observers: Mapping[str, StatefulObserver], *, keep_events: bool) -> None:  # fmt: skip
        self._actions = actions
        ordered = [interactions[name] for name in sorted(interactions)]
        self._scans: list[Interaction] = [i for i in ordered if hasattr(i, "propose")]
        self._stateful: list[StatefulInteraction] = [i for i in ordered if not hasattr(i, "propose")]
        self._by_boundary = bool(self._stateful or observers)
        self._observers = [observers[name] for name in sorted(observers)]
        self._states: list[Mapping[str, Any]] = [MappingProxyType({}) for _ in range(lanes)]
        self._hashes: dict[int, Any] = {}
        self._events: list[list[tuple[int, str, str, Mapping[str, Any]]]] | None = (
            [[] for _ in range(lanes)] if keep_events else None
        )

    def state(self, lane: int) -> Mapping[str, Any]:
        """Committed domain state of a lane."""
        return self._states[lane]

    def evaluate(self, view: BlockView, faults: Mapping[int, Stop]) -> dict[int, Stop]:
        """Evaluate the Interactions over a block and commit step by step; returns how each stopped lane stopped."""
        stops = dict(faults)
        if not self._scans and not self._by_boundary:
            return stops
        proposed: dict[tuple[int, int], list[LaneProposal]] = {}
        for interaction in self._scans:
            for proposal in interaction.propose(view):
                if view.alive[proposal.lane]:
                    proposed.setdefault((proposal.tick, proposal.lane), []).append(proposal)
        if not proposed and not self._by_boundary:
            return stops
        for tick, lane in self._moments(view, proposed):
            if lane in stops and not _reaches(stops[lane], tick):
                continue
            stop = self._settle(view, lane, tick, proposed.get((tick, lane), []))
            if stop is not None:
                stops[lane] = stop
        return stops

    def digest(self, lane: int) -> bytes | None:
        """Digest of everything committed in a lane; None if nothing was."""
        found: bytes | None = self._hashes[lane].digest() if lane in self._hashes else None
        return found

    def events(self, lane: int, episode: int) -> Iterator[TraceEvent]:
        """What was committed in a lane: facts, state changes and deferred actions."""
        for tick, kind, component, data in self._events[lane] if self._events is not None else ():
            yield TraceEvent(kind=kind, episode_index=episode, tick=tick, component=component, data=data)

    def _moments(self, view: BlockView, proposed: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
        if not self._by_boundary:
            return sorted(proposed)
        lanes = [lane for lane in range(len(view.alive)) if view.alive[lane]]
        return ((tick, lane) for tick in range(view.block.start, view.block.stop) for lane in lanes)

    def _settle(self, view: BlockView, lane: int, tick: int, proposals: Sequence[LaneProposal]) -> Stop | None:
        """Phases 9 to 11 of one lane's step."""
        proposals = list(proposals)
        for interaction in self._stateful:
            answer = interaction.propose_at(view, lane, tick, self.state(lane))
            if isinstance(answer, Fault):
                return answer
            if answer is not None:
                proposals.append(LaneProposal(lane, tick, interaction.name, answer))
        proposals.sort(key=lambda p: p.component)
        stop = self._commit(lane, tick, proposals) if proposals else None
        if isinstance(stop, Fault):
            return stop
        fault = self._observe(view, lane, tick)
        return stop or fault  # an end comes before what Observers make of it

    def _observe(self, view: BlockView, lane: int, tick: int) -> Fault | None:
        faults = [observer.observe_at(view, lane, tick, self.state(lane)) for observer in self._observers]
        return next((fault for fault in faults if fault is not None), None)

    def _commit(self, lane: int, tick: int, proposals: Sequence[LaneProposal]) -> Stop | None:
        conflict = _state_conflict(proposals) or self._action_problem(proposals)
        if conflict is not None:
            component, message = conflict
            return Fault(tick=tick, phase=Phase.DOMAIN_COMMIT, component=component, kind="domain_conflict",
                         message=message)  # fmt: skip
        state = dict(self.state(lane))
        for proposal in proposals:
            state.update(proposal.proposal.state)
            self._note(proposal)
            for deferred in proposal.proposal.actions:
                self._actions.defer(lane, tick, proposal.component, deferred)
        self._states[lane] = MappingProxyType(state)
        for proposal in proposals:
            if (end := proposal.proposal.end) is not None:
                return EpisodeEnd(tick=tick, component=proposal.component, reason=end.reason, success=end.success)
        return None

    def _action_problem(self, proposals: Sequence[LaneProposal]) -> tuple[str, str] | None:
        """Why the physical actions of one step cannot all become real."""
        asked: dict[tuple[Any, int], tuple[str, Deferred]] = {}
        for proposal in proposals:
            for deferred in proposal.proposal.actions:
                refusal: Refusal = self._actions.refusal(deferred)
                if refusal is not None:
                    return proposal.component, refusal
                resource = resource_of_action(deferred.action)
                if resource is None:
                    continue
                key = (resource, self._actions.delay_ticks(deferred))
                other = asked.setdefault(key, (proposal.component, deferred))
                if other[1] != deferred:
                    return _conflict(f"{resource} at one boundary", other[0], proposal.component)
        return None

    def _note(self, proposal: LaneProposal) -> None:
        """Into the digest and, if wanted, the events."""
        content, noted = proposal.proposal, []
        noted += [("fact", {"name": name, "value": value}) for name, value in content.facts.items()]
        noted += [("state", {"name": name, "value": value}) for name, value in content.state.items()]
        noted += [
            ("deferred", {"action": type(d.action).__name__, "delay_s": d.delay_s, **asdict(d.action)})
            for d in content.actions
        ]
        for kind, data in noted:
            text = canonical_json([proposal.tick, proposal.component, kind, data])
            self._hashes.setdefault(proposal.lane, xxhash.xxh3_128()).update(text.encode())
            if self._events is not None:
                self._events[proposal.lane].append((proposal.tick, kind, proposal.component, data))


def _reaches(stop: Stop, tick: int) -> bool:
    """Whether a lane that stopped came as far as InteractionEvaluation of a step."""
    return tick < stop.tick or (tick == stop.tick and stop.phase > Phase.DOMAIN_COMMIT)


def _state_conflict(proposals: Sequence[LaneProposal]) -> tuple[str, str] | None:
    written: dict[str, tuple[str, Any]] = {}
    for proposal in proposals:
        for name, value in proposal.proposal.state.items():
            owner, before = written.setdefault(name, (proposal.component, value))
            if before != value:
                return _conflict(f"domain state {name!r}", owner, proposal.component)
    return None


def _conflict(what: str, first: str, second: str) -> tuple[str, str]:
    if first == second:
        return first, f"{first!r} asks for two different values of {what}; nothing of this step was committed"
    return first, f"{first!r} and {second!r} ask for different values of {what}; nothing of this step was committed"
