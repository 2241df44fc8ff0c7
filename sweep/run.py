"""One sweep from what was asked to what came out: the same for the command line and for a notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.config.load import load_spec
from sweep.design.spec import SweepSpec
from sweep.execution.canary import examine
from sweep.execution.collect import CollectReport, Progress, collect
from sweep.execution.findings import Findings
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import PlannedSweep, plan_sweep
from sweep.results import Ledger, RunRecord
from sweep.runtime.noise import receipt_digest
from sweep.tracking.destination import Destination
from sweep.tracking.process import SyncerProcess, start_syncer

if TYPE_CHECKING:
    import pandas

    from analysis.comparison import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """A sweep that has run.

    Attributes:
        folder: where it is; ``analysis.load`` and ``analysis.compare`` take it.
        planned: what was asked, resolved.
        report: what this session did.
        syncer: the process that feeds MLflow; None if tracking is off or nothing was new.
    """

    folder: Path
    planned: PlannedSweep = field(repr=False)
    report: CollectReport
    syncer: SyncerProcess | None = field(default=None, repr=False)

    def comparison(self) -> Comparison:
        """The cells asked for, compared with their baseline."""
        from analysis import compare

        cells = {cell.cell_id for cell in self.planned.cells}
        baseline = self.planned.baseline if self.planned.header.baseline else None
        seeds = {run.seed for run in self.planned.runs}
        return compare(self.folder, baseline=baseline, cells=cells, seeds=seeds, recompute=recompute)

    def frame(self) -> pandas.DataFrame:
        """A row per run of the sweep's folder, earlier sessions included."""
        from analysis import load

        return load(self.folder)

    def records(self) -> list[RunRecord]:
        """The records of the runs asked for, in the plan's order."""
        with Ledger.open(self.folder, read_only=True) as ledger:
            found = {record.run_id: record for record in ledger.records()}
        asked = dict.fromkeys(run.run_id for run in self.planned.runs)
        return [found[run_id] for run_id in asked if run_id in found]


def run_sweep(
    *overrides: str,
    config_dirs: Sequence[str] = (),
    config_name: str = "config",
    on_progress: Callable[[Progress], None] | None = None,
) -> SweepResult:
    """Run a sweep, as ``python -m sweep`` does, and return when its last run is committed.

    Args:
        overrides: words of the command line, for example ``"+latency=0.002,0.005"``, ``"seeds=32"``.
        config_dirs: further folders of configuration.
        config_name: the primary configuration.
        on_progress: called as shards of runs are committed.

    Raises:
        InvalidInputError: everything that was asked wrong; nothing was written.
    """
    spec = load_spec(overrides, config_dirs=config_dirs, config_name=config_name)
    return execute(plan_sweep(spec), spec, on_progress)


def execute(
    planned: PlannedSweep, spec: SweepSpec, on_progress: Callable[[Progress], None] | None = None
) -> SweepResult:
    """Run what is missing of a planned sweep; MLflow is fed by a process of its own meanwhile."""
    destination = mlflow_of(spec)
    seen = examine(planned) if spec.canary else Findings()
    planned = (Findings.known(SweepFolder.of(planned, spec)) | seen).applied(planned)
    folder = SweepFolder.prepare(planned, spec)
    syncers: list[SyncerProcess] = []

    def hear(progress: Progress) -> None:
        # The first event comes once the driver's session is open, which is what a syncer follows.
        if destination is not None and not syncers:
            syncers.append(start_syncer(folder.path, destination))
        if on_progress is not None:
            news = [text for syncer in syncers if (text := syncer.news())]
            on_progress(replace(progress, remarks=(*progress.remarks, *news)))

    report = collect(planned, folder, spec, hear)
    return SweepResult(folder=folder.path, planned=planned, report=report, syncer=syncers[0] if syncers else None)


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
