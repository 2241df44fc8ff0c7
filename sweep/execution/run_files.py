"""The files that runs leave beside the ledger, wherever they were computed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sweep.errors import LedgerError
from sweep.results.ledger import LEDGER_NAME

Content = bytes | memoryview

Keep = Callable[[str, Content], None]
"""Takes a file's place in the sweep's folder, and its content."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The folder of a sweep, for whoever has files of its runs.

    Attributes:
        folder: its absolute path.
        inode: that of its ledger, by which another machine tells whether it sees the same folder.
    """

    folder: Path
    inode: int

    @classmethod
    def of(cls, folder: Path) -> RunFiles:
        """A folder that has its ledger."""
        return cls(folder.resolve(), (folder / LEDGER_NAME).stat().st_ino)

    @property
    def is_here(self) -> bool:
        """Whether this process sees the folder."""
        try:
            return (self.folder / LEDGER_NAME).stat().st_ino == self.inode
        except OSError:
            return False

    def keep(self, place: str, content: Content) -> None:
        """Write a file, whole or not at all.

        Raises:
            LedgerError: it cannot be written.
        """
        target = self.folder / place
        # A name of its own: a worker that was given up may still be at the same run.
        draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}.draft")
        try:
            target.parent.mkdir(exist_ok=True)
            draft.write_bytes(content)
            draft.replace(target)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise LedgerError(f"{target} cannot be written: {error.strerror}.") from error


@dataclass(slots=True)
class Luggage:
    """Files of runs on another machine: written where the sweep's folder is seen, else taken home.

    Attributes:
        files: the sweep's folder.
        carried: what could not be written, by place.
    """

    files: RunFiles
    carried: dict[str, bytes] = field(default_factory=dict)

    def keep(self, place: str, content: Content) -> None:
        """Write a file, or carry it; whoever unpacks it says why it cannot be written."""
        if self.files.is_here:
            try:
                self.files.keep(place, content)
            except LedgerError:
                pass
            else:
                return
        self.carried[place] = bytes(content)
