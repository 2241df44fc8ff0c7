"""The command line: wiring, and the only printing.

``python -m sweep [VERB] [AXIS=VALUE,VALUE ...]``.  Exit codes: 0 all runs completed or ended, 1 some faulted, timed
out or were lost, 2 asked wrong, 130 cancelled.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from sweep.arguments import Command, help_text, parse, usage
from sweep.errors import StoppedError, SweepError

SOME_FAILED = 1
ASKED_WRONG = 2
CANCELLED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; those of this process by default.

    Returns:
        The exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without these letters is no reason to fail
    try:
        _find_user_modules()
        return _answer(parse(sys.argv[1:] if argv is None else argv))
    except SweepError as error:
        sys.stderr.write(f"{error}\n")
        return SOME_FAILED if isinstance(error, StoppedError) else ASKED_WRONG
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        return CANCELLED
    except BrokenPipeError:
        # Whoever read the output has gone; nothing more can be said, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _answer(command: Command) -> int:
    if command.show_help:
        from sweep.config import available

        sys.stdout.write(help_text(available(command.config_dirs)))
        return 0
    if command.show_version:
        from sweep import __version__

        sys.stdout.write(f"fibril-sweep {__version__}\n")
        return 0
    if command.verb == "doctor":  # it says what cannot be loaded
        from sweep.cli.doctor import doctor

        return doctor(command)
    try:
        from sweep.cli import verbs
    except (ImportError, RuntimeError) as error:  # MuJoCo raises RuntimeError for a MUJOCO_GL it does not know
        raise SweepError(f"a library cannot be loaded: {error}") from error

    return verbs.ANSWERS[command.verb](command)


def _find_user_modules() -> None:
    """Let ``my_pkg.my_module:MyController`` be found from the working directory under the console script too."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise SweepError("the working directory is gone; change to one that exists") from None
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


__all__ = ["main", "usage"]
