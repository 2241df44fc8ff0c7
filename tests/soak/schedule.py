"""Schedule: which kinds of process are killed, how often and when; drawn from a seed before anything starts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is killed."""

    DRIVER = "driver"
    WORKER = "worker"
    RAYLET = "raylet"
    SERVER = "MLflow server"


SHARE = {Kind.DRIVER: 0.16, Kind.RAYLET: 0.18, Kind.SERVER: 0.16}
"""Of all kills; the rest are workers, which come back the fastest."""

LAST = 0.9
"""Part of the runs that are committed when the last kill is due, so that all of them meet work."""

MOST_DELAY_S = 1.0
"""Work comes back in shards: a kill waits up to this long [s] after it is due, so that it may meet any part of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One kill to come.

    Attributes:
        kind: what it kills.
        after: runs that are committed when it is due.
        delay_s: how long it waits then [s].
        pick: which of several victims, 0 to 1.
        is_partial: of a node, whether only its raylet is killed, and not all its processes.
    """

    kind: Kind
    after: int
    delay_s: float
    pick: float
    is_partial: bool


def drawn(seed: int, kills: int, runs: int) -> dict[Kind, list[Strike]]:
    """The strikes of each kind, the first one first: spread over the sweep, each anywhere in its part of it."""
    chance = random.Random(seed)
    counts = quotas(kills)
    return {
        kind: [_strike(chance, kind, (i + chance.random()) / n * runs) for i in range(n)] for kind, n in counts.items()
    }


def quotas(kills: int) -> Mapping[Kind, int]:
    """How many of each kind."""
    counts = {kind: round(share * kills) for kind, share in SHARE.items()}
    return {**counts, Kind.WORKER: kills - sum(counts.values())}


def _strike(chance: random.Random, kind: Kind, at: float) -> Strike:
    return Strike(
        kind=kind,
        after=int(LAST * at),
        delay_s=chance.uniform(0.0, MOST_DELAY_S),
        pick=chance.random(),
        is_partial=chance.random() < 0.5,
    )
