"""Where a sweep's mirror is: URI, experiment, and what its folder remembers of them."""

from __future__ import annotations

import pytest

from sweep.errors import TrackingError
from sweep.tracking.destination import Destination, artifact_root, resolve_uri, sqlite_path, without_password
from sweep.tracking.environment import child_environment
from sweep.tracking.process import MARK, RECOVERED, SyncerProcess, start_syncer

SERVER = "http://host:5000"
SECRET = "postgresql://me:hunter2@host/db"


def test_uri_is_explicit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_uri(None, None, tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"
    assert resolve_uri(None, "", "out") == f"sqlite:///{tmp_path}/out/mlflow.db"
    assert resolve_uri(None, SERVER, tmp_path) == SERVER
    assert resolve_uri("sqlite:////x.db", SERVER, tmp_path) == "sqlite:////x.db"
    assert resolve_uri("sqlite:///own.db", None, tmp_path) == f"sqlite:///{tmp_path}/own.db"
    for uri in (
        SECRET,
        "mysql+pymysql://host/db",
        "databricks",
        "databricks://profile",
        "databricks-uc",
        "https://host",
    ):
        assert resolve_uri(uri, None, tmp_path) == uri


@pytest.mark.parametrize("store", ["./mlruns", "file:///tmp/mlruns", "mlruns", "/tmp/mlruns"])
def test_mlflow_takes_no_folder(store, tmp_path):
    with pytest.raises(TrackingError, match="no longer takes a folder"):
        resolve_uri(store, None, tmp_path)


def test_what_is_no_store_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(TrackingError, match="did you mean 'http'"):
        resolve_uri("htpp://host:5000", None, tmp_path)
    with pytest.raises(TrackingError) as caught:
        resolve_uri(SECRET.replace("postgresql", "posgresql"), None, tmp_path)
    assert "did you mean 'postgresql'" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    for nobody in ("http://", "https:host", "http://[bad", "http://host:port"):
        with pytest.raises(TrackingError, match=r"names no host; write https?://host:5000"):
            resolve_uri(nobody, None, tmp_path)
    for lost in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
        with pytest.raises(TrackingError, match="names no file that lasts"):
            resolve_uri(lost, None, tmp_path)


def test_artifacts_are_beside_the_database_or_the_servers_affair(tmp_path):
    assert artifact_root(f"sqlite:///{tmp_path}/mlflow.db", tmp_path) == f"file://{tmp_path}/mlartifacts"
    assert artifact_root(f"sqlite:///{tmp_path}/mlflow.db") == f"file://{tmp_path}/mlartifacts"
    assert artifact_root(SECRET, tmp_path) == f"file://{tmp_path}/mlartifacts"
    assert artifact_root(SERVER, tmp_path) is None
    assert artifact_root("databricks", tmp_path) is None
    assert artifact_root(SECRET) is None
    assert sqlite_path("sqlite:////a/b.db?timeout=3").as_posix() == "/a/b.db"


def test_the_experiment_is_the_projects(tmp_path):
    named = {"MLFLOW_EXPERIMENT_NAME": "project", "MLFLOW_TRACKING_URI": SERVER}
    assert Destination.of_sweep(tmp_path, "arm", environment={}).experiment == "arm"
    of_environment = Destination.of_sweep(tmp_path, "arm", environment=named)
    assert (of_environment.uri, of_environment.experiment, of_environment.asked) == (SERVER, "project", ())
    asked = Destination.of_sweep(tmp_path, "arm", "https://other", "mine", environment=named)
    assert (asked.uri, asked.experiment, asked.asked) == ("https://other", "mine", ("uri", "experiment"))


def test_a_folder_is_sent_where_it_was_sent_before(tmp_path):
    folder = tmp_path / "arm-1"
    folder.mkdir()
    here = f"sqlite:///{tmp_path}/mlflow.db"
    other = {"MLFLOW_TRACKING_URI": "http://other", "MLFLOW_EXPERIMENT_NAME": "other"}

    def again(environment, *asked):
        found = Destination.of_folder(folder, "arm", *asked, environment=environment)
        return found.uri, found.experiment

    assert again({}) == (here, "arm")
    Destination.of_sweep(tmp_path, "arm", environment={"MLFLOW_TRACKING_URI": SERVER}).keep(folder)
    assert again({}) == (SERVER, "arm")
    assert again(other) == ("http://other", "other"), "an environment replaces what was the environment's"
    assert again(other, "https://asked", "now") == ("https://asked", "now")
    Destination.of_sweep(tmp_path, "arm", SERVER, "mine", environment={}).keep(folder)
    assert again(other) == (SERVER, "mine"), "but not what the sweep's configuration asked for"
    (folder / "tracking.json").write_text("{torn")
    assert again({}) == (here, "arm")


def test_no_password_is_kept_or_shown(tmp_path):
    destination = Destination.of_sweep(tmp_path, "arm", SECRET, environment={})
    assert destination.shown == "postgresql://me:***@host/db"
    destination.keep(tmp_path)
    assert "hunter2" not in (tmp_path / "tracking.json").read_text()
    with pytest.raises(TrackingError, match="its password is not kept"):
        Destination.of_folder(tmp_path, "arm", environment={})
    assert Destination.of_folder(tmp_path, "arm", SECRET, environment={}).uri == SECRET
    assert without_password("no (http://a:b@c/d) or https://x:y@z") == "no (http://a:***@c/d) or https://x:***@z"
    assert without_password("http://host:5000/a@b") == "http://host:5000/a@b"


def test_child_environment():
    child = child_environment({"PYTHONDONTWRITEBYTECODE": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "60"})
    assert "PYTHONDONTWRITEBYTECODE" not in child
    assert child["MLFLOW_HTTP_REQUEST_TIMEOUT"] == "60"
    assert child["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "0"
    assert child["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_a_syncer_that_cannot_be_started_is_told_and_not_raised(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    syncer = start_syncer(tmp_path, Destination.of_sweep(tmp_path, "arm", environment={}))
    assert (syncer.pid, syncer.wait()) == (None, 3)
    syncer.stop()
    assert "could not be started: No such file" in syncer.describe()
    assert "python -m sweep sync" in syncer.describe()


def test_trouble_is_news_once_and_libraries_noise_is_none(tmp_path):
    syncer = SyncerProcess(Destination.of_sweep(tmp_path, "arm", SERVER, environment={}), tmp_path)
    log = tmp_path / "tracking.log"
    log.write_text("a library: something is deprecated\n")
    assert syncer.news() == syncer.trouble == ""
    log.write_text(f"{MARK}details\n{MARK}MLflow at X could not be used: nobody there.\na library: deprecated\n")
    assert syncer.news().startswith("MLflow at X could not be used: nobody there. The sweep goes on")
    assert syncer.news() == ""
    assert syncer.describe().startswith("MLflow is behind. Nothing is lost")
    assert syncer.describe(is_told=False).startswith("MLflow at X could not be used: nobody there. Nothing is lost")
    log.write_text(f"{MARK}MLflow at X could not be used\n{MARK}{RECOVERED}\n")
    assert syncer.trouble == ""
