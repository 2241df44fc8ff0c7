"""What all verbs print with."""

from __future__ import annotations

import sys

from rich.console import Console

from sweep.terminal import fitted


def console(*, stderr: bool = False) -> Console:
    """Standard output, or standard error; wide enough for sentences where it is no terminal."""
    return Console(stderr=stderr, width=None if sys.stdout.isatty() else 100)


def say(screen: Console, text: str) -> None:
    """Print text as it is, lines fitted to a terminal."""
    screen.print(fitted(text, screen.file), markup=False, highlight=False, soft_wrap=True)
