"""The mailbox: the one way in.  Enqueueing is safe from any thread and changes nothing until a commit cuts."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.errors import MailboxFullError
from sweep.plan.clock import Grid
from sweep.runtime.command import Command

CAPACITY = 65_536
"""Inputs the mailbox holds before it refuses more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalInput:
    """An accepted input from outside, not yet cut.

    Attributes:
        target: id of the driver it is for.
        values: ``(width,)``.
        source_id: who sent it.
        source_sequence: the sender's own count.
        effective_s: when it is meant for [s]; None means as soon as it is cut.
        acceptance: the run-unique number it was accepted under.
    """

    target: str
    values: NDArray[np.float64]
    source_id: str
    source_sequence: int
    effective_s: float | None
    acceptance: int


class Mailbox:
    """Accepted inputs of one Instance, and the commands of its controllers.

    Args:
        grid: the physics grid.
        capacity: inputs held before a producer is refused.
    """

    def __init__(self, grid: Grid, capacity: int = CAPACITY) -> None:
        self._grid = grid
        self._capacity = capacity
        self._lock = threading.Lock()
        self._arrivals: deque[ExternalInput] = deque()
        self._accepted = 0
        self._waiting: list[Command] = []

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

        Returns:
            Its acceptance number.

        Raises:
            MailboxFullError: the mailbox is full; the input was not accepted.
        """
        with self._lock:
            if len(self._arrivals) >= self._capacity:
                raise MailboxFullError(
                    f"the mailbox holds {self._capacity} inputs that no step has committed yet; "
                    f"the input of {source_id!r} for {target!r} was refused. Step the Instance, or send less."
                )
            number = self._next_acceptance()
            sequence = number if source_sequence is None else source_sequence
            self._arrivals.append(
                ExternalInput(
                    target=target,
                    values=values,
                    source_id=source_id,
                    source_sequence=sequence,
                    effective_s=effective_s,
                    acceptance=number,
                )
            )
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
                acceptance=acceptance,
            )
        )

    def cut(self, start: int, stop: int) -> list[Command]:
        """ExternalInputCommit of the boundaries ``start`` .. ``stop - 1``: what becomes visible, in total order.

        What arrives after the cut, or is meant for ``stop`` or later, stays.
        """
        with self._lock:
            arrivals, self._arrivals = self._arrivals, deque()
        self._waiting += [self._placed(arrival, start) for arrival in arrivals]
        due = sorted((c for c in self._waiting if c.commit_tick < stop), key=lambda c: c.order)
        if due:
            self._waiting = [c for c in self._waiting if c.commit_tick >= stop]
        return due

    def cancel(self) -> list[Command]:
        """Take out everything that was not committed: the episode is over."""
        with self._lock:
            arrivals, self._arrivals = self._arrivals, deque()
        waiting, self._waiting = self._waiting, []
        return waiting + [self._placed(arrival, 0) for arrival in arrivals]

    def _placed(self, arrival: ExternalInput, boundary: int) -> Command:
        effective_s = self._grid.time_s(boundary) if arrival.effective_s is None else arrival.effective_s
        tick = boundary if arrival.effective_s is None else max(boundary, self._grid.ticks(arrival.effective_s))
        return Command(
            target=arrival.target,
            commit_tick=tick,
            values=arrival.values[None, :],
            lanes=None,
            effective_s=effective_s,
            source_id=arrival.source_id,
            source_sequence=arrival.source_sequence,
            acceptance=arrival.acceptance,
        )

    def _next_acceptance(self) -> int:
        self._accepted += 1
        return self._accepted
