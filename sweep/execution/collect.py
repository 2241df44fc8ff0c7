"""collect: run what is missing, commit it, then tell; the only writer of a sweep's ledger."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sweep.design.run import Run, distinct_runs
from sweep.design.spec import SweepSpec
from sweep.errors import LedgerError
from sweep.execution.auto import choose
from sweep.execution.capsules import CapsuleWriter
from sweep.execution.code import code_id
from sweep.execution.executor import Executor
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import PlannedSweep
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import ShardQueue
from sweep.execution.traces import untraced_runs
from sweep.results import Ledger, RunRecord, Status
from sweep.results.session import FINISHED, INTERRUPTED

LAST_FAILURES = 3
_GOOD = (Status.COMPLETED, Status.ENDED)


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
        failures: the last records that are neither completed nor ended.
        records: what this event adds.
        reason: where the work is done and why.
        capsules: failure capsules of what this event adds, by run_id.
    """

    done: int
    total: int
    reused: int
    statuses: Mapping[str, int]
    elapsed_s: float
    eta_s: float | None
    failures: tuple[RunRecord, ...]
    records: tuple[RunRecord, ...]
    reason: str
    capsules: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectReport:
    """What a session did.

    Attributes:
        total: distinct runs of the plan.
        reused: of them, done before.
        ran: of them, done in this session.
        statuses: number of runs by status, reused ones included.
        interrupted: whether it was told to stop; runs without a record are pending.
        elapsed_s: how long it took [s].
        reason: where the work was done and why.
        remark: why runs that faulted have no capsule; empty if all have one.
    """

    total: int
    reused: int
    ran: int
    statuses: Mapping[str, int]
    interrupted: bool
    elapsed_s: float
    reason: str
    remark: str = ""

    @property
    def pending(self) -> int:
        """Runs without a record."""
        return self.total - self.reused - self.ran


def pending_runs(planned: PlannedSweep, ledger: Ledger) -> tuple[Run, ...]:
    """The distinct runs that have no final record under the code they would run with now, or not the trace asked for.

    A run that has its record keeps it: running again for a trace gives an equal one.
    """
    codes = {run.plan.plan_id: run.plan for run in planned.runs}
    ids = {plan_id: code_id(plan) for plan_id, plan in codes.items()}
    done = {code: ledger.done(code) for code in set(ids.values())}
    untraced = untraced_runs(distinct_runs(planned.runs), ledger)
    return tuple(
        run
        for run in distinct_runs(planned.runs)
        if run.run_id not in done[ids[run.plan.plan_id]] or run.run_id in untraced
    )


def collect(
    planned: PlannedSweep,
    folder: SweepFolder,
    spec: SweepSpec,
    on_event: Callable[[Progress], None] | None = None,
    *,
    executor: Executor | None = None,
) -> CollectReport:
    """Run what the ledger does not have yet.

    A shard's records are committed before anyone hears of them.  The first Ctrl-C lets the shards in hand finish,
    a second one stops at once; either way what finished is kept and the rest is pending.

    Args:
        planned: the sweep.
        folder: its place, prepared.
        spec: what was asked; its executor decides where runs execute.
        on_event: called with each step of progress.
        executor: replaces the one that was asked for.

    Raises:
        LedgerError: the ledger cannot be written, or another driver is at it.
        ExecutorError: there is nowhere to run.
    """
    with Ledger.open(folder.ledger) as ledger:
        ledger.add_cells(planned.cells)
        ledger.add_runs((r.run_id, r.cell_id, r.plan.plan_id, r.seed) for r in planned.runs)
        capsules = CapsuleWriter(planned, folder.path)
        session = _Session(planned, ledger, executor or choose(spec.executor), capsules, on_event)
        ledger.begin(planned.header.provenance)
        try:
            session.run(spec.executor.shard_s)
        except KeyboardInterrupt:
            session.interrupted = True
        except BaseException:
            with suppress(LedgerError):  # the first error is the one to hear of
                ledger.finish(INTERRUPTED)
            raise
        ledger.finish(INTERRUPTED if session.interrupted else FINISHED)
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
    ) -> None:
        self._ledger = ledger
        self._executor = executor
        self._capsules = capsules
        self._on_event = on_event
        self._started = time.monotonic()
        self._pending = pending_runs(planned, ledger)
        asked, waiting = {run.run_id for run in planned.runs}, {run.run_id for run in self._pending}
        known = [record for record in ledger.records() if record.run_id in asked]
        self._tried = {r.run_id: r.attempt for r in known if not r.outcome.status.is_final}
        self._statuses = Counter(r.outcome.status.value for r in known if r.run_id not in waiting)
        self._failures = [r for r in known if r.run_id not in waiting and r.outcome.status not in _GOOD]
        self._total, self._reused = len(asked), len(asked) - len(waiting)
        self._ran = 0
        self.interrupted = False

    def run(self, shard_s: float) -> None:
        """Empty the queue of pending runs."""
        self._tell((), {})
        if not self._pending:
            return
        queue = ShardQueue(self._pending, shard_s=shard_s)
        with self._executor as executor, _first_interrupt(self._stop):
            for records in executor.execute(queue, RunFiles.of(self._ledger.path.parent)):
                self._commit(records)

    def report(self) -> CollectReport:
        return CollectReport(
            total=self._total,
            reused=self._reused,
            ran=self._ran,
            statuses=dict(self._statuses),
            interrupted=self.interrupted,
            elapsed_s=time.monotonic() - self._started,
            reason=self._executor.reason if self._pending else "everything was done before",
            remark=self._capsules.remark,
        )

    def _stop(self) -> None:
        self.interrupted = True
        self._executor.stop()

    def _commit(self, records: Sequence[RunRecord]) -> None:
        records = [replace(r, attempt=r.attempt + self._tried.get(r.run_id, 0)) for r in records]
        self._ledger.append(records)
        self._ran += len(records)
        self._statuses.update(record.outcome.status.value for record in records)
        self._failures += [record for record in records if record.outcome.status not in _GOOD]
        self._tell(tuple(records), self._capsules.write(records))

    def _tell(self, records: tuple[RunRecord, ...], capsules: Mapping[str, Path]) -> None:
        if self._on_event is None:
            return
        elapsed, left = time.monotonic() - self._started, len(self._pending) - self._ran
        self._on_event(
            Progress(
                done=self._reused + self._ran,
                total=self._total,
                reused=self._reused,
                statuses=dict(self._statuses),
                elapsed_s=elapsed,
                eta_s=elapsed / self._ran * left if self._ran else None if left else 0.0,
                failures=tuple(self._failures[-LAST_FAILURES:]),
                records=records,
                reason=self._executor.reason,
                capsules=capsules,
            )
        )


@contextmanager
def _first_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Turn the first Ctrl-C into a call of ``stop``; the next one interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual: Any = signal.getsignal(signal.SIGINT)

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, usual)
        stop()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
