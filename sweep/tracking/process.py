"""Where MLflow is, and the process that feeds it; MLflow itself is not imported here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import sweep
from sweep.errors import TrackingError
from sweep.tracking.environment import SWITCHES

LOG = "tracking.log"
"""The syncer's stderr, in the sweep's folder."""

UNREACHABLE = 3


def resolve_uri(asked: str | None, environment: str | None, output: Path | str) -> str:
    """The tracking URI, always explicit: as asked, else ``MLFLOW_TRACKING_URI``, else a database beside the sweeps.

    Args:
        asked: ``tracking.uri``.
        environment: the value of ``MLFLOW_TRACKING_URI``.
        output: the folder of all sweeps.

    Raises:
        TrackingError: it names MLflow's file store, which MLflow no longer supports.
    """
    uri = asked or environment
    if not uri:
        return f"sqlite:///{Path(output).absolute()}/mlflow.db"
    if ("://" not in uri and uri != "databricks") or uri.startswith("file:"):
        raise TrackingError(
            f"MLflow no longer takes a folder as its store ({uri}); use sqlite:///path/mlflow.db or a server's address."
        )
    return uri


def artifact_root(uri: str, output: Path | str | None = None) -> str | None:
    """Where a new experiment keeps its artifacts, as a URI; None where a server decides.

    That is ``mlartifacts`` in ``output``, or beside an SQLite database; MLflow's own choice would be ``./mlruns``
    in whatever directory the syncer happens to run.
    """
    if uri.startswith("sqlite:///") and output is None:
        output = Path(uri.removeprefix("sqlite:///").partition("?")[0]).parent
    if output is None or uri.startswith(("http://", "https://", "databricks")):
        return None
    return (Path(output).absolute() / "mlartifacts").as_uri()


class SyncerProcess:
    """A running syncer."""

    def __init__(self, process: subprocess.Popen[bytes], uri: str, log: Path) -> None:
        self._process = process
        self._uri = uri
        self._log = log

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def uri(self) -> str:
        """Where it writes."""
        return self._uri

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until it is done, ``timeout`` seconds at most; its exit code, None if it still runs."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, patience_s: float = 5.0) -> None:
        """End it; what it has not mirrored, a later sync will."""
        if self.poll() is None:
            self._process.terminate()
            if self.wait(patience_s) is None:
                self._process.kill()
                self._process.wait()

    @property
    def complaint(self) -> str:
        """Its last line on stderr; empty if it has none."""
        try:
            lines = self._log.read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def describe(self) -> str:
        """One line for people."""
        code = self.poll()
        if code is None:
            return f"{self.complaint}; trying again" if self.complaint else f"MLflow is being fed: {self._uri}"
        if code == 0:
            return f"MLflow is up to date: {self._uri}"
        said = self.complaint or f"the MLflow syncer ended with code {code}"
        return f"{said} Nothing is lost: python -m sweep sync {self._log.parent} sends it later."


def start_syncer(ledger: Path | str, uri: str, experiment: str, *, artifacts: str | None = None) -> SyncerProcess:
    """Start the syncer of a ledger; the driver has called ``Ledger.begin`` before, or it is a sweep that is over.

    It has a session of its own, so that Ctrl-C reaches the driver only: the syncer ends by itself after it.

    Raises:
        TrackingError: the process cannot be started.
    """
    ledger = Path(ledger).absolute()
    folder = ledger if ledger.is_dir() else ledger.parent
    command = [sys.executable, "-m", "sweep.tracking", str(ledger), "--uri", uri, "--experiment", experiment]
    command += ["--artifacts", artifacts] if artifacts else []
    try:
        with open(folder / LOG, "wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=child_environment(os.environ),
                start_new_session=True,
            )
    except OSError as error:
        raise TrackingError(f"The MLflow syncer could not be started: {error.strerror}.") from error
    return SyncerProcess(process, uri, folder / LOG)


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The syncer's environment: this package importable, bytecode cached, telemetry off, few retries."""
    child = {**SWITCHES, **environment}
    child.pop("PYTHONDONTWRITEBYTECODE", None)  # without cached bytecode importing MLflow takes 10 s
    root = str(Path(sweep.__file__).parents[1])
    child["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
    child["PYTHONWARNINGS"] = "ignore"
    return child
