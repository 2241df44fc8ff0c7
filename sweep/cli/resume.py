"""Going on with a sweep, from nothing but its folder."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sweep.config.load import load_spec
from sweep.config.words import plain_key
from sweep.design.spec import SweepSpec
from sweep.errors import ChangedError, InvalidInputError, LedgerError, Problem
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import IDENTITY_HEX, PlannedSweep
from sweep.execution.resume import differences, planned_again
from sweep.results import Ledger
from sweep.results.ledger import LEDGER_NAME

CHANGEABLE = ("executor", "tracking", "on_failure", "canary")
"""Settings that may be given anew: they change where runs execute and who is told, never what comes out."""


_TOLD = 5
"""Changes that a new folder is explained with."""


def resumed(place: Path, words: Sequence[str]) -> tuple[SweepSpec, PlannedSweep]:
    """What a sweep's folder says was asked, all of it, as it is to be run now.

    The command is read where it was given, if that folder is still there.

    Args:
        place: the sweep's folder.
        words: settings that replace those of the last command.

    Raises:
        InvalidInputError: a word is none of those settings, or the configuration is not there any more.
        LedgerError: there is no sweep, or what it was made from has changed; what exactly, and what to type instead.
    """
    _check(words)
    with Ledger.open(place, read_only=True) as ledger:
        folder = ledger.path.parent.resolve()
        session = ledger.session()
        asked = {**ledger.header.provenance, **(session.provenance if session else {})}
        with _where(asked):
            spec = _spec(asked, words, folder)
            try:
                planned = planned_again(spec, ledger)
            except ChangedError as error:
                raise LedgerError(f"{error}\nA new folder for what is there now: {_command(asked)}") from error
    seeds = dict.fromkeys(run.seed for run in planned.runs)
    return replace(spec, seeds=tuple(seeds), exclude=None), planned


def told_apart(planned: PlannedSweep, spec: SweepSpec) -> list[str]:
    """Why a sweep gets a folder of its own though there is one of its name: what differs from the last of those."""
    folder = SweepFolder.of(planned, spec)
    name = planned.header.name.rpartition("-")[0]
    others = sorted(folder.path.parent.glob(f"{name}-{'[0-9a-f]' * IDENTITY_HEX}/{LEDGER_NAME}"), key=os.path.getmtime)
    if folder.ledger.is_file() or not others:
        return []
    try:
        with Ledger.open(others[-1], read_only=True) as ledger:
            changes = differences(ledger.header, planned.header)
    except LedgerError:  # of a later version, or broken: nothing to compare with
        return []
    more = [f"  and {len(changes) - _TOLD} more"] if len(changes) > _TOLD else []
    head = f"a new folder, for it is another sweep than {os.path.relpath(others[-1].parent)}:"
    return [head, *(f"  {change}" for change in changes[:_TOLD]), *more]


def _check(words: Sequence[str]) -> None:
    wrong = [word for word in words if plain_key(word.partition("=")[0]).partition(".")[0] not in CHANGEABLE]
    if wrong:
        text = f"cannot be changed on the way; {', '.join(CHANGEABLE)} can. Another command extends the sweep"
        raise InvalidInputError("resume", [Problem(word, text) for word in wrong])


@contextmanager
def _where(asked: Mapping[str, Any]) -> Iterator[None]:
    """Be where the command was given; where that is gone, here.  Its modules are found from there ever after."""
    there = asked.get("folder")
    there = there if isinstance(there, str) and os.path.isdir(there) else os.getcwd()
    sys.path.insert(0, there)
    with chdir(there):
        yield


def _spec(asked: Mapping[str, Any], words: Sequence[str], folder: Path) -> SweepSpec:
    given = {plain_key(word.partition("=")[0]): word for word in (*_overrides(asked), *words)}
    try:
        spec = load_spec(
            tuple(given.values()),
            config_dirs=asked.get("config_dirs", ()),
            config_name=asked.get("config_name", "config"),
        )
    except InvalidInputError as error:
        where = asked.get("folder", "an unknown folder")
        asked_as = f"this was asked in {where}: {_command(asked)}"
        raise InvalidInputError(f"{folder} cannot be resumed", error.problems, asked_as) from error
    return replace(spec, output=str(folder.parent))


def _overrides(asked: Mapping[str, Any]) -> Sequence[str]:
    command = asked.get("command", ())
    return command[3:] if isinstance(command, list) else ()


def _command(asked: Mapping[str, Any]) -> str:
    options = [word for name in asked.get("config_dirs", ()) for word in ("--config-dir", name)]
    if asked.get("config_name", "config") != "config":
        options += ["--config-name", asked["config_name"]]
    return shlex.join(["python", "-m", "sweep", *options, *_overrides(asked)])
