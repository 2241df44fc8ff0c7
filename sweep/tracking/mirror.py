"""Make MLflow say what the ledger says; doing it twice changes nothing."""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from analysis.comparison import Comparison
from analysis.contrast import compare_cells
from analysis.frame import frame
from analysis.source import Sweep, read
from sweep.errors import TrackingError
from sweep.results import Ledger
from sweep.tracking.environment import quiet
from sweep.tracking.names import metric_bases
from sweep.tracking.process import artifact_root
from sweep.tracking.rows import RUNNING, RunRow, cell_row, sweep_id, sweep_status
from sweep.tracking.text import NOTE, documents, parent_tags, write_parquet

FINGERPRINT = "sweep.fingerprint"
"""Tag that is written last: what does not carry the right one is sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What one :func:`sync` did.

    Attributes:
        experiment_id: where.
        parent_id: the sweep's run.
        created: runs made.
        updated: runs that changed.
        unchanged: runs that were right already.
        waiting: cells that are not mirrored yet, because runs of theirs are still going.
        state: the parent's state.
    """

    experiment_id: str
    parent_id: str
    created: int
    updated: int
    unchanged: int
    waiting: int
    state: str


def sync(ledger: Path | str, uri: str, experiment: str, *, artifacts: str | None = None) -> SyncReport:
    """Mirror the ledger as it is now.

    Args:
        ledger: a sweep folder or its ledger file; a driver may be writing it.
        uri: MLflow's tracking URI, explicit.
        experiment: the experiment's name; made if it does not exist.
        artifacts: where a new experiment keeps its artifacts; None means beside an SQLite database, or as the
            server decides.

    Raises:
        LedgerError: there is no readable ledger.
        TrackingError: MLflow could not be reached, or refused.
    """
    with Ledger.open(ledger, read_only=True) as opened:
        # The state is read first: what is committed after it is the next round's.
        state, session = opened.state, opened.session()
        sweep = read(opened.path)
    provenance = {**sweep.header.provenance, **(session.provenance if session else {})}
    with _reachable(uri):
        return _Mirror(uri, experiment, artifacts or artifact_root(uri), sweep).send(state, provenance)


@contextmanager
def _reachable(uri: str) -> Iterator[None]:
    """Every failure of MLflow, its database or its network as one :class:`TrackingError` in a line."""
    quiet()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        reason = " ".join(str(error).split())[:300]
        raise TrackingError(f"MLflow at {uri} could not be used: {reason}") from error


@contextmanager
def _alone(uri: str) -> Iterator[None]:
    """One syncer at a time: two that make a new SQLite database at once break each other's migrations."""
    if not uri.startswith("sqlite:///"):
        yield
        return
    lock = Path(uri.removeprefix("sqlite:///").partition("?")[0] + ".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Mirror:
    """One pass over one sweep."""

    def __init__(self, uri: str, experiment: str, artifacts: str | None, sweep: Sweep) -> None:
        from mlflow import MlflowClient

        self._client = MlflowClient(tracking_uri=uri)
        self._sweep = sweep
        self._id = sweep_id(sweep)
        with _alone(uri):
            self._experiment = self._experiment_id(experiment, artifacts)
        self._runs = self._existing()
        self._created: set[str] = set()
        self._updated = self._unchanged = 0

    def send(self, state: str, provenance: Mapping[str, Any]) -> SyncReport:
        """Parent first, so that children have one; its final state last, so that nothing is claimed too early."""
        comparison = compare_cells(self._sweep)
        tags = parent_tags(self._sweep, comparison, provenance, sweep_id=self._id)
        parent_id = self._open_parent(tags, running=state == "running")
        common = {k: v for k, v in tags.items() if k not in (NOTE, "sweep.headline")}
        statuses: list[str] = []
        for cell in comparison.cells:
            if cell.n and (state != "running" or cell.n == cell.planned):
                row = cell_row(self._sweep, comparison, cell, over=state != "running")
                row = replace(row, tags={**common, **row.tags, "mlflow.parentRunId": parent_id})
                self._send(cell.cell_id, row, partial(self._attach_replicates, cell.cell_id))
                statuses.append(row.status)
        waiting = len(comparison.cells) - len(statuses)
        status = sweep_status(statuses, state=state, complete=waiting == 0)
        if status != RUNNING:
            row = replace(_parent_row(self._sweep, tags), status=status)
            self._send("", row, partial(self._attach_documents, comparison, provenance))
        return SyncReport(
            experiment_id=self._experiment,
            parent_id=parent_id,
            created=len(self._created),
            updated=self._updated,
            unchanged=self._unchanged,
            waiting=waiting,
            state=status,
        )

    def _experiment_id(self, name: str, artifacts: str | None) -> str:
        from mlflow.entities import LifecycleStage
        from mlflow.exceptions import MlflowException

        found = self._client.get_experiment_by_name(name)
        if found is None:
            bases = list(metric_bases(self._sweep.header.metrics).values())
            tags = {"mlflow.experiment.primaryMetric.name": f"{bases[0]}/mean"} if bases else {}
            try:
                return str(self._client.create_experiment(name, artifact_location=artifacts, tags=tags))
            except MlflowException:  # another syncer may have made it in between
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage != LifecycleStage.ACTIVE:
            raise TrackingError(f"MLflow's experiment {name!r} was deleted; restore it there or choose another name.")
        return str(found.experiment_id)

    def _existing(self) -> dict[str, Any]:
        """cell_id (empty for the parent) to its run.

        A creation whose answer was lost on the way leaves a second run behind (creating is not idempotent, and
        clients retry); the one that has been filled is kept.
        """
        runs: dict[str, Any] = {}
        token = None
        query = f"tags.`sweep.id` = '{self._id}'"
        while True:
            page = self._client.search_runs([self._experiment], query, max_results=1000, page_token=token)
            for run in page:
                key = run.data.tags.get("sweep.cell", "")
                ghost = run
                if key not in runs or (FINGERPRINT in run.data.tags and FINGERPRINT not in runs[key].data.tags):
                    ghost, runs[key] = runs.get(key), run
                if ghost is not None:
                    self._client.delete_run(ghost.info.run_id)
            token = page.token
            if not token:
                return runs

    def _open_parent(self, tags: Mapping[str, str], *, running: bool) -> str:
        run = self._run("", _parent_row(self._sweep, tags))
        if running and run.info.status != RUNNING:
            self._client.update_run(run.info.run_id, status=RUNNING)
        return str(run.info.run_id)

    def _run(self, key: str, row: RunRow) -> Any:
        if key not in self._runs:
            self._runs[key] = self._client.create_run(
                self._experiment, start_time=row.started_ms, tags=dict(row.tags), run_name=row.name
            )
            self._created.add(key)
        return self._runs[key]

    def _send(self, key: str, row: RunRow, attach: Callable[[str, Path], None]) -> None:
        from mlflow.entities import Metric, Param, RunTag

        run = self._run(key, row)
        run_id = run.info.run_id
        if run.data.tags.get(FINGERPRINT) == row.fingerprint and run.info.status == row.status:
            self._unchanged += 1
            return
        self._client.log_batch(
            run_id,
            metrics=[Metric(name, value, row.ended_ms, 0) for name, value in row.metrics.items()],
            params=[Param(name, value) for name, value in row.params.items()],
            tags=[RunTag(name, value) for name, value in row.tags.items()],
        )
        with tempfile.TemporaryDirectory() as folder:
            attach(run_id, Path(folder))
        if row.status == RUNNING:
            self._client.update_run(run_id, status=RUNNING)
        else:
            self._client.set_terminated(run_id, row.status, end_time=row.ended_ms)
        self._client.set_tag(run_id, FINGERPRINT, row.fingerprint)
        self._updated += key not in self._created

    def _attach_replicates(self, cell_id: str, run_id: str, folder: Path) -> None:
        path = write_parquet(frame(self._sweep, cell_id), folder / "replicates.parquet")
        self._client.log_artifact(run_id, str(path))

    def _attach_documents(
        self, comparison: Comparison, provenance: Mapping[str, Any], run_id: str, folder: Path
    ) -> None:
        path = write_parquet(frame(self._sweep), folder / "runs.parquet")
        self._client.log_artifact(run_id, str(path))
        for name, text in documents(self._sweep, comparison, provenance).items():
            self._client.log_text(run_id, text, name)


def _parent_row(sweep: Sweep, tags: Mapping[str, str]) -> RunRow:
    times = [time for span in sweep.commits.values() for time in span]
    if sweep.began_ms is not None:
        times.append(sweep.began_ms)
    return RunRow(
        name=sweep.header.name,
        status=RUNNING,
        started_ms=min(times, default=0),
        ended_ms=max(times, default=0),
        params={},
        metrics={},
        tags=tags,
    )
