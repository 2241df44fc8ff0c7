"""ShardQueue: which runs go together next; a plain object that learns what a run costs and knows no processes."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from sweep.design.run import Run
from sweep.execution.deadline import Overdue
from sweep.execution.verdict import timed_out
from sweep.plan.plan import Plan
from sweep.results import RunRecord
from sweep.results.attempts import HERE

Shard = tuple[Run, ...]
"""Runs of one layout that execute in one call."""

LANES = 64
"""Most lanes of a shard that nobody has calibrated."""

MAX_LANES = 256
LONE_EXCESS = 8
"""A run alone takes several times its share of a batch (numpy calls cost the same for one lane as for thirty)."""

LEAST_LANES = 16
"""A batch of fewer lanes wastes more than an early record is worth ..."""

PATIENCE = 4
"""... as long as it does not take this many times ``shard_s``."""

LEAST_PART = 0.1
"""Where runs get scarce, shards shrink to keep all workers busy, but not below this part of ``shard_s``."""


class Leases(Protocol):
    """Keeps who has which run in hand; :class:`sweep.results.leases.Leases` does, in the ledger."""

    def lease(self, run_ids: Sequence[str], worker: str) -> None:
        """A worker takes runs."""

    def give_back(self, run_ids: Sequence[str]) -> None:
        """A worker had runs and never began them."""

    def died(self, run_ids: Sequence[str], cause: str) -> list[RunRecord]:
        """A worker died while it executed runs; returns the records of those that are given up."""

    def overdue(self, run_ids: Sequence[str], detail: str) -> None:
        """Runs that shared a call took longer than one may."""


class ShardQueue:
    """Pending runs, handed out as shards; each is leased to its worker before it leaves.

    The first pending run decides the layout, so that the seed-major order holds as far as layouts allow.  Suspects,
    which may have killed a process before, go last and alone: what they take along is only theirs.

    Args:
        runs: what is to be run, in order.
        shard_s: wall time that a shard should take [s].
        workers: how many take from it at once.
        lanes: most lanes of a shard, 1 to 256.
        suspects: run_ids of suspects.
        leases: hears of every shard; None keeps no account, and gives nothing up.

    Attributes:
        workers: may be changed when the work moves elsewhere.
    """

    def __init__(
        self,
        runs: Iterable[Run],
        *,
        shard_s: float = 5.0,
        workers: int = 1,
        lanes: int = LANES,
        suspects: Collection[str] = (),
        leases: Leases | None = None,
    ) -> None:
        self.workers = workers
        self._leases = leases
        self._shard_s = shard_s
        self._lanes = max(1, min(lanes, MAX_LANES))
        self._pending: dict[str, deque[tuple[int, Run]]] = {}
        self._suspects: deque[Shard] = deque()
        for position, run in enumerate(runs):
            if run.run_id in suspects:
                self._suspects.append((run,))
                continue
            self._pending.setdefault(run.plan.layout, deque()).append((position, run))
        self._heads = [(group[0][0], layout) for layout, group in self._pending.items()]
        heapq.heapify(self._heads)
        self._returned: deque[Shard] = deque()
        self._count = sum(map(len, self._pending.values())) + len(self._suspects)
        self._share: dict[str, float] = {}
        self._largest: dict[str, int] = {}
        self._last_share: float | None = None

    def __len__(self) -> int:
        """Runs that nobody has taken."""
        return self._count

    @property
    def suspects(self) -> int:
        """Runs among them that may kill the process that takes them."""
        return len(self._suspects)

    @property
    def share_s(self) -> float | None:
        """Wall time of one run in the last shard that came back [s]; None before the first."""
        return self._last_share

    @property
    def among_s(self) -> float | None:
        """Wall time of a run among others [s], of the next one; None before the first measurement."""
        return self._among_s(self._heads[0][1]) if self._heads else self._last_share

    @property
    def largest(self) -> int:
        """Lanes of the largest shard that was measured."""
        return max(self._largest.values(), default=0)

    def plans(self) -> list[Plan]:
        """The distinct Plans of the pending runs."""
        groups = (run for group in self._pending.values() for _, run in group)
        apart = itertools.chain(*self._returned, *self._suspects)
        return list({run.plan.plan_id: run.plan for run in (*apart, *groups)}.values())

    def remaining_s(self) -> float | None:
        """Estimated work in the pending runs, on one worker [s]; None before the first measurement."""
        if self._last_share is None:
            return None
        costs = (len(group) * self._share.get(name, self._last_share) for name, group in self._pending.items())
        return sum(costs) + self._last_share * (sum(map(len, self._returned)) + len(self._suspects))

    def take(self, worker: str = HERE, *, suspects: bool = True, fair: float | None = None) -> Shard | None:
        """The next shard, leased to a worker; None when nothing is pending.

        Args:
            worker: who takes it.
            suspects: whether that worker may die of it.
            fair: its part of the pending runs, which it takes in shards of about one size; equal parts by default.

        Raises:
            LedgerError: the lease cannot be written.
        """
        shard = self._next(suspects, len(self) / self.workers if fair is None else fair)
        if shard is not None:
            self._count -= len(shard)
            if self._leases is not None:
                self._leases.lease([run.run_id for run in shard], worker)
        return shard

    def parts(self, runs: float) -> int:
        """How many shards some of the next runs make, of about one size."""
        return self._parts(self._fits(self.among_s), runs)

    def put_back(self, shards: Iterable[Shard]) -> None:
        """Return shards that were never begun; they are the next to be taken, as they are."""
        shards = list(shards)
        if self._leases is not None and shards:
            self._leases.give_back([run.run_id for shard in shards for run in shard])
        self._return(shards)

    def died(self, shard: Shard, cause: str) -> list[RunRecord]:
        """A worker died while it was at a shard: the halves of it are tried next.

        Args:
            shard: what it was at.
            cause: what is known of the death, for people.

        Returns:
            The records of the runs that are given up.
        """
        lost = [] if self._leases is None else self._leases.died([run.run_id for run in shard], cause)
        given_up = {record.run_id for record in lost}
        self._return(_halves([run for run in shard if run.run_id not in given_up]))
        return lost

    def settle(self, shard: Shard, answer: list[RunRecord] | Overdue) -> list[RunRecord]:
        """Take what came back for a shard.

        Returns:
            The records that are to be committed.
        """
        if isinstance(answer, Overdue):
            return self.overdue(shard, answer)
        self.observe(shard, answer)
        return answer

    def overdue(self, shard: Shard, overdue: Overdue) -> list[RunRecord]:
        """A shard took longer than one call may: parts of it are tried next.

        Those of a slow shard are halves.  Of one that hangs each run is tried alone: the others take no longer than
        usual, and every further part with the culprit in it would take up all of its time.

        Returns:
            The record of a run that was alone; it is not committed yet.
        """
        if len(shard) == 1:
            return [timed_out(shard[0], overdue)]
        if self._leases is not None:
            self._leases.overdue([run.run_id for run in shard], f"{overdue.wall_s:.3g} s were not enough")
        self._return([(run,) for run in shard] if overdue.is_hang else _halves(shard))
        return []

    def _next(self, suspects: bool, fair: float) -> Shard | None:
        if self._returned:
            return self._returned.popleft()
        if self._heads:
            _, layout = heapq.heappop(self._heads)
            return self._cut(layout, self._size(self._among_s(layout), fair))
        return self._suspects.popleft() if suspects and self._suspects else None

    def _return(self, shards: Sequence[Shard]) -> None:
        self._returned.extendleft(reversed(shards))
        self._count += sum(map(len, shards))

    def observe(self, shard: Shard, records: Sequence[RunRecord]) -> None:
        """Learn from a shard that came back."""
        layout, share = shard[0].plan.layout, sum(r.wall_s for r in records) / len(shard)
        self._share[layout] = self._last_share = max(share, 1e-6)
        self._largest[layout] = max(self._largest.get(layout, 0), len(shard))

    def _size(self, share_s: float | None, fair: float) -> int:
        fits = self._fits(share_s)
        if fits == 1:
            return 1
        least = math.ceil(LEAST_PART * fits)
        size = max(least, math.ceil(fair / self._parts(fits, fair)))
        left = self._count - size
        return min(self._lanes, size + left if left < least else size)

    def _fits(self, share_s: float | None) -> int:
        """How many runs take about as long as a shard should; one, the canary, until a run was measured."""
        if share_s is None:
            return 1
        fits = max(int(self._shard_s / share_s), min(LEAST_LANES, int(PATIENCE * self._shard_s / share_s)))
        return max(1, min(fits, self._lanes))

    def _parts(self, fits: int, runs: float) -> int:
        return max(1, round(runs / fits), math.ceil(runs / self._lanes))

    def _among_s(self, layout: str) -> float | None:
        share = self._share.get(layout, self._last_share)
        if share is None or self._largest.get(layout, 1) > 1:
            return share
        # The longer a lone run took, the more of it was physics, which lanes do not share.
        return share / (LONE_EXCESS if share < self._shard_s else 2)

    def _cut(self, layout: str, size: int) -> Shard:
        group = self._pending[layout]
        shard = tuple(group.popleft()[1] for _ in range(min(size, len(group))))
        if group:
            heapq.heappush(self._heads, (group[0][0], layout))
        else:
            del self._pending[layout]
        return shard


def _halves(runs: Sequence[Run]) -> list[Shard]:
    half = (len(runs) + 1) // 2
    return [tuple(part) for part in (runs[:half], runs[half:]) if part]
