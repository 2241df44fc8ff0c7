"""Runs in MLflow, made to say what they should; saying it twice changes nothing.

A run is known by its tags, because creating one is not idempotent: a creation whose answer was lost on the way has
left a run behind.  The tag :data:`FINGERPRINT` is written last: what does not carry the right one is sent again.
"""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sweep.errors import TrackingError
from sweep.tracking.advice import in_a_line
from sweep.tracking.destination import Destination, sqlite_path
from sweep.tracking.rows import RUNNING, RunRow
from sweep.tracking.tags import CELL, NOTE, SWEEP

FINGERPRINT = "sweep.fingerprint"

PAGE = 200
"""Runs asked for at once: a server takes about a second for so many, and may be a slow one."""

Files = Callable[[], Mapping[str, bytes]]


class Store:
    """One sweep's runs in one experiment.

    Args:
        destination: which MLflow, which experiment.
        sweep_id: whose runs; the value of their tag :data:`SWEEP`.
        tags: of the experiment, if it has to be made.

    Attributes:
        experiment_id: the experiment's.
        updated: runs that were there and changed.
        unchanged: runs that were right already.

    Raises:
        TrackingError: the experiment was deleted.
    """

    def __init__(self, destination: Destination, sweep_id: str, tags: Mapping[str, str]) -> None:
        from mlflow import MlflowClient

        self._sweep_id = sweep_id
        self._is_server = destination.is_server
        with _first_use(destination):
            self._client = MlflowClient(tracking_uri=destination.uri)
            self.experiment_id = _experiment_id(self._client, destination, tags)
        self.updated = self.unchanged = 0
        self._created: set[str] = set()
        self._unkept: Exception | None = None
        self._runs = self._find()

    @property
    def created(self) -> int:
        """How many runs were made."""
        return len(self._created)

    def status(self, key: str) -> str:
        """The state of a run; empty if there is none."""
        return str(self._runs[key].info.status) if key in self._runs else ""

    def metrics(self, key: str) -> Mapping[str, float]:
        """What a run says at present."""
        return self._runs[key].data.metrics if key in self._runs else {}

    def run_id(self, row: RunRow) -> str:
        """The id of a row's run, which is made if it is not there."""
        if row.key not in self._runs:
            tags = {name: value for name, value in row.tags.items() if name != NOTE}
            run = self._client.create_run(self.experiment_id, row.started_ms, tags, row.name)
            self._runs[row.key] = run
            self._created.add(row.key)
        return str(self._runs[row.key].info.run_id)

    def deliver(self, row: RunRow, files: Files) -> None:
        """Make a row's run say what the row says, and carry the files; they are asked for only if it did not yet.

        What logging again cannot mend is made anew, and the run that was wrong deleted.
        """
        before = self._runs.get(row.key)
        if before is not None and _says(before, row):
            self.unchanged += 1
            return
        if before is not None and not _can_say(before, row):
            self._client.delete_run(before.info.run_id)
            del self._runs[row.key]
        run_id = self.run_id(row)
        self._log(run_id, row)
        is_kept = self._attach(run_id, files)
        self._settle(self._runs[row.key], row)
        if is_kept:
            self._client.set_tag(run_id, FINGERPRINT, row.fingerprint)
        self.updated += row.key not in self._created

    def finish(self) -> None:
        """Delete what creations left behind twice.

        Raises:
            TrackingError: artifacts could not be kept; all else is there.
        """
        if self._created and self._is_server:
            self._find()
        if self._unkept is not None:
            said = in_a_line(self._unkept)[:300]
            raise TrackingError(f"MLflow has all numbers, but not the files, which could not be kept: {said}.")

    def _find(self) -> dict[str, Any]:
        """Cell id (empty for the sweep itself) to its run; of two, the one that has been filled is kept."""
        runs: dict[str, Any] = {}
        token = None
        query = f"tags.`{SWEEP}` = '{self._sweep_id}'"
        while True:
            page = self._client.search_runs([self.experiment_id], query, max_results=PAGE, page_token=token)
            for run in page:
                key = run.data.tags.get(CELL, "")
                ghost = run
                if key not in runs or (FINGERPRINT in run.data.tags and FINGERPRINT not in runs[key].data.tags):
                    ghost, runs[key] = runs.get(key), run
                if ghost is not None:
                    self._client.delete_run(ghost.info.run_id)
            token = page.token
            if not token:
                return runs

    def _log(self, run_id: str, row: RunRow) -> None:
        from mlflow.entities import Metric, Param, RunTag

        run = self._runs[row.key]
        for name in run.data.tags:
            if name.startswith("sweep.") and name not in row.tags and name != FINGERPRINT:
                self._client.delete_tag(run_id, name)
        if run.info.run_name != row.name:
            self._client.update_run(run_id, name=row.name)
        self._client.log_batch(
            run_id,
            metrics=[Metric(name, value, row.ended_ms, 0) for name, value in row.metrics.items()],
            params=[Param(name, value) for name, value in row.params.items()],
            tags=[RunTag(name, value) for name, value in row.tags.items()],
        )

    def _attach(self, run_id: str, files: Files) -> bool:
        """Upload files; whether that went well.  An artifact store that failed once is left alone in this pass."""
        if self._unkept is None:
            with tempfile.TemporaryDirectory() as folder:
                for name, content in files().items():
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                try:
                    self._client.log_artifacts(run_id, folder)
                except Exception as error:  # noqa: BLE001 - any library may be behind an artifact store
                    self._unkept = error
        return self._unkept is None

    def _settle(self, run: Any, row: RunRow) -> None:
        if row.status != RUNNING:
            self._client.set_terminated(run.info.run_id, row.status, end_time=row.ended_ms)
        elif run.info.status != RUNNING:
            self._client.update_run(run.info.run_id, status=RUNNING)


def _says(run: Any, row: RunRow) -> bool:
    return bool(run.data.tags.get(FINGERPRINT) == row.fingerprint and run.info.status == row.status)


def _can_say(run: Any, row: RunRow) -> bool:
    """Whether logging again is enough.

    MLflow forgets no metric, never changes a param, and of two values of a metric keeps the one with the later
    timestamp, or the larger one.
    """
    data = run.data.to_proto()
    return all(row.params.get(param.key) == param.value for param in data.params) and all(
        row.metrics.get(metric.key) == metric.value or (metric.key in row.metrics and metric.timestamp < row.ended_ms)
        for metric in data.metrics
    )


def _experiment_id(client: Any, destination: Destination, tags: Mapping[str, str]) -> str:
    from mlflow.entities import LifecycleStage
    from mlflow.exceptions import MlflowException

    name = destination.experiment
    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifact_location=destination.artifacts, tags=dict(tags)))
        except MlflowException:  # another syncer may have made it in between
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage != LifecycleStage.ACTIVE:
        raise TrackingError(f"MLflow's experiment {name!r} was deleted; restore it there or choose another name.")
    return str(found.experiment_id)


@contextmanager
def _first_use(destination: Destination) -> Iterator[None]:
    """One syncer at a time: two that make a new SQLite database at once break each other's migrations."""
    path = sqlite_path(destination.uri)
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{path}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
