"""ShardQueue: which runs go together next; a plain object that learns what a run costs and knows no processes."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Iterable, Sequence

from sweep.design.run import Run
from sweep.plan.plan import Plan
from sweep.results import RunRecord

Shard = tuple[Run, ...]
"""Runs of one layout that execute in one call."""

LANES = 32
"""Lanes of a shard: the state of about this many fits a core's level 2 cache."""

MAX_LANES = 64
LONE_EXCESS = 8
"""A run alone takes several times its share of a batch (numpy calls cost the same for one lane as for thirty)."""

LEAST_LANES = 16
"""A batch of fewer lanes wastes more than an early record is worth ..."""

PATIENCE = 10
"""... as long as it does not take this many times ``shard_s``."""

LEAST_PART = 0.1
"""Where runs get scarce, shards shrink to keep all workers busy, but not below this part of ``shard_s``."""

PER_WORKER = 2


class ShardQueue:
    """Pending runs, handed out as shards.

    The first pending run decides the layout, so that the seed-major order holds as far as layouts allow.

    Args:
        runs: what is to be run, in order.
        shard_s: wall time that a shard should take [s].
        workers: how many take from it at once.
        lanes: most lanes of a shard, 1 to 64.

    Attributes:
        workers: may be changed when the work moves elsewhere.
    """

    def __init__(self, runs: Iterable[Run], *, shard_s: float = 2.0, workers: int = 1, lanes: int = LANES) -> None:
        self.workers = workers
        self._shard_s = shard_s
        self._lanes = max(1, min(lanes, MAX_LANES))
        self._pending: dict[str, deque[tuple[int, Run]]] = {}
        for position, run in enumerate(runs):
            self._pending.setdefault(run.plan.layout, deque()).append((position, run))
        self._heads = [(group[0][0], layout) for layout, group in self._pending.items()]
        heapq.heapify(self._heads)
        self._returned: deque[Shard] = deque()
        self._count = sum(map(len, self._pending.values()))
        self._share: dict[str, float] = {}
        self._largest: dict[str, int] = {}
        self._last_share: float | None = None

    def __len__(self) -> int:
        """Runs that nobody has taken."""
        return self._count

    @property
    def share_s(self) -> float | None:
        """Wall time of one run in the last shard that came back [s]; None before the first."""
        return self._last_share

    @property
    def largest(self) -> int:
        """Lanes of the largest shard that was measured."""
        return max(self._largest.values(), default=0)

    def plans(self) -> list[Plan]:
        """The distinct Plans of the pending runs."""
        groups = (run for group in self._pending.values() for _, run in group)
        return list({run.plan.plan_id: run.plan for run in (*itertools.chain(*self._returned), *groups)}.values())

    def remaining_s(self) -> float | None:
        """Estimated work in the pending runs, on one worker [s]; None before the first measurement."""
        if self._last_share is None:
            return None
        costs = (len(group) * self._share.get(name, self._last_share) for name, group in self._pending.items())
        return sum(costs) + self._last_share * sum(map(len, self._returned))

    def take(self) -> Shard | None:
        """The next shard; None when nothing is pending."""
        if self._returned:
            shard = self._returned.popleft()
        elif self._heads:
            _, layout = heapq.heappop(self._heads)
            shard = self._cut(layout, self._size(layout))
        else:
            return None
        self._count -= len(shard)
        return shard

    def put_back(self, shards: Iterable[Shard]) -> None:
        """Return shards that were not finished; they are the next to be taken, as they are."""
        for shard in reversed(list(shards)):
            self._returned.appendleft(shard)
            self._count += len(shard)

    def observe(self, shard: Shard, records: Sequence[RunRecord]) -> None:
        """Learn from a shard that came back."""
        layout, share = shard[0].plan.layout, sum(r.wall_s for r in records) / len(shard)
        self._share[layout] = self._last_share = max(share, 1e-6)
        self._largest[layout] = max(self._largest.get(layout, 0), len(shard))

    def _size(self, layout: str) -> int:
        share = self._share.get(layout, self._last_share)
        if share is None:
            return 1  # the canary: one run alone
        if self._largest.get(layout, 1) == 1:
            # The longer it took, the more of it was physics, which lanes do not share.
            share /= LONE_EXCESS if share < self._shard_s else 2
        fits = max(int(self._shard_s / share), min(LEAST_LANES, int(PATIENCE * self._shard_s / share)))
        fair = self._count if self.workers == 1 else math.ceil(self._count / (PER_WORKER * self.workers))
        least = math.ceil(LEAST_PART * fits)
        return max(1, min(fits, self._lanes, max(fair, least)))

    def _cut(self, layout: str, size: int) -> Shard:
        group = self._pending[layout]
        shard = tuple(group.popleft()[1] for _ in range(min(size, len(group))))
        if group:
            heapq.heappush(self._heads, (group[0][0], layout))
        else:
            del self._pending[layout]
        return shard
