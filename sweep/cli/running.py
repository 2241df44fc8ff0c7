"""A sweep on the command line: what it is, how far it is, what came out, and what to type next."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

from sweep.arguments import Command
from sweep.cli.progress import ProgressDisplay, failure_lines
from sweep.cli.resume import told_apart
from sweep.cli.screen import console, say
from sweep.design.spec import SweepSpec
from sweep.errors import InterruptedSweepError
from sweep.execution.planning import PlannedSweep
from sweep.execution.words import counted
from sweep.exits import CANCELLED, SOME_FAILED
from sweep.results import Status

if TYPE_CHECKING:
    from sweep.run import SweepRun


def carry_out(command: Command, spec: SweepSpec, planned: PlannedSweep) -> int:
    """Run what is missing of a sweep and print its table; the exit code."""
    from analysis import render
    from sweep.run import SweepRun

    out, progress = console(), console(stderr=True)
    if not command.is_quiet:
        say(progress, "\n".join([_headline(planned, spec), *told_apart(planned, spec)]))
    with ProgressDisplay(progress, quiet=command.is_quiet) as display:
        result = SweepRun(planned, spec, display.show)
        display.refresh_with(result.comparison)
        with suppress(InterruptedSweepError):  # what is left is told below
            result.commit()
    out.print(render(result.comparison(), width=out.width if out.is_terminal else 80))
    if not spec.swept and not command.is_quiet:
        _print_axes(out, spec)
    if not command.is_quiet:
        say(progress, _next_steps(result))
    with suppress(InterruptedSweepError):
        result.finish()  # nobody waits for Ray's end before the results
    if result.syncer is not None and result.report.interrupted:
        say(progress, result.syncer.describe())
    elif result.syncer is not None:
        from sweep.cli.tracking import wait_for_mlflow

        wait_for_mlflow(result.syncer, partial(say, progress), quiet=command.is_quiet)
    return _ended(result, progress)


def _ended(result: SweepRun, progress: Console) -> int:
    """Say what failed and what is left; the exit code."""
    report, folder = result.report, os.path.relpath(result.folder)
    if report.failures:
        say(progress, "\n".join(failure_lines(report.failures, folder)))
    if report.pending:
        words = f"resume {folder} {report.resume_with}".rstrip()
        say(progress, f"{counted(report.pending, 'run')} to go: python -m sweep {words}")
    if report.interrupted:
        return CANCELLED
    return 0 if all(Status(status).is_good for status in report.statuses) else SOME_FAILED


def _headline(planned: PlannedSweep, spec: SweepSpec) -> str:
    from sweep.cli.plan import design_notes

    headline = (
        f"{planned.header.name}: {counted(len(planned.cells), 'cell')} × {counted(len(spec.seeds), 'seed')}, "
        f"{planned.base.manifest.runtime.duration_s:g} s each at {float(planned.base.grid.timestep) * 1e3:g} ms steps"
    )
    return "\n".join([headline, *design_notes(planned, spec)])


def _next_steps(result: SweepRun) -> str:
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


def _print_axes(out: Console, spec: SweepSpec) -> None:
    from sweep.cli.plan import axes_table

    out.print(axes_table(spec))
