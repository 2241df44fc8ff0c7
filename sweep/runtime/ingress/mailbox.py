"""The mailbox: the one way in.  Enqueueing is safe from any thread and changes nothing until a commit cuts."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, MailboxFullError, Problem
from sweep.plan.clock import Grid
from sweep.plan.units import exact_seconds
from sweep.runtime.ingress.command import Command

Order = tuple[int, float, str, int, int]

CAPACITY = 65_536
"""Inputs the mailbox holds before it refuses more."""

_FIRST_POSTED = -(2**62)
"""Controllers' commands are numbered apart, below zero: whatever arrives from outside shifts none of their numbers, and
they none of its, so that a replay gives every input the number that it had.
"""


class _Arrival(NamedTuple):
    """An input that was accepted and that no cut has seen yet."""

    target: str
    values: NDArray[np.float64]
    source_id: str
    source_sequence: int | None
    effective_s: float | None
    effective_tick: int
    acceptance: int


class Mailbox:
    """Accepted inputs of one Instance, and the commands of its controllers.

    It outlives episodes: what a producer sends while one is reset is cancelled with the old episode or belongs to the
    new one, never to both.  Acceptance numbers 1, 2, ... are given out once in all of them; only a replayed input
    brings the number that it had.

    Args:
        grid: the physics grid.
        capacity: inputs of producers held before one is refused.
    """

    def __init__(self, grid: Grid, capacity: int = CAPACITY) -> None:
        self._grid = grid
        self._capacity = capacity
        # Producers and the owner meet in what follows, under the lock.
        self._lock = threading.Lock()
        self._arrivals: list[_Arrival] = []
        self._accepted = 0
        self._held: set[int] = set()  # acceptance numbers that count against the capacity
        self._open: set[str] = set()
        # Only the owner touches the rest.
        self._posted = itertools.count(_FIRST_POSTED)
        self._waiting: list[tuple[Order, int, Command]] = []
        self._serial = itertools.count()

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
        tick, exact_s = 0, None
        if effective_s is not None:
            tick, exact_s = self._grid.ticks(effective_s), float(exact_seconds(effective_s))
        with self._lock:
            if len(self._held) >= self._capacity:
                raise MailboxFullError(
                    f"the mailbox holds {self._capacity} inputs that no step has committed yet; "
                    f"the input of {source_id!r} for {target!r} was refused. Step the Instance, or send less."
                )
            self._accepted += 1
            number = self._accepted
            self._held.add(number)
            self._arrivals.append(_Arrival(target, values, source_id, source_sequence, exact_s, tick, number))
            return number

    def open(self, source_id: str) -> None:
        """Count a producer as open; safe from any thread.

        Raises:
            InvalidInputError: one of this name is open already.
        """
        with self._lock:
            if source_id in self._open:
                message = f"a producer {source_id!r} is open already; close it, or choose another source id"
                raise InvalidInputError("producer", [Problem("", message)])
            self._open.add(source_id)

    def close(self, source_id: str) -> None:
        """Count a producer as closed; safe from any thread, even where it holds the lock: finalizers run anywhere."""
        self._open.discard(source_id)

    @property
    def open_producers(self) -> int:
        """Producers that are open now.  While there is any, input may arrive between any two steps, so no block is
        longer than a tick.
        """
        return len(self._open)

    def post(self, *, target: str, commit_tick: int, values: NDArray[np.float64], lanes: NDArray[np.bool_] | None,
             source_id: str, source_sequence: int) -> None:  # fmt: skip
        """Accept a controller's command, whose commit tick its own timing decides; owner only."""
        # Not sequenced: lanes may differ in compute latency, so calls may overtake each other; within a lane none does.
        effective_s, acceptance = self._grid.time_s(commit_tick), next(self._posted)
        self._wait(Command(commit_tick, effective_s, source_id, source_sequence, acceptance, target, values, lanes))

    def cut(self, start: int, stop: int) -> list[Command]:
        """ExternalInputCommit of the boundaries ``start`` .. ``stop - 1``: what becomes visible, in total order.

        What arrives after the cut, or is meant for ``stop`` or later, stays.
        """
        if self._arrivals:  # whatever comes after this look comes after the cut
            with self._lock:
                arrivals, self._arrivals = self._arrivals, []
            for arrival in arrivals:
                self._wait(self._placed(arrival, start))
        waiting, due = self._waiting, []
        while waiting and waiting[0][-1].commit_tick < stop:
            due.append(heapq.heappop(waiting)[-1])
        if self._held:
            with self._lock:
                self._held.difference_update([command.acceptance for command in due if command.from_outside])
        return due

    def reserve(self, numbers: Iterable[int]) -> set[int]:
        """Keep acceptance numbers from being given to new input; owner only.

        Returns:
            The numbers that inputs have which were not committed yet.
        """
        with self._lock:
            self._accepted = max(self._accepted, *numbers, 0)
            taken = set(self._held)
        return taken | {command.acceptance for *_, command in self._waiting if command.from_outside}

    def replay(self, commands: Iterable[Command]) -> None:
        """Accept recorded inputs with the identity and the commit tick that they had; owner only.

        Their numbers are reserved.  They are all there at once, so they do not count against the capacity.
        """
        for command in commands:
            self._wait(command)

    def cancel(self) -> list[Command]:
        """Take out everything that was not committed, in the order in which it came: the episode is over."""
        with self._lock:
            arrivals, self._arrivals = self._arrivals, []
            self._held.clear()
        for arrival in arrivals:
            self._wait(self._placed(arrival, 0))
        waiting, self._waiting = self._waiting, []
        return [command for *_, command in sorted(waiting, key=itemgetter(1))]

    def _wait(self, command: Command) -> None:
        heapq.heappush(self._waiting, (command.order, next(self._serial), command))

    def _placed(self, arrival: _Arrival, boundary: int) -> Command:
        tick = max(boundary, arrival.effective_tick)
        sequence = arrival.source_sequence
        return Command(
            target=arrival.target,
            commit_tick=tick,
            values=arrival.values[None, :],
            lanes=None,
            effective_s=self._grid.time_s(tick) if arrival.effective_s is None else arrival.effective_s,
            source_id=arrival.source_id,
            source_sequence=arrival.acceptance if sequence is None else sequence,
            sequenced=sequence is not None,
            from_outside=True,
            acceptance=arrival.acceptance,
        )
