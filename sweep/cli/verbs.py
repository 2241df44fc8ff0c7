"""What each verb does."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sweep.arguments import Command
from sweep.cli.progress import ProgressDisplay, failure_lines
from sweep.cli.resume import resumed, told_apart
from sweep.config.load import load_spec, show_config
from sweep.design.spec import SweepSpec
from sweep.digest import canonical_json
from sweep.errors import InterruptedSweepError, InvalidInputError, Problem
from sweep.execution.planning import PlannedSweep, plan_sweep
from sweep.execution.words import counted
from sweep.exits import CANCELLED, SOME_FAILED
from sweep.results import Ledger, Status
from sweep.terminal import fitted

if TYPE_CHECKING:
    from sweep.run import SweepRun

_GOOD = (Status.COMPLETED, Status.ENDED)


def run(command: Command) -> int:
    """Run a sweep and print its table."""
    if command.show_config:
        sys.stdout.write(
            show_config(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
        )
        return 0
    spec, planned = _planned(command)
    return _run(command, spec, planned)


def resume(command: Command) -> int:
    """Go on with a sweep, from its folder alone."""
    return _run(command, *resumed(Path(command.positionals["dir"]), command.overrides))


def _run(command: Command, spec: SweepSpec, planned: PlannedSweep) -> int:
    from sweep.run import SweepRun

    out, progress = _console(), _console(stderr=True)
    if not command.is_quiet:
        _say(progress, "\n".join([_headline(planned, spec), *told_apart(planned, spec)]))
    with ProgressDisplay(progress, quiet=command.is_quiet) as display:
        result = SweepRun(planned, spec, display.show)
        display.refresh_with(result.comparison)
        with suppress(InterruptedSweepError):  # what is left is told below
            result.finish()
    _print_comparison(out, result.comparison())
    if not spec.swept and not command.is_quiet:
        _print_axes(out, spec)
    if not command.is_quiet:
        _say(progress, _next_steps(result, spec))
    if result.syncer is not None and result.report.interrupted:
        _say(progress, result.syncer.describe())
    elif result.syncer is not None:
        from sweep.cli.tracking import wait_for_mlflow

        wait_for_mlflow(result.syncer, partial(_say, progress), quiet=command.is_quiet)
    return _ended(result, progress)


def _ended(result: SweepRun, progress: Console) -> int:
    """Say what failed and what is left; the exit code."""
    report, folder = result.report, os.path.relpath(result.folder)
    if report.failures:
        _say(progress, "\n".join(failure_lines(report.failures, folder)))
    if report.pending:
        words = f"resume {folder} {report.resume_with}".rstrip()
        _say(progress, f"{counted(report.pending, 'run')} to go: python -m sweep {words}")
    if report.interrupted:
        return CANCELLED
    return 0 if set(report.statuses) <= {status.value for status in _GOOD} else SOME_FAILED


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
    out = _console()
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
        _say(_console(), "\n".join(status_lines(document)))
    return 0 if set(document["outcomes"]) <= {status.value for status in _GOOD} else SOME_FAILED


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
    _say(_console(), "\n".join(lines))
    return 0 if same else SOME_FAILED


def open_(command: Command) -> int:
    """Run a failure capsule again, and say what a person needs to see."""
    from sweep.cli.open import opened

    told, same = opened(Path(command.positionals["capsule"]), _text(command, "tick"))
    out = _console()
    for part in told:
        if isinstance(part, str):
            _say(out, part)
        else:
            out.print(part, markup=False, highlight=False)
    return 0 if same else SOME_FAILED


def compare(command: Command) -> int:
    """Compare the cells of a sweep, or two sweeps."""
    from analysis.commands import Question, answer
    from sweep.run import recompute

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
    answer(question, _console(), recompute)
    return 0


def export(command: Command) -> int:
    """Write the tables of a comparison."""
    from analysis import export as implementation
    from analysis.commands import check_folders
    from sweep.run import recompute

    folder, other, baseline = command.positionals["dir"], command.positionals.get("dir2"), _baseline(command)
    check_folders("export", folder, other, baseline)
    written = implementation(folder, other, baseline or None, to=_text(command, "to"), recompute=recompute)
    _say(_console(), "\n".join(os.path.relpath(path) for path in written))
    return 0


def _baseline(command: Command) -> list[str]:
    words = command.options.get("baseline", [])
    return words if isinstance(words, list) else []


def report(command: Command) -> int:
    """Write a comparison as one HTML file."""
    from analysis import report as implementation
    from analysis.commands import check_folders
    from sweep.run import recompute

    folder, other, baseline = command.positionals["dir"], command.positionals.get("dir2"), _baseline(command)
    check_folders("report", folder, other, baseline)
    written = implementation(folder, other, baseline or None, to=_text(command, "to"), recompute=recompute)
    _say(_console(), f"report: {os.path.relpath(written)}")
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
    _say(_console(stderr=not done), told)
    return 0 if done else SOME_FAILED


def ui(command: Command) -> int:
    """Serve MLflow's pages on the loopback interface until Ctrl-C."""
    from sweep.cli.tracking import ui as implementation

    implementation(command, partial(_say, _console()))
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
    spec = load_spec(command.overrides, config_dirs=command.config_dirs, config_name=command.config_name)
    return spec, plan_sweep(spec)


def _headline(planned: PlannedSweep, spec: SweepSpec) -> str:
    from sweep.cli.plan import design_notes

    headline = (
        f"{planned.header.name}: {counted(len(planned.cells), 'cell')} × {counted(len(spec.seeds), 'seed')}, "
        f"{planned.base.manifest.runtime.duration_s:g} s each at {float(planned.base.grid.timestep) * 1e3:g} ms steps"
    )
    return "\n".join([headline, *design_notes(planned, spec)])


def _next_steps(result: Any, spec: SweepSpec) -> str:
    folder = os.path.relpath(result.folder)
    first = result.planned.runs[0].run_id[:8]
    lines = [
        f"{counted(result.report.ran, 'run')} in {result.report.elapsed_s:.1f} s, {result.report.reused} known before "
        f"({result.report.reason})",
        f"results: {folder}",
        f"figures: python -m sweep report {folder}",
        f"one run again: python -m sweep replay {first} --dir {folder} --plot",
    ]
    if result.report.remark:
        lines.append(result.report.remark)
    if result.syncer is not None:
        from sweep.cli.tracking import browse

        lines.append(f"browse: {browse(result.syncer.destination, folder)}")
    return "\n".join(lines)


def _print_comparison(out: Console, comparison: Any) -> None:
    from analysis import render

    out.print(render(comparison, width=out.width if out.is_terminal else 80))


def _print_axes(out: Console, spec: SweepSpec) -> None:
    from sweep.cli.plan import axes_table

    out.print(axes_table(spec))


def _text(command: Command, option: str) -> str | None:
    value = command.options.get(option)
    return value if isinstance(value, str) else None


def _console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, width=None if sys.stdout.isatty() else 100)


def _say(console: Console, text: str) -> None:
    console.print(fitted(text, console.file), markup=False, highlight=False, soft_wrap=True)
