"""How far a sweep is, and what a session of its driver did: values for displays and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sweep.execution.pending import Work
from sweep.results import FailureGroup, RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a sweep is; what it counts is in the ledger already.

    Attributes:
        done: runs with a record, those of earlier sessions among them.
        total: distinct runs of the plan.
        reused: runs that were done before this session.
        statuses: number of runs by status, reused ones included.
        elapsed_s: since this session began [s].
        eta_s: until it ends, at the pace so far [s]; None while nothing is known.
        failures: runs that failed, by cause, reused ones included.
        records: what this event adds.
        reason: where the work is done and why.
        capsules: failure capsules of what this event adds, by run_id.
        remarks: what a person should know of where the work is done, all of it so far.
        stopping: why no more runs are begun; empty while they are.
        work: what is to be run and why; only the first event has it.
    """

    done: int
    total: int
    reused: int
    statuses: Mapping[str, int]
    elapsed_s: float
    eta_s: float | None
    failures: tuple[FailureGroup, ...]
    records: tuple[RunRecord, ...]
    reason: str
    capsules: Mapping[str, Path] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    stopping: str = ""
    work: Work | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectReport:
    """What a session did.

    Attributes:
        total: distinct runs of the plan.
        reused: of them, done before.
        ran: of them, done in this session.
        statuses: number of runs by status, reused ones included.
        failures: runs that failed, by cause, reused ones included.
        interrupted: whether a person or a scheduler stopped it; runs without a record are pending.
        stopped: why it did not run everything; empty if it did.
        resume_with: what has to be said for the others to be run; empty if nothing has.
        elapsed_s: how long it took [s].
        reason: where the work was done and why.
        remark: why runs that faulted have no capsule; empty if all have one.
    """

    total: int
    reused: int
    ran: int
    statuses: Mapping[str, int]
    failures: tuple[FailureGroup, ...] = ()
    interrupted: bool
    stopped: str = ""
    resume_with: str = ""
    elapsed_s: float
    reason: str
    remark: str = ""

    @property
    def pending(self) -> int:
        """Runs without a record."""
        return self.total - self.reused - self.ran
