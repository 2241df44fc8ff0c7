"""A committed input on its way to a driver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Command(NamedTuple):
    """One input, for one lane or for many that share its commit tick.

    Attributes:
        commit_tick: the boundary at which ExternalInputCommit makes it visible.
        effective_s: when it is meant for [s]; orders inputs of one boundary.
        source_id: who sent it.
        source_sequence: the sender's own count; the acceptance number if it keeps none.
        acceptance: the number it was accepted under, unique in the session; below zero for a controller's command,
            which nobody is told, since its own count identifies it.
        target: id of the driver.
        values: ``(lanes, width)``; whole, never field by field.
        lanes: ``(lanes,)`` whose lanes it is for; None means all.
        sequenced: whether the sender counts by itself; only then can a later arrival be stale.
        from_outside: whether a producer sent it, not a controller of the Plan.
    """

    commit_tick: int
    effective_s: float
    source_id: str
    source_sequence: int
    acceptance: int
    target: str
    values: NDArray[np.float64]
    lanes: NDArray[np.bool_] | None
    sequenced: bool = False
    from_outside: bool = False

    @property
    def order(self) -> tuple[int, float, str, int, int]:
        """The total order in which inputs become visible."""
        return self[:5]
