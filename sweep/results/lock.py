"""One writer per sweep folder: an advisory lock that dies with its process."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sweep.errors import LedgerError

PATIENCE_S = 1.0
"""How long a writer retries [s]: a reader that asks :func:`is_held` holds the lock for microseconds."""


class WriterLock:
    """Exclusive ``flock`` on a file beside the ledger; the kernel drops it when the process dies, however it dies.

    The file says who has it.  Emptying it needs no space, so whoever leaves in good order leaves it empty, on a full
    disk too.

    Attributes:
        was_abandoned: whether the last writer died, rather than left.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise LedgerError(f"The sweep folder {path.parent} cannot be written: {error.strerror}.") from error
        self._acquire()
        self.was_abandoned = os.fstat(self._file).st_size > 0
        since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        with suppress(OSError):  # a full disk: the lock holds without its label
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}, since {since}".encode(), 0)

    def _acquire(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.02)
                    continue
                owner = os.pread(self._file, 200, 0).decode(errors="replace") or "another process"
                os.close(self._file)
                raise LedgerError(_refusal(self._path, owner)) from None
            except OSError as error:
                os.close(self._file)
                raise LedgerError(f"{self._path} cannot be locked on this file system: {error.strerror}.") from error
            return

    def release(self) -> None:
        """Give the lock back."""
        with suppress(OSError):
            os.ftruncate(self._file, 0)
        os.close(self._file)


def _refusal(path: Path, owner: str) -> str:
    head = f"{owner}, is writing the sweep in {path.parent}; only one can. "
    if f" on {socket.gethostname()}," in owner or " on " not in owner:
        return head + "Wait for it, stop it, or give this sweep another name."
    # The kernel of that machine drops the lock with the process; a file server may not hear of a machine's end.
    return head + (
        "Wait for it, stop it there, or give this sweep another name. If that machine is off and its file server "
        f"still keeps the lock, remove {path} and start again."
    )


def is_held(path: Path) -> bool:
    """Whether a living writer holds the lock; asked from any process."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False
