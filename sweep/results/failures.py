"""Failures by their cause: a thousand runs that fail alike are one thing to know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from sweep.results.record import Outcome, RunRecord, Status

_NUMBER = re.compile(r"0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)


class Cause(NamedTuple):
    """What failures have in common: all of the outcome but when, and the numbers in its message."""

    status: Status
    phase: str | None
    kind: str | None
    component: str | None
    message: str

    @classmethod
    def of(cls, outcome: Outcome) -> Cause:
        """The cause of an outcome; who had a lost run in hand is not part of it."""
        message = "" if outcome.status is Status.LOST else _NUMBER.sub("#", outcome.message)
        return cls(outcome.status, outcome.phase, outcome.kind, outcome.component, message)


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failures of one cause.

    Attributes:
        run_id: the first of them.
        outcome: how that one ended.
        count: how many there are.
    """

    run_id: str
    outcome: Outcome
    count: int = 1

    def __str__(self) -> str:
        outcome = self.outcome
        where = f" in {outcome.phase}" if outcome.phase else ""
        when = f" at {outcome.time_s:g} s" if outcome.time_s is not None and outcome.phase else ""
        who = f" ({outcome.component})" if outcome.component else ""
        return f"{outcome.status}{when}{where}{who}: {outcome.message}"


class Failures:
    """Counts failures by cause, in the order of their first one."""

    def __init__(self, records: Iterable[RunRecord] = ()) -> None:
        self._groups: dict[Cause, FailureGroup] = {}
        for record in records:
            self.add(record)

    def add(self, record: RunRecord) -> FailureGroup | None:
        """Count a record; returns its group, None if it is no failure."""
        if not record.outcome.status.is_failure:
            return None
        cause = Cause.of(record.outcome)
        group = self._groups.get(cause)
        group = FailureGroup(record.run_id, record.outcome) if group is None else replace(group, count=group.count + 1)
        self._groups[cause] = group
        return group

    @property
    def groups(self) -> tuple[FailureGroup, ...]:
        """The groups, each once."""
        return tuple(self._groups.values())

    def __len__(self) -> int:
        """Failures, of all causes."""
        return sum(group.count for group in self._groups.values())
