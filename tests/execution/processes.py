"""The processes of this machine, as the kernel tells of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ZOMBIE = "Z"


@dataclass(frozen=True, slots=True)
class Process:
    """One process.

    Attributes:
        pid: its number.
        session: the number of the process that leads its session, which orphans keep.
        title: its words, or what it calls itself.
    """

    pid: int
    session: int
    title: str

    def kill(self) -> None:
        """SIGKILL; one that is gone already is fine."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def living(belongs: Callable[[Process], bool]) -> list[Process]:
    """The processes that a condition holds for, zombies left out."""
    found = (_read(int(place.name)) for place in Path("/proc").iterdir() if place.name.isdigit())
    return [process for process in found if process is not None and belongs(process)]


def of_session(leader: int, title: str = "") -> list[Process]:
    """The processes of a session whose title has something in it."""
    return living(lambda process: process.session == leader and title in process.title)


def end_session(leader: int) -> None:
    """Kill all processes of a session, those among them that begin meanwhile."""
    while members := of_session(leader):
        for process in members:
            process.kill()


def _read(pid: int) -> Process | None:
    place = Path("/proc", str(pid))
    try:
        state, _, _, session, *_ = (place / "stat").read_text().rpartition(")")[2].split()
        title = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:  # it has ended meanwhile
        return None
    return None if state == ZOMBIE else Process(pid, int(session), title)
