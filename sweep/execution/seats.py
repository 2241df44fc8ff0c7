"""Seats: the workers as the driver sees them, and how the runs that are left are divided among them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from sweep.execution.shards import Shard, ShardQueue


@dataclass(slots=True, eq=False)
class Seat:
    """One worker as the driver sees it: not ready while ``opening`` is there; shards run in the order of ``flying``.

    It does what it does, opening or the first of them, since about ``since`` on the monotonic clock [s].
    """

    name: str
    actor: Any
    opening: Any
    node: str
    flying: deque[tuple[Any, Shard]] = field(default_factory=deque)
    since: float = field(default_factory=time.monotonic)

    @property
    def refs(self) -> list[Any]:
        """What it owes an answer to, in the order of the answers."""
        return [self.opening] if self.opening is not None else [ref for ref, _ in self.flying]

    def ahead(self, share_s: float | None) -> float:
        """Runs in its hands that are not done, as far as one can tell from what a run takes [s]."""
        if not self.flying:
            return 0.0
        first, *waiting = (len(shard) for _, shard in self.flying)
        done = 0.0 if share_s is None else (time.monotonic() - self.since) / share_s
        return max(0.0, first - done) + sum(waiting)

    def give(self, ref: Any, shard: Shard) -> None:
        """Note what it was sent."""
        if not self.flying:
            self.since = time.monotonic()
        self.flying.append((ref, shard))

    def finish(self) -> Shard:
        """The first shard is over; the next one began."""
        self.since = time.monotonic()
        return self.flying.popleft()[1]

    def clear(self) -> list[Shard]:
        """Forget what waits."""
        waiting = [shard for _, shard in self.flying]
        self.flying.clear()
        return waiting


def division(seats: Sequence[Seat], queue: ShardQueue, *, plenty: int) -> Callable[[Seat], float]:
    """How many of the pending runs each worker shall have, so that all of them end together.

    Args:
        seats: those that are at work or may be; at least one.
        queue: the pending runs.
        plenty: with more shards than this for each worker, what they have in hand does not matter yet.
    """
    equal = len(queue) / len(seats)
    if queue.parts(equal) > plenty:
        return lambda _: equal
    share = queue.among_s
    height = level(len(queue), [seat.ahead(share) for seat in seats])
    return lambda seat: height - seat.ahead(share)


def level(pending: int, ahead: Sequence[float]) -> float:
    """How many runs a worker shall have before it, what it has in hand and what it is still to take.

    Those that have more already take nothing, and the others come to the same: what poured water does.

    Args:
        pending: runs that nobody has taken.
        ahead: runs that each worker has in hand, as far as they are not done; at least one worker.
    """
    heights = sorted(ahead)
    levels = ((pending + below) / count for count, below in enumerate(accumulate(heights), 1))
    following = [*heights[1:], float("inf")]
    return next(found for found, above in zip(levels, following, strict=True) if found <= above)
