"""What may happen to a run, attempt by attempt: the ledger's rules as plain values, without a file.

::

    pending --lease--> leased --answered, final------------> done   (and stays done)
       ^                 |------answered, lost-------------> lost
       |                 |------died, orphaned: hopeless---> lost
       |                 |------answered, timed out--------> timed out
       '-----------------'------any other ending
    lost, timed out, done --lease--> leased    (asked again; timed out: with more time; done: for its trace, or under
                                                other code)

An attempt that took its process along is *deadly*.  A run is hopeless after :data:`MAX_ATTEMPTS` of them, of which
it was alone in :data:`ALONE`: whoever died in company may have been innocent.  An *overdue* attempt took more time than
one call may, and says nothing about the runs that shared it; only one that was overdue alone is answered by that.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from enum import StrEnum

from sweep.errors import LedgerError
from sweep.results.record import Status

MAX_ATTEMPTS = 3
"""Deadly attempts after which a run is lost ..."""

ALONE = 2
"""... if it was alone in so many of them."""

HERE = "the driver"
"""The worker that is the driver's own process: what kills it kills the driver."""


class State(StrEnum):
    """Where a run is."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    LOST = "lost"
    TIMED_OUT = "timed_out"


class Ending(StrEnum):
    """How an attempt ended."""

    ANSWERED = "answered"
    RETURNED = "returned"
    CANCELLED = "cancelled"
    DIED = "died"
    ORPHANED = "orphaned"
    OVERDUE = "overdue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of one run.

    Attributes:
        number: 1 for the first.
        session: the number of the driver's session.
        worker: who had it in hand; :data:`HERE` is the driver itself.
        lanes: runs that executed in the same call, this one included.
        since_ms: when it was handed out [ms since 1970].
        until_ms: when that was over; None while it is in hand.
        ending: how it ended; None while it is in hand.
        detail: what is known of the ending, for people.
    """

    number: int
    session: int
    worker: str
    lanes: int
    since_ms: int
    until_ms: int | None = None
    ending: Ending | None = None
    detail: str = ""

    @property
    def is_open(self) -> bool:
        """Whether somebody has it in hand."""
        return self.ending is None

    @property
    def is_deadly(self) -> bool:
        """Whether the run may have killed the process it ran in.

        A driver that dies while others run says nothing about them.
        """
        return self.ending is Ending.DIED or (self.ending is Ending.ORPHANED and self.worker == HERE)

    def __str__(self) -> str:
        company = "alone" if self.lanes == 1 else f"with {self.lanes - 1} others"
        told = f" ({textwrap.shorten(self.detail, 80, placeholder=' ...')})" if self.detail else ""
        return f"attempt {self.number}, {company}, by {self.worker}: {self.ending or 'in hand'}{told}"


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run's attempts, oldest first, and the status of its record.

    Every transition returns what the run is after it.
    """

    attempts: tuple[Attempt, ...] = ()
    status: Status | None = None

    @property
    def state(self) -> State:
        """Where the run is."""
        if self.attempts and self.attempts[-1].is_open:
            return State.LEASED
        if self.status in (None, Status.CANCELLED):
            return State.PENDING
        return State.DONE if self.status.is_final else State(self.status)

    @property
    def deaths(self) -> int:
        """Deadly attempts."""
        return sum(attempt.is_deadly for attempt in self.attempts)

    @property
    def is_hopeless(self) -> bool:
        """Whether another attempt would only take another process along."""
        alone = sum(attempt.is_deadly and attempt.lanes == 1 for attempt in self.attempts)
        return self.deaths >= MAX_ATTEMPTS and alone >= ALONE

    @property
    def story(self) -> str:
        """Its deadly attempts, for people."""
        return "; ".join(str(attempt) for attempt in self.attempts if attempt.is_deadly)

    def leased(self, worker: str, lanes: int, *, session: int, now_ms: int) -> RunHistory:
        """Somebody has taken it.

        Raises:
            LedgerError: somebody has it already.
        """
        if self.state is State.LEASED:
            raise LedgerError(f"nobody else can take it: {self.attempts[-1]}")
        new = Attempt(number=len(self.attempts) + 1, session=session, worker=worker, lanes=lanes, since_ms=now_ms)
        return replace(self, attempts=(*self.attempts, new))

    def ended(self, ending: Ending, *, now_ms: int, detail: str = "") -> RunHistory:
        """The attempt in hand is over without a record; a run that becomes hopeless is lost.

        Raises:
            LedgerError: nobody has it in hand.
        """
        if self.state is not State.LEASED:
            raise LedgerError(f"it is in nobody's hand, it is {self.state}")
        last = replace(self.attempts[-1], until_ms=now_ms, ending=ending, detail=detail)
        after = replace(self, attempts=(*self.attempts[:-1], last))
        is_lost = last.is_deadly and after.is_hopeless and after.state is not State.DONE
        return replace(after, status=Status.LOST) if is_lost else after

    def answered(self, status: Status, *, now_ms: int) -> RunHistory:
        """A record has come, from whoever has the run in hand or from elsewhere; a final one stays."""
        ending = Ending.OVERDUE if status is Status.TIMED_OUT else Ending.ANSWERED
        after = self.ended(ending, now_ms=now_ms) if self.state is State.LEASED else self
        return after if after.state is State.DONE else replace(after, status=status)
