"""Isolation: which run killed a worker, found by halving its shard."""

from __future__ import annotations

from collections import Counter

from sweep.execution.shards import Shard
from sweep.execution.worker import lost_record
from sweep.results import RunRecord

ATTEMPTS = 2
"""Deaths of a worker with one run alone after which that run is lost."""


class Isolation:
    """The deaths that runs were part of."""

    def __init__(self) -> None:
        self._deaths: Counter[str] = Counter()
        self._alone: Counter[str] = Counter()

    def died(self, shard: Shard, cause: str) -> tuple[list[Shard], list[RunRecord]]:
        """A worker died with a shard.

        Args:
            shard: what it was at.
            cause: what is known of the death, for people.

        Returns:
            The shards to try instead, and records of the runs that are given up.
        """
        self._deaths.update(run.run_id for run in shard)
        if len(shard) > 1:
            half = len(shard) // 2
            return [shard[:half], shard[half:]], []
        (run,) = shard
        self._alone[run.run_id] += 1
        if self._alone[run.run_id] < ATTEMPTS:
            return [shard], []
        message = f"its worker died {ATTEMPTS} times while it ran alone: {cause}"
        return [], [lost_record(run, message, self._deaths[run.run_id])]

    def attempt(self, run_id: str) -> int:
        """Which attempt of a run it is that has come back, from 1."""
        return self._deaths[run_id] + 1
