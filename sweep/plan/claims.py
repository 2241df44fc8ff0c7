"""StateClaim: continuous authority over one complete logical resource, at most one owner each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sweep.errors import ClaimConflictError, Problem


@dataclass(frozen=True, slots=True)
class StateResource:
    """One complete logical resource of the physical state, by the model's name for it.

    Attributes:
        name: the joint, body or actuator.
    """

    kind: ClassVar[str] = ""
    enforceable: ClassVar[bool] = False
    name: str

    def __str__(self) -> str:
        return f"{self.kind}({self.name!r})"


@dataclass(frozen=True, slots=True)
class JointKinematics(StateResource):
    """Position and velocity of a joint."""

    kind: ClassVar[str] = "joint_kinematics"


@dataclass(frozen=True, slots=True)
class MocapPose(StateResource):
    """Position and orientation of a mocap body."""

    kind: ClassVar[str] = "mocap_pose"
    enforceable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ActuatorActivation(StateResource):
    """Activation state of an actuator."""

    kind: ClassVar[str] = "actuator_activation"


RESOURCES: tuple[type[StateResource], ...] = (JointKinematics, MocapPose, ActuatorActivation)


@dataclass(frozen=True, slots=True)
class StateClaim:
    """A capability's authority over a resource.

    Attributes:
        resource: what is claimed.
        owner: id of the component that enforces it.
    """

    resource: StateResource
    owner: str


def check_claims(claims: Iterable[StateClaim]) -> None:
    """Check that no resource has two owners and that every claim can be enforced.

    Raises:
        ClaimConflictError: naming both owners, or the claim without a mechanism.
    """
    owners: dict[StateResource, list[str]] = defaultdict(list)
    for claim in claims:
        owners[claim.resource].append(claim.owner)
    problems = [
        Problem(f"components.{names[0]}", f"{resource} is claimed by {' and '.join(map(repr, names))}; one must let go")
        for resource, names in owners.items()
        if len(names) > 1
    ]
    problems += [
        Problem(
            f"components.{names[0]}",
            f"{resource} cannot be claimed: nothing enforces authority over a {resource.kind} during integration; "
            "only a mocap body's pose can be prescribed (weld a dynamic body to it)",
        )
        for resource, names in owners.items()
        if not resource.enforceable
    ]
    if problems:
        raise ClaimConflictError("claims", problems)
