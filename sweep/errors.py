"""Every exception of the product.

*Asked wrong* is an exception here, raised before anything runs, with all problems of a document at
once.  *Went wrong* is a value (:class:`sweep.results.Outcome`), never an exception across processes.
Each error builds its message from data: what was found, where, what is allowed, the nearest match.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class SweepError(Exception):
    """Root of all errors that are meant for people; the command line prints them without a traceback."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a document or a command: where, and what to do about it."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidInputError(SweepError, ValueError):
    """Something was asked wrong; carries every problem found, not only the first.

    Attributes:
        problems: what is wrong, in the order of the document.
        advice: a line about all of them, for example what to type instead.
    """

    def __init__(self, subject: str, problems: Iterable[Problem], advice: str = "") -> None:
        self.subject = subject
        self.problems = tuple(problems)
        self.advice = advice
        count = len(self.problems)
        head = f"{subject}: " + ("1 problem" if count == 1 else f"{count} problems")
        last = [f"  {advice}"] if advice else []
        super().__init__("\n".join([head, *(f"  {problem}" for problem in self.problems), *last]))

    def __reduce__(self) -> tuple[type[InvalidInputError], tuple[str, tuple[Problem, ...], str]]:
        return type(self), (self.subject, self.problems, self.advice)


class GridError(InvalidInputError):
    """A duration that cannot be read, or that does not fit the physics grid as its policy demands."""

    def __init__(self, message: str, path: str = "") -> None:
        self.message = message
        self.path = path
        super().__init__("time grid", [Problem(path, message)])

    def __str__(self) -> str:
        return str(self.problems[0])

    def __reduce__(self) -> tuple[type[GridError], tuple[str, str]]:  # type: ignore[override]
        return type(self), (self.message, self.path)


class InvalidIntervalError(SweepError, ValueError):
    """A FixedRateSchedule's interval is not a positive, finite number of seconds."""


class InvalidPhaseError(SweepError, ValueError):
    """A FixedRateSchedule's phase is not in [0, interval)."""


class InvalidElapsedError(SweepError, ValueError):
    """An elapsed time that a FixedRateSchedule cannot advance by or skip."""


class ClaimConflictError(InvalidInputError):
    """Two capabilities claim one resource, or a claim has no mechanism that enforces it."""


class FaultedError(SweepError, RuntimeError):
    """The Instance is faulted: it holds phase, tick, component, kind and message, and steps no further."""


class EndedError(SweepError, RuntimeError):
    """The episode has ended by a domain decision; ``reset()`` begins the next one."""


class OwnershipError(SweepError, RuntimeError):
    """A thread that does not own the Instance tried to advance or read its live state."""

    def __init__(self, operation: str, owner: str, caller: str) -> None:
        self.arguments = (operation, owner, caller)
        super().__init__(
            f"{operation}() belongs to the thread that made the Instance, {owner!r}; it was called from {caller!r}. "
            "Other threads send input with enqueue_external_input() and read copied outputs."
        )

    def __reduce__(self) -> tuple[type[OwnershipError], tuple[str, str, str]]:
        return type(self), self.arguments


class ExpiredViewError(SweepError, RuntimeError):
    """A view was used after the callback that it was lent to."""


class UndeclaredReadError(SweepError, LookupError):
    """A component reads what it did not declare, so nobody computed it."""


class MailboxFullError(SweepError, RuntimeError):
    """The bounded input mailbox cannot take another input; nothing was dropped."""


class HostError(SweepError, RuntimeError):
    """A SimulationHost cannot do what was asked now, or stopped because something around its Instance raised."""


class LateError(HostError):
    """A paced step would have begun later than tolerated; it was not taken."""


class CapsuleError(SweepError):
    """A failure capsule cannot be read, or cannot be reopened here."""


class LedgerError(SweepError):
    """A sweep folder or its ledger cannot be used as asked."""


class StoppedError(SweepError):
    """A sweep that had begun could not go on; what finished is in its ledger."""


class InterruptedSweepError(KeyboardInterrupt):
    """Ctrl-C, or a scheduler's signal, ended a sweep in good order; what finished is in its ledger.

    A KeyboardInterrupt, so that a script does not go on as if it had all it asked for.
    """


class ChangedError(LedgerError):
    """A sweep cannot be resumed, because what it was made from has changed.

    Attributes:
        folder: the sweep's.
        changes: what changed, a line each.
    """

    def __init__(self, folder: str, changes: Iterable[str]) -> None:
        self.folder = folder
        self.changes = tuple(changes)
        head = f"{folder} cannot be resumed, for what it was made from has changed:"
        super().__init__("\n".join([head, *(f"  {change}" for change in self.changes)]))

    def __reduce__(self) -> tuple[type[ChangedError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.folder, self.changes)


class ExecutorError(SweepError):
    """The executor cannot be started or reached as asked."""


class TrackingError(SweepError):
    """MLflow cannot be reached or refused what was sent; the ledger still has everything."""


def did_you_mean(name: str, options: Sequence[str]) -> str:
    """Advice for an unknown name: the nearest match if there is one, and all that exist.

    Returns:
        Text to append to "unknown ... 'name'", for example ``"; did you mean 'latency'? It exists: latency, mass"``.
    """
    near = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    listed = ", ".join(options) if options else "nothing"
    return f"{hint} There is: {listed}"
