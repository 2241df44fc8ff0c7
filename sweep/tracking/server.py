"""A server of MLflow's pages on this machine, for the length of a ``with``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Self

from sweep.errors import TrackingError
from sweep.tracking.destination import Destination
from sweep.tracking.environment import child_environment

HOST = "127.0.0.1"
START_S = 120.0
"""How long a server may take to come up [s]; a cold disk and a busy machine are slow."""

STOP_S = 3.0
"""How long it may take to go [s]; its pages are gone at once, and the rest is tidying up."""

POLL_S = 0.2


class LocalServer:
    """``mlflow server`` on the loopback interface: one worker, no job runner, no telemetry.

    More workers make a local server slower, and the job runner makes it six times as large.

    Args:
        destination: whose database it serves.
        port: where.

    Attributes:
        destination: likewise.
        url: its address.
        log: the file with all it says.
    """

    def __init__(self, destination: Destination, port: int) -> None:
        self.destination = destination
        self._port = port
        self._folder = tempfile.TemporaryDirectory(prefix="sweep-ui-")
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"http://{HOST}:{port}"
        self.log = Path(self._folder.name, "server.log")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._folder.cleanup()

    def start(self) -> None:
        """Start it, also once more; one that runs is ended before."""
        self.end()
        command = [sys.executable, "-m", "mlflow", "server", "--host", HOST, "--port", str(self._port)]
        command += ["--workers", "1"]
        if self.destination.artifacts is not None:
            command += ["--artifacts-destination", self.destination.artifacts]
        environment = {
            **child_environment(os.environ),
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            # Not among the words of the command, which everyone on this machine can read: it may hold a password.
            "MLFLOW_BACKEND_STORE_URI": self.destination.uri,
        }
        environment.pop("MLFLOW_TRACKING_URI", None)
        with self.log.open("wb") as log:
            # A folder of its own, so that nothing is written where the user stands; a session of its own, because it
            # is several processes that end together.
            self._process = subprocess.Popen(
                command,
                env=environment,
                cwd=self._folder.name,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        """Whether it is, or is about to be."""
        return self._process is not None and not self._has_exited(os.WNOHANG)

    def wait_until_up(self, patience_s: float = START_S) -> None:
        """Return when it answers.

        Raises:
            TrackingError: it ended, or did not answer in time; the last of what it said is told.
        """
        deadline = time.monotonic() + patience_s
        while self.is_running and time.monotonic() < deadline:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/health", timeout=5):
                return
            time.sleep(POLL_S)
        said = self.log.read_text(errors="replace").strip().splitlines()
        why = f": {said[-1][:300]}" if said else ""
        raise TrackingError(f"MLflow's server on {self.url} did not come up{why}.")

    def wait(self) -> None:
        """Return when it has ended by itself."""
        self._has_exited()

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End all its processes, politely or with SIGKILL; who does not go is killed after a while."""
        if self._process is None:
            return
        os.killpg(self._process.pid, how)
        deadline = time.monotonic() + STOP_S
        while self.is_running and time.monotonic() < deadline:
            time.sleep(POLL_S)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _has_exited(self, options: int = 0) -> bool:
        """Whether the first of its processes has; left a zombie, so that nobody gets its number while others live."""
        return (
            self._process is None
            or os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | options) is not None
        )
