"""What each verb does; each loads what it needs when it is asked for, since Hydra and MuJoCo take a second."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.arguments import Command
from sweep.cli.screen import console, say
from sweep.digest import canonical_json
from sweep.errors import InvalidInputError, Problem
from sweep.exits import SOME_FAILED
from sweep.results import Ledger, Status

if TYPE_CHECKING:
    from sweep.design.spec import SweepSpec
    from sweep.execution.planning import PlannedSweep


def run(command: Command) -> int:
    """Run a sweep and print its table."""
    from sweep.cli.running import carry_out
    from sweep.config.load import show_config

    if command.show_config:
        sys.stdout.write(
            show_config(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
        )
        return 0
    spec, planned = _planned(command)
    return carry_out(command, spec, planned)


def resume(command: Command) -> int:
    """Go on with a sweep, from its folder alone."""
    from sweep.cli.resume import resumed
    from sweep.cli.running import carry_out

    return carry_out(command, *resumed(Path(command.positionals["dir"]), command.overrides))


def plan(command: Command) -> int:
    """Say what a run would do; nothing is written."""
    from sweep.cli.plan import describe, plan_document
    from sweep.execution.canary import examine

    spec, planned = _planned(command)
    if spec.canary:
        found = examine(planned)
        planned = replace(found.applied(planned), remarks=(*planned.remarks, *found.told()))
    document = plan_document(planned, spec)
    if command.options.get("json"):
        sys.stdout.write(canonical_json(document) + "\n")
        return 0
    out = console()
    for part in describe(planned, spec, document):
        out.print(part, markup=False, highlight=False)
    return 0


def status(command: Command) -> int:
    """Say how far a sweep is."""
    from sweep.cli.status import status_document, status_lines

    with Ledger.open(command.positionals["dir"], read_only=True) as ledger:
        document = status_document(ledger)
    if command.options.get("json"):
        sys.stdout.write(canonical_json(document) + "\n")
    else:
        say(console(), "\n".join(status_lines(document)))
    return 0 if all(Status(status).is_good for status in document["outcomes"]) else SOME_FAILED


def replay(command: Command) -> int:
    """Run one run again, alone."""
    from sweep.cli.replay import replay as implementation

    place = Path(_text(command, "dir") or "sweeps")
    level: Any = _text(command, "trace") or ("full" if command.options.get("trace") else None)
    lines, same = implementation(
        place,
        command.positionals["run_id"],
        plot=command.options.get("plot"),
        trace=level,
        strict=command.options.get("strict") is True,
    )
    say(console(), "\n".join(lines))
    return 0 if same else SOME_FAILED


def open_(command: Command) -> int:
    """Run a failure capsule again, and say what a person needs to see."""
    from sweep.cli.open import opened

    told, same = opened(Path(command.positionals["capsule"]), _text(command, "tick"))
    out = console()
    for part in told:
        if isinstance(part, str):
            say(out, part)
        else:
            out.print(part, markup=False, highlight=False)
    return 0 if same else SOME_FAILED


def compare(command: Command) -> int:
    """Compare the cells of a sweep, or two sweeps."""
    from analysis.commands import Question, answer

    options = command.options
    if options.get("csv") and options.get("json"):
        raise InvalidInputError("compare", [Problem("--csv", "goes without --json: one form at a time")])
    question = Question(
        folder=command.positionals["dir"],
        other=command.positionals.get("dir2"),
        baseline=_baseline(command),
        form="json" if options.get("json") else "csv" if options.get("csv") else "table",
        is_whole=options.get("all") is True,
        bootstrap=options.get("bootstrap") is True,
        quantile=_text(command, "quantile"),
    )
    answer(question, console(), _recompute)
    return 0


def export(command: Command) -> int:
    """Write the tables of a comparison."""
    from analysis import export as implementation
    from analysis.commands import check_folders

    folder, other, baseline = command.positionals["dir"], command.positionals.get("dir2"), _baseline(command)
    check_folders("export", folder, other, baseline)
    written = implementation(folder, other, baseline or None, to=_text(command, "to"), recompute=_recompute)
    say(console(), "\n".join(os.path.relpath(path) for path in written))
    return 0


def _baseline(command: Command) -> list[str]:
    words = command.options.get("baseline", [])
    return words if isinstance(words, list) else []


def report(command: Command) -> int:
    """Write a comparison as one HTML file."""
    from analysis import report as implementation
    from analysis.commands import check_folders

    folder, other, baseline = command.positionals["dir"], command.positionals.get("dir2"), _baseline(command)
    check_folders("report", folder, other, baseline)
    written = implementation(folder, other, baseline or None, to=_text(command, "to"), recompute=_recompute)
    say(console(), f"report: {os.path.relpath(written)}")
    return 0


def components(command: Command) -> int:
    """Say what components there are, or what one is told."""
    from sweep.cli.components import described, listed

    name = command.positionals.get("name")
    sys.stdout.write("\n".join(listed() if name is None else described(name)) + "\n")
    return 0


def schema(command: Command) -> int:
    """Print the JSON Schema of a manifest or of a scene's file."""
    from sweep.cli.schema import manifest_schema, scene_schema

    document = scene_schema() if command.options.get("scene") else manifest_schema()
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return 0


def sync(command: Command) -> int:
    """Mirror a sweep to MLflow again, and wait for it."""
    from sweep.cli.tracking import sync as implementation

    told, done = implementation(command)
    say(console(stderr=not done), told)
    return 0 if done else SOME_FAILED


def ui(command: Command) -> int:
    """Serve MLflow's pages on the loopback interface until Ctrl-C."""
    from sweep.cli.tracking import ui as implementation

    implementation(command, partial(say, console()))
    return 0


ANSWERS: Mapping[str, Callable[[Command], int]] = {
    "run": run,
    "plan": plan,
    "resume": resume,
    "status": status,
    "replay": replay,
    "open": open_,
    "compare": compare,
    "export": export,
    "report": report,
    "components": components,
    "schema": schema,
    "sync": sync,
    "ui": ui,
}


def _planned(command: Command) -> tuple[SweepSpec, PlannedSweep]:
    from sweep.config.load import load_spec
    from sweep.execution.planning import plan_sweep

    spec = load_spec(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
    return spec, plan_sweep(spec)


def _recompute(key: str, first: int, count: int, width: int) -> str:
    """See :func:`sweep.run.recompute`, which only runs of different length need."""
    from sweep.run import recompute

    return recompute(key, first, count, width)


def _text(command: Command, option: str) -> str | None:
    value = command.options.get(option)
    return value if isinstance(value, str) else None
