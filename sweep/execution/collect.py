"""Collection: run what is missing, commit it, then tell; the only writer of a sweep's ledger."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sweep.design.spec import SweepSpec
from sweep.errors import ExecutorError, LedgerError, StoppedError, SweepError
from sweep.execution.auto import choose
from sweep.execution.calibration import calibrate, in_words
from sweep.execution.canary import ANYWAY, Canary
from sweep.execution.capsules import CapsuleWriter
from sweep.execution.executor import Executor
from sweep.execution.folder import SweepFolder
from sweep.execution.interrupts import GRACE_S, Interrupts
from sweep.execution.pending import Work, pending_work
from sweep.execution.planning import PlannedSweep
from sweep.execution.progress import CollectReport, Progress
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import LANES, ShardQueue
from sweep.results import Failures, Ledger, RunRecord, Status
from sweep.results.session import FINISHED, INTERRUPTED


class Collection:
    """The runs of a sweep that its ledger lacks, run as they are asked for: iterate over it, or :meth:`finish` it.

    An iteration gives the records of a shard at a time.  A shard is leased in the ledger before it is begun, and its
    records are committed before anyone hears of them.  While this is at work the first Ctrl-C lets the shards in hand
    finish for a while, a second one stops at once; either way what finished is kept and the rest is pending.

    Args:
        planned: the sweep.
        folder: its place, prepared.
        spec: what was asked; its executor decides where runs execute.
        on_event: called with each step of progress.
        executor: replaces the one that was asked for.

    Iterating raises:
        LedgerError: the ledger cannot be written, or another driver is at it.
        ExecutorError: there is nowhere to run.
        StoppedError: the sweep could not go on once runs had begun.
    """

    def __init__(
        self,
        planned: PlannedSweep,
        folder: SweepFolder,
        spec: SweepSpec,
        on_event: Callable[[Progress], None] | None = None,
        *,
        executor: Executor | None = None,
    ) -> None:
        self._planned = planned
        self._folder = folder
        self._spec = spec
        self._on_event = on_event
        self._executor = executor or choose(spec.executor)
        self._interrupts = Interrupts(self._interrupt)
        self._session: _Session | None = None
        self._shards = self._collected()

    def __iter__(self) -> Collection:
        return self

    def __next__(self) -> list[RunRecord]:
        with self._interrupts:  # between two shards signals are the caller's
            return next(self._shards)

    def commit(self) -> None:
        """Run what is left; returns once the last run is committed, while a Ray of its own is still there."""
        with self._interrupts:
            while self._session is None or not self._session.is_complete:
                if next(self, None) is None:
                    return

    def finish(self) -> CollectReport:
        """Run what is left, and end what was started for it."""
        with self._interrupts:
            for _ in self:
                pass
        return self.report()

    def close(self) -> None:
        """Give back what is in hand, and let another driver in."""
        self._shards.close()

    def report(self) -> CollectReport:
        """What was done so far."""
        if self._session is None:
            raise SweepError("nothing has run yet: iterate over the sweep, or finish() it")
        return self._session.report()

    def _interrupt(self) -> None:
        if self._session is None:
            raise KeyboardInterrupt
        self._session.interrupt()

    def _collected(self) -> Generator[list[RunRecord]]:
        planned = self._planned
        with Ledger.open(self._folder.ledger) as ledger:
            ledger.add_cells(planned.cells)
            ledger.add_runs((r.run_id, r.cell_id, r.plan.plan_id, r.seed) for r in planned.runs)
            capsules = CapsuleWriter(planned, self._folder.path)
            session = _Session(planned, ledger, self._executor, capsules, self._on_event, spec=self._spec)
            self._session = session
            ledger.begin(planned.header.provenance)
            try:
                yield from session.run(self._spec.executor.shard_s)
            except KeyboardInterrupt:
                session.interrupted, session.stopped = True, session.stopped or "stopped"
            except BaseException as error:
                with suppress(LedgerError):  # the first error is the one to hear of
                    ledger.finish(FINISHED if session.is_complete else INTERRUPTED)
                if isinstance(error, LedgerError) or (isinstance(error, ExecutorError) and session.has_run):
                    raise StoppedError(f"{error} {session.so_far}") from error
                raise
            ledger.finish(INTERRUPTED if session.stopped else FINISHED)


def collect(
    planned: PlannedSweep,
    folder: SweepFolder,
    spec: SweepSpec,
    on_event: Callable[[Progress], None] | None = None,
    *,
    executor: Executor | None = None,
) -> CollectReport:
    """Run what the ledger does not have yet, to the end; see :class:`Collection`."""
    return Collection(planned, folder, spec, on_event, executor=executor).finish()


class _Session:
    """The state of one collection."""

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
        self._work = work = pending_work(planned, ledger, isolates=executor.isolates, timeout_s=spec.executor.timeout_s)
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
        self._lanes: int | None = None  # if they were calibrated
        self.interrupted = False
        self.stopped = ""
        self._resume_with = ""

    def run(self, shard_s: float) -> Iterator[list[RunRecord]]:
        """Empty the queue of pending runs; yields what is committed."""
        self._tell(work=self._work)
        if not self._work.runs:
            return
        self._heed(self._failed_before)
        if self.stopped:
            return
        runs = self._work.runs if self._canary is None else self._canary.ahead(self._work.runs)
        self._calibrate()
        queue = ShardQueue(
            runs, shard_s=shard_s, lanes=self._lanes or LANES, suspects=self._work.suspects, leases=self._ledger.leases
        )
        self._queue = queue
        with self._executor as executor:
            for records in executor.execute(queue, RunFiles.of(self._ledger.path.parent)):
                yield self._commit(records)

    def _calibrate(self) -> None:
        """Find the best lanes and threads; of few runs it is not worth finding out."""
        found = calibrate(self._work.runs, self._executor.threads) if len(self._work.runs) > LANES else None
        if found is not None:
            self._lanes, self._executor.threads = found.lanes, found.threads

    @property
    def _reason(self) -> str:
        where = self._executor.reason
        return where if self._lanes is None else f"{where}; {in_words(self._lanes, self._executor.threads)}"

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
            reason=self._reason if self._work.runs else "everything was done before",
            remark=self._capsules.remark,
        )

    @property
    def has_run(self) -> bool:
        """Whether anything was committed."""
        return self._ran > 0

    @property
    def is_complete(self) -> bool:
        """Whether every run has a record."""
        return self._ran == len(self._work.runs)

    @property
    def so_far(self) -> str:
        """What is safe, for people."""
        return f"{self._reused + self._ran} of {self._total} runs are committed; the same command runs the others."

    def interrupt(self) -> None:
        """Begin nothing more, because a person asked."""
        self.interrupted = True
        with suppress(RuntimeError):  # it may come while something is being printed
            self._stop(f"stopping: what runs may finish for {GRACE_S:g} s; Ctrl-C again stops at once")

    def _stop(self, why: str) -> None:
        if not self.stopped:
            self.stopped = why
            self._executor.stop()
            self._tell()

    def _commit(self, records: list[RunRecord]) -> list[RunRecord]:
        if records:
            records = self._ledger.append(records)
        self._ran += len(records)
        self._statuses.update(record.outcome.status.value for record in records)
        for record in records:
            self._failures.add(record)
        self._tell(records, self._capsules.write(records))
        failed = len(self._failures)
        if self.is_complete:
            return records
        if self._most_failures is not None and failed >= self._most_failures:
            self._stop(f"stopping at {failed} failures, as on_failure asks")
        else:
            self._heed(records)
        return records

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
                reason=self._reason,
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
