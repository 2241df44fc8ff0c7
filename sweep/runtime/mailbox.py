"""The mailbox: the one way in.  Enqueueing is safe from any thread and changes nothing until a commit cuts."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MailboxFullError
from sweep.plan.clock import Grid
from sweep.plan.units import exact_seconds
from sweep.runtime.command import Command

CAPACITY = 65_536
"""Inputs the mailbox holds before it refuses more."""


class Mailbox:
    """Accepted inputs of one Instance, and the commands of its controllers.

    It outlives episodes: what a producer sends while one is reset is cancelled with the old episode or belongs to the
    new one, and acceptance numbers are unique in all of them.

    Args:
        grid: the physics grid.
        capacity: inputs held before a producer is refused.
    """

    def __init__(self, grid: Grid, capacity: int = CAPACITY) -> None:
        self._grid = grid
        self._capacity = capacity
        self._lock = threading.Lock()
        # Accepted but not cut: an input, and the tick it is meant for (None: as soon as it is cut).
        self._arrivals: deque[tuple[Command, int | None]] = deque()
        self._accepted = 0
        self._waiting: list[Command] = []
        self._ahead = 0  # inputs from outside among those that wait

    def enqueue(
        self,
        target: str,
        values: NDArray[np.float64],
        *,
        source_id: str,
        source_sequence: int | None,
        effective_s: float | None,
    ) -> int:
        """Accept an input; safe from any thread.

        Args:
            target: id of the driver it is for.
            values: ``(width,)``.
            source_id: who sends it.
            source_sequence: the sender's own count, if it keeps one.
            effective_s: when it is meant for [s]; None means as soon as it is cut.

        Returns:
            Its acceptance number.

        Raises:
            GridError: the effective time is negative or not a time; the input was not accepted.
            MailboxFullError: the mailbox is full; the input was not accepted.
        """
        effective_tick = None if effective_s is None else self._grid.ticks(effective_s)
        with self._lock:
            if len(self._arrivals) + self._ahead >= self._capacity:
                raise MailboxFullError(
                    f"the mailbox holds {self._capacity} inputs that no step has committed yet; "
                    f"the input of {source_id!r} for {target!r} was refused. Step the Instance, or send less."
                )
            number = self._next_acceptance()
            command = Command(
                target=target,
                commit_tick=0,
                values=values[None, :],
                lanes=None,
                effective_s=0.0 if effective_s is None else float(exact_seconds(effective_s)),
                source_id=source_id,
                source_sequence=number if source_sequence is None else source_sequence,
                sequenced=source_sequence is not None,
                from_outside=True,
                acceptance=number,
            )
            self._arrivals.append((command, effective_tick))
            return number

    def post(self, *, target: str, commit_tick: int, values: NDArray[np.float64], lanes: NDArray[np.bool_] | None,
             source_id: str, source_sequence: int) -> None:  # fmt: skip
        """Accept a controller's command, whose commit tick its own timing decides; owner only."""
        with self._lock:
            acceptance = self._next_acceptance()
        self._waiting.append(
            Command(
                target=target,
                commit_tick=commit_tick,
                values=values,
                lanes=lanes,
                effective_s=self._grid.time_s(commit_tick),
                source_id=source_id,
                source_sequence=source_sequence,
                # Lanes may differ in compute latency, so calls may overtake each other; within a lane none does.
                sequenced=False,
                from_outside=False,
                acceptance=acceptance,
            )
        )

    def cut(self, start: int, stop: int) -> list[Command]:
        """ExternalInputCommit of the boundaries ``start`` .. ``stop - 1``: what becomes visible, in total order.

        What arrives after the cut, or is meant for ``stop`` or later, stays.
        """
        self._take_arrivals(start, stop)
        due = sorted((c for c in self._waiting if c.commit_tick < stop), key=lambda c: c.order)
        if due:
            self._waiting = [c for c in self._waiting if c.commit_tick >= stop]
        return due

    def cancel(self) -> list[Command]:
        """Take out everything that was not committed: the episode is over."""
        self._take_arrivals(0, 0)
        waiting, self._waiting = self._waiting, []
        with self._lock:
            self._ahead = 0
        return waiting

    def _take_arrivals(self, start: int, stop: int) -> None:
        with self._lock:
            arrivals, self._arrivals = self._arrivals, deque()
            self._waiting += [self._placed(command, tick, start) for command, tick in arrivals]
            if self._ahead or arrivals:
                self._ahead = sum(c.from_outside and c.commit_tick >= stop for c in self._waiting)

    def _placed(self, command: Command, effective_tick: int | None, boundary: int) -> Command:
        if effective_tick is None:
            return replace(command, commit_tick=boundary, effective_s=self._grid.time_s(boundary))
        return replace(command, commit_tick=max(boundary, effective_tick))

    def _next_acceptance(self) -> int:
        self._accepted += 1
        return self._accepted
