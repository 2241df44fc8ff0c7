"""One sweep from what was asked to what came out: the same for the command line and for a notebook."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sweep.config.load import load_spec
from sweep.design.spec import SweepSpec
from sweep.errors import InterruptedSweepError
from sweep.execution.auto import cluster_address
from sweep.execution.canary import examine
from sweep.execution.collect import Collection
from sweep.execution.findings import Findings
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import PlannedSweep, plan_sweep
from sweep.execution.progress import CollectReport, Progress
from sweep.execution.ray_address import check_address
from sweep.results import Ledger, RunRecord
from sweep.runtime.noise import receipt_digest
from sweep.tracking.destination import Destination
from sweep.tracking.process import SyncerProcess, start_syncer

if TYPE_CHECKING:
    import pandas

    from analysis.comparison import Comparison


class SweepRun:
    """A sweep that runs while you iterate over it, or to its end with :meth:`finish`.

    An iteration gives the record of every run asked for, once: first of those that need not run again, then of each run
    as soon as it is committed, in the order in which they finish.  Leaving the loop leaves the rest for later: another
    loop goes on, and so does :meth:`finish`, while :meth:`close` leaves it to another session.

    >>> for record in run_sweep("+latency=0.002,0.005"):
    ...     print(record.seed, record.metrics)
    >>> comparison = run_sweep("+latency=0.002,0.005").finish().comparison()

    Args:
        planned: the sweep.
        spec: what was asked.
        on_progress: called as shards of runs are committed.

    Attributes:
        folder: where it is; ``analysis.load`` and ``analysis.compare`` take it.
        planned: what was asked, resolved.
        syncer: the process that feeds MLflow; None before the first run, and if tracking is off.

    Raises:
        InvalidInputError: the canary found what was asked wrong, or another sweep has this name; nothing was written.
        ExecutorError: nobody listens at the cluster's address; nothing was written.
        LedgerError: the folder cannot be written.
        InterruptedSweepError: from an iteration or :meth:`finish`, Ctrl-C ended it; what finished is committed.
    """

    def __init__(
        self, planned: PlannedSweep, spec: SweepSpec, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        self._destination = mlflow_of(spec)
        self._on_progress = on_progress
        seen = examine(planned) if spec.canary else Findings()
        self.planned = (Findings.known(SweepFolder.of(planned, spec)) | seen).applied(planned)
        if address := cluster_address(spec.executor):
            check_address(address)
        folder = SweepFolder.prepare(self.planned, spec)
        self.folder = folder.path
        self.syncer: SyncerProcess | None = None
        self._collection = Collection(self.planned, folder, spec, self._hear)
        self._records: deque[RunRecord] = deque()
        self._to_run: frozenset[str] = frozenset()
        self._is_asked = False

    def __iter__(self) -> SweepRun:
        return self

    def __next__(self) -> RunRecord:
        if not self._is_asked:
            self._is_asked = True
            first = next(self._collection, [])
            self._records.extend(record for record in self.records() if record.run_id not in self._to_run)
            self._records.extend(first)
        while not self._records:
            self._records.extend(self._next_shard())
        return self._records.popleft()

    def _next_shard(self) -> list[RunRecord]:
        try:
            return next(self._collection)
        except StopIteration:
            self._raise_if_interrupted()
            raise

    def _raise_if_interrupted(self) -> None:
        report = self.report
        if report.interrupted:
            raise InterruptedSweepError(
                f"{report.total - report.pending} of {report.total} runs are committed; the same words run the others"
            )

    def __repr__(self) -> str:
        hint = "" if self._is_asked else "; iterate over it, or finish() it"
        return f"<sweep of {len(self.planned.runs)} runs in {self.folder}{hint}>"

    def __del__(self) -> None:
        if not getattr(self, "_is_asked", True):
            # Whoever happens to be at work when it is found says nothing.
            warnings.warn_explicit(f"{self!r} was never run", RuntimeWarning, "run_sweep", 0)

    def commit(self) -> SweepRun:
        """Run what is left; returns once the last run is committed, and results are there.

        What was started for it, a Ray of its own, is still there: :meth:`finish` ends it, which takes a second.  Raises
        what that does.
        """
        return self._asked(self._collection.commit)

    def finish(self) -> SweepRun:
        """Run what is left, and end what was started for it.

        Raises:
            StoppedError: the sweep could not go on; what finished is committed.
            LedgerError: another driver is at it.
            ExecutorError: there is nowhere to run.
        """
        return self._asked(self._collection.finish)

    def _asked(self, advance: Callable[[], object]) -> SweepRun:
        self._is_asked = True
        self._records.clear()
        advance()
        self._raise_if_interrupted()
        return self

    def close(self) -> None:
        """Leave what has not run to another session, which may begin at once; closing twice is fine."""
        self._is_asked = True
        self._collection.close()

    @property
    def report(self) -> CollectReport:
        """What was done so far, in this session.

        Raises:
            SweepError: nothing has run yet.
        """
        return self._collection.report()

    def comparison(self) -> Comparison:
        """The cells asked for, compared with their baseline, over the runs that have a record by now."""
        from analysis.contrast import compare_cells
        from analysis.source import read

        cells = {cell.cell_id for cell in self.planned.cells}
        baseline = self.planned.baseline if self.planned.header.baseline else None
        seeds = {run.seed for run in self.planned.runs}
        return compare_cells(read(self.folder).only(cells, seeds), baseline, recompute=recompute)

    def frame(self) -> pandas.DataFrame:
        """A row per run asked for that has a record; ``analysis.load(folder)`` has all that ever ran there."""
        from analysis import load

        frame = load(self.folder)
        return frame[frame.run_id.isin({run.run_id for run in self.planned.runs})].reset_index(drop=True)

    def records(self) -> list[RunRecord]:
        """The records there are of the runs asked for, in the plan's order."""
        with Ledger.open(self.folder, read_only=True) as ledger:
            found = {record.run_id: record for record in ledger.records()}
        asked = dict.fromkeys(run.run_id for run in self.planned.runs)
        return [found[run_id] for run_id in asked if run_id in found]

    def _hear(self, progress: Progress) -> None:
        if progress.work is not None:
            self._to_run = frozenset(run.run_id for run in progress.work.runs)
        # The first event comes once the driver's session is open, which is what a syncer follows.
        if self._destination is not None and self.syncer is None:
            self.syncer = start_syncer(self.folder, self._destination)
        if self._on_progress is not None:
            news = self.syncer.news() if self.syncer is not None else ""
            self._on_progress(replace(progress, remarks=(*progress.remarks, *([news] if news else []))))


def run_sweep(
    *overrides: str,
    config_dirs: Sequence[str] = (),
    config_name: str = "config",
    on_progress: Callable[[Progress], None] | None = None,
) -> SweepRun:
    """A sweep as ``python -m sweep`` runs it: planned and checked now, run as it is iterated over or finished.

    Args:
        overrides: words of the command line, for example ``"+latency=0.002,0.005"``, ``"seeds=32"``.
        config_dirs: further folders of configuration.
        config_name: the primary configuration.
        on_progress: called as shards of runs are committed.

    Raises:
        InvalidInputError: everything that was asked wrong; nothing was written.
    """
    spec = load_spec(overrides, config_dirs=config_dirs, config_name=config_name)
    return SweepRun(plan_sweep(spec), spec, on_progress)


def mlflow_of(spec: SweepSpec) -> Destination | None:
    """Where MLflow mirrors a sweep; None where tracking is off.

    Raises:
        TrackingError: the URI names a store that MLflow does not have.
    """
    if not spec.tracking.enabled:
        return None
    return Destination.of_sweep(spec.output, spec.scene, spec.tracking.uri, spec.tracking.experiment)


def recompute(key: str, first: int, count: int, width: int) -> str:
    """Digest of a noise prefix from its key, to prove runs of different length paired."""
    return receipt_digest(int(key, 16), first, count, width)
