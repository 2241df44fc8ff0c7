"""collect: run what is missing, commit it, then tell; the only writer of a sweep's ledger."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sweep.design.spec import SweepSpec
from sweep.errors import LedgerError, StoppedError
from sweep.execution.auto import choose
from sweep.execution.canary import ANYWAY, Canary
from sweep.execution.capsules import CapsuleWriter
from sweep.execution.executor import Executor
from sweep.execution.folder import SweepFolder
from sweep.execution.interrupts import GRACE_S, orderly
from sweep.execution.pending import Work, pending_work
from sweep.execution.planning import PlannedSweep
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import ShardQueue
from sweep.results import FailureGroup, Failures, Ledger, RunRecord, Status
from sweep.results.session import FINISHED, INTERRUPTED


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


def collect(
    planned: PlannedSweep,
    folder: SweepFolder,
    spec: SweepSpec,
    on_event: Callable[[Progress], None] | None = None,
    *,
    executor: Executor | None = None,
) -> CollectReport:
    """Run what the ledger does not have yet.

    A shard is leased in the ledger before it is begun, and its records are committed before anyone hears of them.  The
    first Ctrl-C lets the shards in hand finish for a while, a second one stops at once; either way what finished is
    kept and the rest is pending.

    Args:
        planned: the sweep.
        folder: its place, prepared.
        spec: what was asked; its executor decides where runs execute.
        on_event: called with each step of progress.
        executor: replaces the one that was asked for.

    Raises:
        LedgerError: the ledger cannot be written, or another driver is at it.
        StoppedError: the sweep's folder took no more once runs had begun.
        ExecutorError: there is nowhere to run.
    """
    executor = executor or choose(spec.executor)
    with Ledger.open(folder.ledger) as ledger:
        ledger.add_cells(planned.cells)
        ledger.add_runs((r.run_id, r.cell_id, r.plan.plan_id, r.seed) for r in planned.runs)
        capsules = CapsuleWriter(planned, folder.path)
        session = _Session(planned, ledger, executor, capsules, on_event, spec=spec)
        ledger.begin(planned.header.provenance)
        try:
            session.run(spec.executor.shard_s)
        except KeyboardInterrupt:
            session.interrupted, session.stopped = True, session.stopped or "stopped"
        except BaseException as error:
            with suppress(LedgerError):  # the first error is the one to hear of
                ledger.finish(INTERRUPTED)
            if isinstance(error, LedgerError):
                raise StoppedError(f"{error} {session.so_far}") from error
            raise
        ledger.finish(INTERRUPTED if session.stopped else FINISHED)
        return session.report()


class _Session:
    """The state of one call of :func:`collect`."""

    def __init__(
        self,
        planned: PlannedSweep,
        ledger: Ledger,
        executor: Executor,
        capsules: CapsuleWriter,
        on_event: Callable[[Progress], None] | None,
        *,
        spec: SweepSpec,
    ) -> None:
        self._warnings = planned.warnings
        self._ledger = ledger
        self._executor = executor
        self._capsules = capsules
        self._on_event = on_event
        self._started = time.monotonic()
        self._work = work = pending_work(planned, ledger, isolates=executor.isolates)
        asked, waiting = {run.run_id for run in planned.runs}, {run.run_id for run in work.runs}
        known = asked - waiting
        statuses = ledger.statuses()
        self._statuses = Counter(statuses[run_id].value for run_id in known)
        failed = ledger.records([status for status in Status if status.is_failure])
        self._failed_before = [record for record in failed if record.run_id in known]
        self._failures = Failures(self._failed_before)
        self._most_failures = None if spec.stop_after is None else spec.stop_after + len(self._failures)
        # What is there already says more than one run could.
        has_results = any(not statuses[run_id].is_failure for run_id in known)
        self._canary = Canary.of(planned) if spec.canary and not has_results else None
        self._pace_s = ledger.leases.pace_s()
        self._total, self._reused = len(asked), len(known)
        self._ran = 0
        self._queue: ShardQueue | None = None
        self.interrupted = False
        self.stopped = ""
        self._resume_with = ""

    def run(self, shard_s: float) -> None:
        """Empty the queue of pending runs."""
        self._tell(work=self._work)
        if not self._work.runs:
            return
        self._heed(self._failed_before)
        if self.stopped:
            return
        runs = self._work.runs if self._canary is None else self._canary.ahead(self._work.runs)
        queue = ShardQueue(runs, shard_s=shard_s, suspects=self._work.suspects, leases=self._ledger.leases)
        self._queue = queue
        with self._executor as executor, orderly(self._interrupt):
            for records in executor.execute(queue, RunFiles.of(self._ledger.path.parent)):
                self._commit(records)

    def report(self) -> CollectReport:
        return CollectReport(
            total=self._total,
            reused=self._reused,
            ran=self._ran,
            statuses=dict(self._statuses),
            failures=self._failures.groups,
            interrupted=self.interrupted,
            stopped=self.stopped,
            resume_with=self._resume_with,
            elapsed_s=time.monotonic() - self._started,
            reason=self._executor.reason if self._work.runs else "everything was done before",
            remark=self._capsules.remark,
        )

    @property
    def so_far(self) -> str:
        """What is safe, for people."""
        return f"{self._reused + self._ran} of {self._total} runs are committed; the same command runs the others."

    def _interrupt(self) -> None:
        self.interrupted = True
        with suppress(RuntimeError):  # it may come while something is being printed
            self._stop(f"stopping: what runs may finish for {GRACE_S:g} s; Ctrl-C again stops at once")

    def _stop(self, why: str) -> None:
        if not self.stopped:
            self.stopped = why
            self._executor.stop()
            self._tell()

    def _commit(self, records: Sequence[RunRecord]) -> None:
        if records:
            records = self._ledger.append(records)
        self._ran += len(records)
        self._statuses.update(record.outcome.status.value for record in records)
        for record in records:
            self._failures.add(record)
        self._tell(records, self._capsules.write(records))
        failed, is_over = len(self._failures), self._ran == len(self._work.runs)
        if self._most_failures is not None and failed >= self._most_failures and not is_over:
            self._stop(f"stopping at {failed} failures, as on_failure asks")
        elif not is_over:
            self._heed(records)

    def _heed(self, records: Iterable[RunRecord]) -> None:
        """Stop if the canary is among some records and fell."""
        if self._canary is not None and (alarm := self._canary.alarm(records)):
            self._resume_with = ANYWAY
            self._stop(alarm)

    def _tell(
        self,
        records: Sequence[RunRecord] = (),
        capsules: Mapping[str, Path] | None = None,
        work: Work | None = None,
    ) -> None:
        if self._on_event is None:
            return
        elapsed, left = time.monotonic() - self._started, len(self._work.runs) - self._ran
        pace = self._pace(elapsed)
        self._on_event(
            Progress(
                done=self._reused + self._ran,
                total=self._total,
                reused=self._reused,
                statuses=dict(self._statuses),
                elapsed_s=elapsed,
                eta_s=0.0 if not left else None if pace is None else pace * left,
                failures=self._failures.groups,
                records=tuple(records),
                reason=self._executor.reason,
                capsules=capsules or {},
                remarks=(*self._warnings, *self._executor.remarks),
                stopping=self.stopped,
                work=work,
            )
        )

    def _pace(self, elapsed_s: float) -> float | None:
        """Wall time per run [s]; a run that was alone, as the canary is, says more than it took."""
        if self._queue is not None and self._queue.largest == 1 and self._queue.among_s is not None:
            return self._queue.among_s / self._queue.workers
        return elapsed_s / self._ran if self._ran else self._pace_s
