"""Scratch: a folder for Ray's session that is gone when its driver is, also after a kill."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PLACE = Path("/tmp")
"""Not TMPDIR: Ray's sockets lie in such a folder, and their paths may not be long."""

PREFIX = "sweep-ray-"
_LOCK = "driver.lock"


class Scratch:
    """A folder of this process's own; making one removes those of drivers that were killed.

    Attributes:
        path: the folder.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        draft = Path(tempfile.mkdtemp(prefix=f"new-{PREFIX}", dir=PLACE))
        self._lock = os.open(draft / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Only a folder that is locked has the name that others look for.
        self.path = draft.rename(PLACE / draft.name.removeprefix("new-"))

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_abandoned() -> None:
    for folder in PLACE.glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / _LOCK).open("r+b") as lock:  # locked, another user's, or gone meanwhile
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
