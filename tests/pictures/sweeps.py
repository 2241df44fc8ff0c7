"""The sweeps that pictures are of, run by the command as a person types it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH = 80
"""Columns of the terminal."""

SCENES = ("arm", "cartpole", "platform", "stand")
LATE = "+latency=0.002,0.005"
CURVE = ("scene=cartpole", "+latency=0,10ms,20ms,30ms,40ms,50ms", "seeds=32")
GRID = ("scene=cartpole", "latency=0,5ms,10ms,20ms,40ms", "mass_scale=0.8,0.9,1,1.1,1.2,1.5", "seeds=16")


@dataclass(frozen=True)
class Shown:
    """A sweep that ran, and what a person saw of it.

    Attributes:
        folder: the sweep's.
        typed: the command.
        printed: what it printed to a terminal, with its colours.
    """

    folder: Path
    typed: str
    printed: str


class Workshop:
    """Where sweeps run.

    Args:
        place: the working directory of all commands.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        self.output = place / "sweeps"

    def main_job(self, scene: str) -> Shown:
        """3 ms more latency, with the scene's own seeds."""
        return self.run(scene, LATE, *([] if scene == SCENES[0] else [f"scene={scene}"]))

    def run(self, name: str, *words: str, tracking: str = "none") -> Shown:
        """A sweep under a name of its own."""
        typed = f"python -m sweep {' '.join(words)}"
        print(typed, flush=True)
        printed = self.terminal(*words, f"tracking={tracking}", f"name={name}", "executor=inline")
        return Shown(next(self.output.glob(f"{name}-*")), typed, printed)

    def terminal(self, *words: str) -> str:
        """What a command prints to a terminal; its progress goes nowhere."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
        left_out = ("PYTHONDONTWRITEBYTECODE", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "COLUMNS", "NO_COLOR")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        parts: list[bytes] = []
        reader = threading.Thread(target=_read, args=(ours, parts))
        reader.start()
        done = subprocess.run(
            [sys.executable, "-m", "sweep", *words],
            cwd=self.place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(theirs)
        reader.join()
        os.close(ours)
        if done.returncode:
            sys.exit(f"python -m sweep {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        return b"".join(parts).decode().replace("\r\n", "\n")


def _read(terminal: int, parts: list[bytes]) -> None:
    """All that comes, until the other end is closed, which Linux reports as an error."""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            return
        if not part:
            return
        parts.append(part)
