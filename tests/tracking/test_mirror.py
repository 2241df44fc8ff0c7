"""The mirror against real MLflow stores: a database, a server, an absent server."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas
import pytest

from sweep.errors import TrackingError
from sweep.results import Ledger, Outcome, Status
from sweep.tracking.environment import quiet
from sweep.tracking.mirror import FINGERPRINT, sync
from sweep.tracking.process import artifact_root, child_environment, resolve_uri, start_syncer
from tests.analysis.synthetic import build, cell, effects, faulted, fell, fill, header, latencies, record

pytestmark = [
    pytest.mark.slow,
    # MLflow's libraries warn about each other; none of it is ours to fix.
    pytest.mark.filterwarnings("ignore"),
]
TWO = latencies(0.002, 0.005)
METRIC = "tracking_error_rms"


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A database with MLflow's tables, made once: it takes seconds."""
    quiet()
    from mlflow import MlflowClient

    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def store(template, tmp_path):
    shutil.copy(template, tmp_path / "mlflow.db")
    return Store(tmp_path)


class Store:
    def __init__(self, folder: Path, uri: str | None = None) -> None:
        from mlflow import MlflowClient

        self.folder = folder
        self.uri = uri or resolve_uri(None, None, folder)
        self.client = MlflowClient(self.uri)

    def sync(self, folder: Path, experiment: str = "arm"):
        return sync(folder, self.uri, experiment, artifacts=artifact_root(self.uri, self.folder))

    def runs(self, experiment: str = "arm"):
        found = self.client.get_experiment_by_name(experiment)
        runs = self.client.search_runs([found.experiment_id])
        parents = [r for r in runs if "mlflow.parentRunId" not in r.data.tags]
        assert len(parents) == 1
        children = {r.data.tags["sweep.cell"]: r for r in runs if "mlflow.parentRunId" in r.data.tags}
        assert len(children) == len(runs) - 1
        assert all(r.data.tags["mlflow.parentRunId"] == parents[0].info.run_id for r in children.values())
        return parents[0], children

    def artifacts(self, run) -> set[str]:
        found = set()
        for item in self.client.list_artifacts(run.info.run_id):
            nested = self.client.list_artifacts(run.info.run_id, item.path) if item.is_dir else [item]
            found |= {n.path for n in nested}
        return found


def snapshot(store):
    parent, children = store.runs()
    return [
        (
            r.info.to_proto().SerializeToString(),
            sorted(r.data.tags.items()),
            sorted(r.data.metrics.items()),
            sorted(r.data.params.items()),
        )
        for r in (parent, *children.values())
    ]


def test_what_a_cell_and_its_parent_say(store, tmp_path):
    folder = build(tmp_path / "s", TWO, make=lambda c, s: record(c, s, outcome=fell()) if s == 3 else record(c, s))
    report = store.sync(folder)
    assert (report.created, report.updated, report.unchanged, report.waiting) == (3, 0, 0, 0)
    assert report.state == "FINISHED"
    parent, children = store.runs()
    base, other = (children[c.cell_id] for c in TWO)
    assert other.data.params == {"latency": "0.005"}
    assert other.info.run_name == "latency=0.005"
    x, y = ([effects(c.values, s)[METRIC] for s in range(16) if s != 3] for c in TWO)
    metrics = other.data.metrics
    assert metrics[f"{METRIC}/mean"] == pytest.approx(np.mean(y))
    assert metrics[f"{METRIC}/ci_low"] < metrics[f"{METRIC}/mean"] < metrics[f"{METRIC}/ci_high"]
    assert metrics[f"{METRIC}/delta_vs_baseline"] == pytest.approx(np.mean(np.subtract(y, x)))
    assert base.data.metrics[f"{METRIC}/delta_vs_baseline"] == 0.0
    assert {s.value: metrics[f"outcomes/{s.value}"] for s in Status} == {
        "completed": 15,
        "ended": 1,
        "faulted": 0,
        "timed_out": 0,
        "lost": 0,
        "cancelled": 0,
    }
    assert metrics["tracker/age_at_use_s"] == pytest.approx(0.0055)
    assert metrics["encoders/delivered"] == 5000
    assert other.data.tags["sweep.seeds"] == "0-15"
    assert "encoders/noise" in other.data.tags["sweep.streams"]
    assert other.data.tags["mlflow.source.type"] == "LOCAL"
    assert all(len(n) <= 40 and "-" not in n for n in [*metrics, *other.data.params])
    with Ledger.open(folder, read_only=True) as ledger:
        (first, last), (_, base_last) = ledger.commits()[TWO[1].cell_id], ledger.commits()[TWO[0].cell_id]
    point = store.client.get_metric_history(other.info.run_id, f"{METRIC}/mean")
    assert [(p.step, p.timestamp) for p in point] == [(0, max(last, base_last))]
    assert other.info.start_time == first
    table = pandas.read_parquet(tmp_path / "mlartifacts" / other.info.run_id / "artifacts" / "replicates.parquet")
    assert len(table) == 16
    assert store.artifacts(parent) == {
        "runs.parquet",
        "comparison.txt",
        "comparison.json",
        "provenance.json",
        "plan/header.json",
        "plan/manifest.json",
        "plan/cells.json",
    }
    assert "+3 ms latency raises" in parent.data.tags["mlflow.note.content"]
    assert parent.info.status == other.info.status == "FINISHED"


def test_twice_changes_nothing_and_more_seeds_change_it(store, tmp_path):
    folder = build(tmp_path / "s", TWO, range(4))
    store.sync(folder)
    before = snapshot(store)
    report = store.sync(folder)
    assert (report.created, report.updated, report.unchanged) == (0, 0, 3)
    assert snapshot(store) == before
    with Ledger.open(folder) as ledger:
        ledger.begin({})
        fill(ledger, [*TWO, cell(2, latency=0.010)], range(8))
        ledger.finish()
    report = store.sync(folder)
    assert (report.created, report.updated) == (1, 3)
    _, children = store.runs()
    found = children[TWO[0].cell_id].data
    assert found.metrics["outcomes/completed"] == 8
    expected = np.mean([effects(TWO[0].values, s)[METRIC] for s in range(8)])
    assert found.metrics[f"{METRIC}/mean"] == pytest.approx(expected)
    assert found.tags["sweep.seeds"] == "0-7"


def test_a_pass_killed_in_the_middle_is_repaired(store, tmp_path, monkeypatch):
    from mlflow import MlflowClient

    folder = build(tmp_path / "s", TWO, range(4))
    calls = iter(range(100))

    def log_batch(self, *arguments, original=MlflowClient.log_batch, **named):
        if next(calls) == 1:
            raise ConnectionError("the server died")
        return original(self, *arguments, **named)

    monkeypatch.setattr(MlflowClient, "log_batch", log_batch)
    with pytest.raises(TrackingError, match="the server died"):
        store.sync(folder)
    # A creation whose answer was lost leaves a ghost with the same tags.
    parent, children = store.runs()
    tags = {k: v for k, v in children[TWO[0].cell_id].data.tags.items() if k != FINGERPRINT}
    store.client.create_run(parent.info.experiment_id, tags=tags)
    assert store.sync(folder).state == "FINISHED"
    parent, children = store.runs()
    assert set(children) == {c.cell_id for c in TWO}
    assert {r.info.status for r in (parent, *children.values())} == {"FINISHED"}
    assert store.sync(folder).unchanged == 3


def test_states_are_truthful(store, tmp_path):
    cells = latencies(0.001, 0.002, 0.003, 0.004, 0.005)
    bad = {
        0.002: lambda c, s: record(c, s, outcome=faulted()),
        0.003: lambda c, s: record(c, s, outcome=Outcome(status=Status.LOST)) if s == 0 else record(c, s),
        0.004: lambda c, s: record(c, s) if s < 2 else None,
        0.005: lambda c, s: None,
    }
    make = lambda c, s: bad.get(c.values["latency"], record)(c, s)  # noqa: E731
    folder = tmp_path / "s"
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        fill(ledger, cells, range(4), make)
        report = store.sync(folder)
        assert (report.state, report.waiting) == ("RUNNING", 2)
        assert store.runs()[0].info.status == "RUNNING"
        ledger.finish("interrupted")
    report = store.sync(folder)
    assert (report.state, report.waiting) == ("KILLED", 1)
    parent, children = store.runs()
    assert parent.info.status == "KILLED"
    states = [children[c.cell_id].info.status for c in cells[:4]]
    assert states == ["FINISHED", "FAILED", "FAILED", "KILLED"]
    assert f"{METRIC}/mean" not in children[cells[1].cell_id].data.metrics
    assert children[cells[1].cell_id].data.metrics["outcomes/faulted"] == 4
    # The rest arrives: nothing stays killed or running.
    with Ledger.open(folder) as ledger:
        ledger.begin({})
        assert store.sync(folder).state == "RUNNING"
        fill(ledger, cells, range(4))
        ledger.finish()
    assert store.sync(folder).state == "FINISHED"
    parent, children = store.runs()
    assert parent.info.status == "FINISHED"
    assert [children[c.cell_id].info.status for c in cells] == ["FINISHED", "FAILED", *["FINISHED"] * 3]


def test_mixed_axis_values_and_awkward_names(store, tmp_path):
    cells = [cell(0, **{"xs[0]-gain": 1.0}), cell(1, **{"xs[0]-gain": "off"}), cell(2, **{"xs[0]-gain": None})]
    store.sync(build(tmp_path / "s", cells, range(2)))
    _, children = store.runs()
    assert [children[c.cell_id].data.params for c in cells] == [
        {"xs_0_gain": "1.0"},
        {"xs_0_gain": "off"},
        {"xs_0_gain": "null"},
    ]


def test_a_deleted_experiment_is_said(store, tmp_path):
    folder = build(tmp_path / "s", TWO, range(2))
    store.client.delete_experiment(store.client.create_experiment("arm"))
    with pytest.raises(TrackingError, match="was deleted"):
        store.sync(folder)


def test_the_syncer_follows_a_driver(store, tmp_path):
    folder = tmp_path / "s"
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        ledger.add_cells(TWO)
        syncer = start_syncer(ledger.path, store.uri, "arm", artifacts=artifact_root(store.uri, tmp_path))
        fill(ledger, TWO[:1], range(4))
        _until(lambda: TWO[0].cell_id in store.runs()[1])
        assert syncer.poll() is None
        assert store.runs()[0].info.status == "RUNNING"
        fill(ledger, TWO, range(4))
        ledger.finish()
        assert syncer.wait(60) == 0
    assert syncer.describe() == f"MLflow is up to date: {store.uri}"
    assert (folder / "tracking.log").read_text() == ""
    parent, children = store.runs()
    assert len(children) == 2
    assert {r.info.status for r in (parent, *children.values())} == {"FINISHED"}


def test_the_syncer_ends_after_a_driver_that_was_killed(store, tmp_path):
    folder = tmp_path / "s"
    ledger = Ledger.create(folder / "ledger.sqlite", header())
    ledger.begin({})
    fill(ledger, TWO, range(4), lambda c, s: record(c, s) if s < 3 else None)
    syncer = start_syncer(ledger.path, store.uri, "arm")
    ledger.close()  # as a kill does, without finish()
    assert syncer.wait(60) == 0
    assert store.runs()[0].info.status == "KILLED"
    assert (tmp_path / "mlartifacts").is_dir()
    assert not Path("mlruns").exists()


def _until(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except Exception:  # noqa: BLE001 - not there yet
            pass
        time.sleep(0.2)
    raise AssertionError("it did not happen in time")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_an_absent_server_is_reported_in_seconds(tmp_path):
    folder = build(tmp_path / "s", TWO, range(2))
    started = time.monotonic()
    syncer = start_syncer(folder, f"http://127.0.0.1:{_free_port()}", "arm")
    assert syncer.wait(60) == 3
    assert time.monotonic() - started < 30
    (line,) = (folder / "tracking.log").read_text().splitlines()
    assert line.startswith("MLflow at http://127.0.0.1")
    assert f"python -m sweep sync {folder} sends it later" in syncer.describe()


@pytest.fixture
def server(template, tmp_path):
    shutil.copy(template, tmp_path / "server.db")
    port = _free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path}/server.db", "--artifacts-destination", f"{tmp_path}/kept"]
    environment = {**child_environment(os.environ), "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with open(tmp_path / "server.log", "wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, cwd=tmp_path, start_new_session=True
        )
    uri = f"http://127.0.0.1:{port}"
    try:
        _until(lambda: urllib.request.urlopen(f"{uri}/health", timeout=2).status == 200, 90)
        yield uri
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_real_server(server, tmp_path):
    folder = build(tmp_path / "s", TWO, range(4))
    syncer = start_syncer(folder, server, "arm", artifacts=artifact_root(server, tmp_path))
    assert syncer.wait(120) == 0, syncer.describe()
    quiet()
    store = Store(tmp_path, server)
    parent, children = store.runs()
    assert len(children) == 2
    assert {r.info.status for r in (parent, *children.values())} == {"FINISHED"}
    assert "comparison.txt" in store.artifacts(parent)
    assert store.sync(folder).unchanged == 3
