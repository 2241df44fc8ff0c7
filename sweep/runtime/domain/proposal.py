"""What Interactions propose: values, committed all together or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchEquality:
    """Turn an equality constraint of the model on or off.

    Attributes:
        name: the constraint.
        active: on or off.
    """

    name: str
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMocap:
    """Put a mocap body somewhere.

    Attributes:
        body: the mocap body.
        position_m: in the world [m].
        quaternion: orientation in the world, (w, x, y, z).
    """

    body: str
    position_m: Vector3
    quaternion: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetJoint:
    """Give a joint a position and a velocity, both of them whole.

    Attributes:
        joint: the joint.
        position: its entries of qpos.
        velocity: its entries of qvel.
    """

    joint: str
    position: tuple[float, ...]
    velocity: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyWrench:
    """Push a body for a while; wrenches on one body add up.

    Attributes:
        body: the body; the force acts at its centre of mass.
        force_n: in the world's frame [N].
        torque_nm: in the world's frame [N m].
        duration_s: how long [s]; at least one step.
    """

    body: str
    force_n: Vector3 = (0.0, 0.0, 0.0)
    torque_nm: Vector3 = (0.0, 0.0, 0.0)
    duration_s: float = 0.0


Action = SwitchEquality | MoveMocap | SetJoint | ApplyWrench
"""A physical action: real at DeferredActionsCommit of the step that it is deferred to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferred:
    """An action and when it becomes real.

    Attributes:
        action: what.
        delay_s: from the completed boundary that the Interaction saw [s]; 0 is that boundary, where the next step
            begins.
    """

    action: Action
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The episode is over.

    Attributes:
        reason: why, in the domain's words.
        success: whether that is a success.
    """

    reason: str
    success: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """All that one Interaction proposes at one boundary.

    Attributes:
        facts: what happened, by name, with plain data; for the trace.
        state: domain state to write; two Interactions that write different values under one name conflict.
        actions: physical actions.
        end: the end of the episode, if it is one.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)
    actions: tuple[Deferred, ...] = ()
    end: End | None = None


@dataclass(frozen=True, slots=True)
class LaneProposal:
    """A proposal, and whose.

    Attributes:
        lane: the lane.
        tick: the step whose completed boundary was seen.
        component: the Interaction.
        proposal: what it proposes.
    """

    lane: int
    tick: int
    component: str
    proposal: Proposal
