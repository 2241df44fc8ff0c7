"""The sweep, typed by a person who does not give up: the same command and ``resume`` in turn."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from sweep.results import Ledger
from sweep.results.ledger import LEDGER_NAME
from tests.execution.cluster import ROOT
from tests.execution.processes import Process, living

CELLS = 20
AXES = ("+latency=0,1ms,2ms,3ms,4ms", "mass_scale=0.8,0.9,1,1.1")
QUESTION = ("scene=cartpole", "manifest.runtime.duration_s=10", *AXES, "name=soak")
"""Long enough that a sweep of many runs is not over before what is killed has come back."""


def typed(
    words: tuple[str, ...], folder: Path, environment: Mapping[str, str], *, log_name: str = "sweep.log"
) -> subprocess.Popen:
    """``python -m sweep`` in a folder; what it says is appended to a file there."""
    command = [sys.executable, "-m", "sweep", *words]
    with (folder / log_name).open("ab") as log:
        log.write(f"\n$ python -m sweep {' '.join(words)}\n".encode())
        log.flush()
        return subprocess.Popen(
            command,
            cwd=folder,
            # What a killed process leaves in the folder for temporary files goes with everything else.
            env={**environment, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def ledger_in(output: Path) -> Path | None:
    """The ledger of the one sweep in a folder of sweeps; None while there is none."""
    return next(output.glob(f"*/{LEDGER_NAME}"), None)


class Driver:
    """The driver of the sweep, and those that come after it.

    Args:
        words: the command.
        folder: where it is given; its sweep goes to ``sweeps`` there.
        environment: of the command.

    Attributes:
        folder: likewise.
        starts: how often it was started.
        exits: the codes of those that ended by themselves.
    """

    def __init__(self, words: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> None:
        self._words, self._environment = words, environment
        self._process: subprocess.Popen | None = None
        self.folder = folder
        self.starts = 0
        self.exits: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.kill()
        for syncer in self.syncers():
            syncer.kill()

    @property
    def ledger(self) -> Path | None:
        """Its ledger; None while there is none."""
        return ledger_in(self.folder / "sweeps")

    def tend(self) -> None:
        """Start it, or what comes after it; one that ends with code 0 is the last."""
        if self._process is not None and (code := self._process.poll()) is not None:
            self._process = None
            self.exits.append(code)
        if self._process is None and not self.is_done:
            ledger = self.ledger
            words = self._words if self.starts % 2 == 0 or ledger is None else ("resume", str(ledger.parent))
            self._process = typed(words, self.folder, self._environment)
            self.starts += 1

    def run(self, *words: str) -> int:
        """Another command in the same place, to its end; its exit code."""
        self._process = typed(words, self.folder, self._environment)
        return self._process.wait()

    @property
    def is_done(self) -> bool:
        """Whether the sweep is over, and everything went well."""
        return 0 in self.exits

    def committed(self) -> int:
        """Runs that are answered for good."""
        if self.ledger is None:
            return 0
        with Ledger.open(self.ledger, read_only=True) as ledger:
            return sum(status.is_final for status in ledger.statuses().values())

    @property
    def is_at_it(self) -> bool:
        """Whether it has begun."""
        if self._process is None or self._process.poll() is not None or self.ledger is None:
            return False
        with Ledger.open(self.ledger, read_only=True) as ledger:
            return ledger.state == "running"

    def kill(self) -> int:
        """SIGKILL to the driver alone; its number."""
        assert self._process is not None
        process, self._process = self._process, None
        process.kill()
        process.wait()
        return process.pid

    def syncers(self) -> list[Process]:
        """The processes that feed MLflow, which outlive the drivers that started them."""
        return living(lambda process: " sweep.tracking " in process.title and str(self.folder) in process.title)
