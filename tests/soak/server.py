"""The MLflow server, which is started again as soon as it has been killed."""

from __future__ import annotations

import signal
from pathlib import Path

from sweep.tracking.destination import Destination
from sweep.tracking.server import LocalServer
from tests.tracking.stores import free_port

ASKED = '"POST /api/2.0/mlflow/runs/'
"""Begins what its log says of a client that looks for runs or writes one."""


class Server(LocalServer):
    """A server whose database is in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Destination.of_sweep(folder, "", environment={}), free_port())
        self.folder = folder
        self.starts = 0

    def start(self) -> None:
        """Start it; it answers after seconds."""
        super().start()
        self.starts += 1

    @property
    def is_in_use(self) -> bool:
        """Whether a syncer has come to it since it was started."""
        return self.is_running and ASKED in self.log.read_text(errors="replace")

    def kill(self) -> None:
        """SIGKILL to all its processes; the next one starts at once."""
        self.end(signal.SIGKILL)
        self.start()
