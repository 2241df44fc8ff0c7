"""The command line: wiring, and the only printing.

``python -m sweep [VERB] [AXIS=VALUE,VALUE ...]``.  Exit codes: 0 all runs completed or ended, 1 some faulted, timed
out or were lost, 2 asked wrong, 130 cancelled.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from sweep.arguments import Command, help_text, parse, usage
from sweep.errors import SweepError
from sweep.exits import exit_code, stopping_at_once

_READERS = {"status", "compare", "export", "report", "components", "schema"}


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
    return exit_code(lambda: _answer(parse(sys.argv[1:] if argv is None else argv)))


def _answer(command: Command) -> int:
    _find_user_modules()
    if command.show_help:
        from sweep.config import available

        groups = available(command.config_dirs)
        sys.stdout.write(help_text(command.verb, groups))
        return 0
    if command.show_version:
        from sweep import __version__

        sys.stdout.write(f"fibril-sweep {__version__}\n")
        return 0
    if command.verb == "doctor":  # it says what cannot be loaded
        from sweep.cli.doctor import doctor

        return doctor(command)
    answers = _answers()
    with stopping_at_once() if command.verb in _READERS else nullcontext():
        return answers[command.verb](command)


def _answers() -> Mapping[str, Callable[[Command], int]]:
    try:
        with stopping_at_once():
            from sweep.cli.verbs import ANSWERS
    except (ImportError, RuntimeError) as error:  # MuJoCo raises RuntimeError for a MUJOCO_GL it does not know
        raise SweepError(f"a library cannot be loaded: {error}") from error
    return ANSWERS


def _find_user_modules() -> None:
    """Let ``my_pkg.my_module:MyController`` be found from the working directory under the console script too."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise SweepError("the working directory is gone; change to one that exists") from None
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


__all__ = ["main", "usage"]
