"""MLflow stores to mirror to, and what is in them."""

from __future__ import annotations

import socket
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from sweep.tracking.destination import Destination
from sweep.tracking.environment import quiet
from sweep.tracking.mirror import SyncReport, sync


class Store:
    """One experiment of an MLflow, by its URI."""

    def __init__(self, folder: Path, uri: str | None = None, experiment: str = "arm") -> None:
        quiet()
        from mlflow import MlflowClient

        self.folder = folder
        self.destination = Destination.of_sweep(folder, experiment, uri, environment={})
        self.client = MlflowClient(self.destination.uri)

    def sync(self, folder: Path, **options) -> SyncReport:
        return sync(folder, self.destination, **options)

    def all_runs(self):
        found = self.client.get_experiment_by_name(self.destination.experiment)
        return list(self.client.search_runs([found.experiment_id])) if found else []

    def runs(self):
        """(parent, cell_id -> child); nothing is there twice, and everything hangs together."""
        runs = self.all_runs()
        parents = [r for r in runs if "mlflow.parentRunId" not in r.data.tags]
        assert len(parents) == 1
        children = {r.data.tags["sweep.cell"]: r for r in runs if "mlflow.parentRunId" in r.data.tags}
        assert len(children) == len(runs) - 1
        assert all(r.data.tags["mlflow.parentRunId"] == parents[0].info.run_id for r in children.values())
        return parents[0], children

    def states(self) -> list[str]:
        return sorted(run.info.status for run in self.all_runs())

    def artifacts(self, run, place: str | None = None) -> set[str]:
        found = set()
        for item in self.client.list_artifacts(run.info.run_id, place):
            found |= self.artifacts(run, item.path) if item.is_dir else {item.path}
        return found


def dump(database: Path, files: Path) -> list[str]:
    """Every row of a database and every file with its time of writing: what twice must not change."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = list(connection.iterdump())
    kept = [f"{p} {p.stat().st_mtime_ns} {p.read_bytes()!r}" for p in sorted(files.rglob("*")) if p.is_file()]
    assert len(kept) > 2
    assert len(rows) > 50
    return rows + kept


def said(store: Store) -> dict[str, tuple]:
    """What the runs say, without the ids that MLflow invents."""
    invented = ("mlflow.parentRunId", "sweep.fingerprint")
    return {
        run.data.tags.get("sweep.cell", ""): (
            run.info.run_name,
            run.info.status,
            run.info.start_time,
            run.info.end_time,
            dict(run.data.params),
            dict(run.data.metrics),
            {name: value for name, value in run.data.tags.items() if name not in invented},
            sorted(store.artifacts(run)),
        )
        for run in store.all_runs()
    }


def count(database: Path, query: str) -> int:
    """One number from a database that somebody else is writing."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=20) as connection:
        return int(connection.execute(query).fetchone()[0])


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for something to become true; what is raised meanwhile is not there yet."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except Exception:  # noqa: BLE001
            pass
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
