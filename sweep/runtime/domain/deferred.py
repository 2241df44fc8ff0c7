"""Physical actions that wait for their boundary, and what they do to physics there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, did_you_mean
from sweep.plan.claims import JointKinematics, MocapPose, StateResource
from sweep.plan.clock import Grid
from sweep.runtime.block import Block
from sweep.runtime.domain.proposal import Action, ApplyWrench, Deferred, MoveMocap, SetJoint, SwitchEquality
from sweep.runtime.injection import writes_of
from sweep.runtime.inputs import BlockInputs
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.physics import LanePhysics

Refusal = str | None
"""Why an action cannot become real; None if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """An action on its way.

    Attributes:
        lane: whose.
        tick: the step at whose DeferredActionsCommit it becomes real.
        stop: for a wrench, the first step that it does not act in.
        component: who proposed it.
        action: what.
    """

    lane: int
    tick: int
    stop: int
    component: str
    action: Action


class DeferredActions:
    """Phase 1 of all lanes.

    Args:
        grid: the physics grid.
        index: the model's names.
        claimed: resources that a component has authority over.
    """

    def __init__(self, grid: Grid, index: ModelIndex, claimed: Collection[StateResource]) -> None:
        self._grid, self._index, self._claimed = grid, index, claimed
        self._pending: list[PendingAction] = []

    def delay_ticks(self, deferred: Deferred) -> int:
        """Steps from the proposing one to the one in which the action becomes real."""
        return 1 + self._grid.ticks(deferred.delay_s)

    def refusal(self, deferred: Deferred) -> Refusal:
        """Why an action cannot become real."""
        action = deferred.action
        try:
            self.delay_ticks(deferred)
            if isinstance(action, SwitchEquality):
                return _unknown("equality constraint", action.name, self._index.names("eq"))
            if isinstance(action, ApplyWrench):
                self._grid.ticks(action.duration_s)
                return _unknown("body", action.body, self._index.names("body")[1:])
            resource = MocapPose(action.body) if isinstance(action, MoveMocap) else JointKinematics(action.joint)
            if resource in self._claimed:
                return f"{resource} is claimed: the component that prescribes it would overwrite the action"
            writes_of(resource, _value(action), self._index)
        except InvalidInputError as error:
            return "; ".join(map(str, error.problems))
        except ValueError as error:
            return str(error)
        return None

    def defer(self, lane: int, tick: int, component: str, deferred: Deferred) -> None:
        """Let an action wait for its boundary."""
        start = tick + self.delay_ticks(deferred)
        action = deferred.action
        steps = max(1, self._grid.ticks(action.duration_s)) if isinstance(action, ApplyWrench) else 1
        self._pending.append(
            PendingAction(lane=lane, tick=start, stop=start + steps, component=component, action=action)
        )

    def commit(self, block: Block, inputs: BlockInputs, physics: LanePhysics, alive: NDArray[np.bool_]) -> bool:
        """DeferredActionsCommit of every tick of a block; returns whether joints were set at its first boundary."""
        if not self._pending:
            return False
        # What the block before made real is forgotten only now: where that step failed, it was not.
        self._pending = [p for p in self._pending if p.stop > block.start or not alive[p.lane]]
        set_joints = False
        for pending in self._pending:
            if pending.tick < block.stop and alive[pending.lane]:
                set_joints |= self._act(pending, block, inputs, physics)
        return set_joints

    def waiting(self, lane: int) -> list[PendingAction]:
        """What a lane leaves behind."""
        return [pending for pending in self._pending if pending.lane == lane]

    def _act(self, pending: PendingAction, block: Block, inputs: BlockInputs, physics: LanePhysics) -> bool:
        action, lane, row = pending.action, pending.lane, max(0, pending.tick - block.start)
        if isinstance(action, ApplyWrench):
            assert inputs.wrenches is not None
            body = self._index.model.body(action.body).id
            rows = slice(row, max(row, pending.stop - block.start))
            inputs.wrenches[lane, rows, body] += np.array([*action.force_n, *action.torque_nm])
        elif isinstance(action, SwitchEquality):
            assert inputs.equalities is not None
            inputs.equalities[lane, row:, self._index.model.equality(action.name).id] = float(action.active)
        elif isinstance(action, MoveMocap):
            assert inputs.positions is not None
            assert inputs.quaternions is not None
            body = int(self._index.model.body(action.body).mocapid[0])
            inputs.positions[lane, row:, body] = action.position_m
            inputs.quaternions[lane, row:, body] = action.quaternion
        else:
            for field, columns, numbers in writes_of(JointKinematics(action.joint), _value(action), self._index):
                physics.write(lane, field, columns, numbers)
            return True
        return False


def resource_of_action(action: Action) -> StateResource | None:
    """The complete resource that an action writes; None for a wrench, which adds to others."""
    if isinstance(action, MoveMocap):
        return MocapPose(action.body)
    if isinstance(action, SetJoint):
        return JointKinematics(action.joint)
    if isinstance(action, SwitchEquality):
        return EqualitySwitch(action.name)
    return None


class EqualitySwitch(StateResource):
    """Whether an equality constraint is active."""

    kind = "equality_switch"


def _value(action: Action) -> Any:
    if isinstance(action, MoveMocap):
        return action.position_m, action.quaternion
    assert isinstance(action, SetJoint)
    return action.position, action.velocity


def _unknown(kind: str, name: str, names: list[str]) -> Refusal:
    return None if name in names else f"there is no {kind} {name!r}{did_you_mean(name, names)}"
