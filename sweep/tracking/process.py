"""The process that feeds MLflow; MLflow itself is not imported here."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from sweep.tracking.destination import Destination
from sweep.tracking.environment import child_environment

LOG = "tracking.log"
"""The stderr of the syncer that follows the driver, in the sweep's folder; the next one has a new file of that name."""

ONCE_LOG = "sync.log"
"""The stderr of one that mirrors once, likewise."""

UNREACHABLE = 3
MARK = "syncer: "
"""Begins every line that the syncer itself says: libraries write to stderr too, and mean nothing by it."""

RECOVERED = "MLflow answers again."
"""What the syncer says after it has complained."""


class SyncerProcess:
    """A syncer, running, over, or not even started: MLflow's troubles are told, never raised.

    Attributes:
        destination: where it writes.
    """

    def __init__(
        self,
        destination: Destination,
        folder: Path,
        process: subprocess.Popen[bytes] | None = None,
        problem: str = "",
        *,
        log_name: str = LOG,
    ) -> None:
        self.destination = destination
        self._folder = folder
        self._log = folder / log_name
        self._process = process
        self._problem = problem
        self._told = ""

    @property
    def pid(self) -> int | None:
        """Its process; None if there is none."""
        return self._process.pid if self._process is not None else None

    @property
    def uri(self) -> str:
        """Where it writes, without a password."""
        return self.destination.shown

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.poll() if self._process is not None else UNREACHABLE

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until it is done, ``timeout`` seconds at most; its exit code, None if it still runs."""
        with suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(timeout)
        return self.poll()

    def stop(self, patience_s: float = 5.0) -> None:
        """End it; what it has not mirrored, a later sync will."""
        if self._process is not None and self.poll() is None:
            self._process.terminate()
            if self.wait(patience_s) is None:
                self._process.kill()
                self._process.wait()

    @property
    def trouble(self) -> str:
        """What keeps it from MLflow at present, in a sentence; empty if nothing does."""
        if self._problem:
            return self._problem
        try:
            lines = self._log.read_text(errors="replace").splitlines()
        except OSError:
            return ""
        last = next((line.removeprefix(MARK) for line in reversed(lines) if line.startswith(MARK)), RECOVERED)
        return "" if last == RECOVERED else last

    def news(self) -> str:
        """The trouble, the first time that anyone asks; empty from then on."""
        if self._told or not (trouble := self.trouble):
            return ""
        self._told = trouble
        return f"{trouble} The sweep goes on; MLflow gets the rest when it answers."

    def describe(self, *, is_told: bool | None = None) -> str:
        """Where it stands, in a line for people.

        Args:
            is_told: whether they have read its trouble already; by default whether :meth:`news` gave it out.
        """
        code, later = self.poll(), f"python -m sweep sync {_shown(self._folder)}"
        if code == 0:
            return f"MLflow is up to date: {self.uri}"
        if code is None:
            goes_on = f"MLflow is still being fed: {self.uri}. Process {self.pid} goes on alone"
            return f"{goes_on}; should it not get through: {later}"
        is_told = bool(self._told) if is_told is None else is_told
        trouble = self.trouble or f"The process that feeds MLflow ended with code {code}."
        return f"{'MLflow is behind.' if is_told else trouble} Nothing is lost, {later} completes it."


def start_syncer(folder: Path | str, destination: Destination, *, once: bool = False) -> SyncerProcess:
    """Start the syncer of a sweep; its driver has called ``Ledger.begin`` before, or it is a sweep that is over.

    It has a session of its own, so that Ctrl-C reaches the driver only: the syncer ends by itself after it.  A
    syncer that cannot be started is one that has a trouble to tell; no sweep stops for it.

    Args:
        folder: the sweep's.
        destination: where it sends it; noted in the folder.
        once: mirror what there is now, rather than follow the driver.
    """
    folder = Path(folder).absolute()
    destination.keep(folder)
    command = [sys.executable, "-m", "sweep.tracking", str(folder), "--experiment", destination.experiment]
    command += ["--artifacts", destination.artifacts] if destination.artifacts else []
    command += ["--once"] if once else []
    log_name = ONCE_LOG if once else LOG
    try:
        with _new_log(folder / log_name) as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                # Not among the words of the command, which everyone on this machine can read: it may hold a password.
                env={**child_environment(os.environ), "MLFLOW_TRACKING_URI": destination.uri},
                start_new_session=True,
            )
    except OSError as error:
        problem = f"The process that feeds MLflow could not be started: {error.strerror}."
        return SyncerProcess(destination, folder, problem=problem)
    return SyncerProcess(destination, folder, process, log_name=log_name)


def has_successor(folder: Path, destination: Destination) -> bool:
    """Whether another syncer sends the folder to the same place by now; what a syncer asks of itself.

    Its log has been taken from under its name then.
    """
    return os.fstat(sys.stderr.fileno()).st_nlink == 0 and destination.is_kept(folder)


def _new_log(path: Path) -> IO[bytes]:
    """A new file under a log's name, so that an earlier syncer that is still at it keeps its own."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
        return path.open("xb")
    return open(os.devnull, "wb")  # a folder that cannot be written: the exit code has to say it


def _shown(folder: Path) -> str:
    """A folder as people type it: relative where that is shorter."""
    relative = os.path.relpath(folder)
    return str(folder) if relative.startswith("..") else relative
