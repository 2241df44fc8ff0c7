"""What the Manifest says of Interactions: what they watch, and what they propose."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sweep.plan.component import Capability, ComponentSpec
from sweep.plan.fields import Names, Number


class LimitExceededSpec(ComponentSpec):
    """Ends the episode at the first completed boundary where a joint's position leaves ``[-limit, limit]``.

    Attributes:
        joints: hinge or slide joints; any one of them ends it.
        limit: largest magnitude allowed [rad or m].
        reason: what the outcome says, for example ``fell``.
        success: whether that is a success.
    """

    capability: ClassVar[Capability] = Capability.INTERACTION
    varying: ClassVar[frozenset[str]] = frozenset({"limit"})

    type: Literal["limit_exceeded"]
    joints: Names
    limit: Annotated[Number, Field(gt=0)]
    reason: Annotated[str, Field(min_length=1)] = "limit_exceeded"
    success: bool = False
