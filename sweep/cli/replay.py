"""One run again, alone: is it the same, and what does it look like beside its pair?"""

from __future__ import annotations

import traceback
from pathlib import Path

from analysis.figures.signals import Panel, signals
from analysis.reporting.page import figure_page
from sweep.errors import InvalidInputError, LedgerError, Problem
from sweep.execution.code import code_id
from sweep.execution.replay import find_run, other_bits, replayable
from sweep.execution.run_files import RunFiles
from sweep.execution.traces import keep_traces
from sweep.plan.plan import run_id
from sweep.plan.sections import TraceLevel
from sweep.results import CellRow, Ledger, RunRecord
from sweep.results.traces import trace_place
from sweep.runtime.tracing.recording import Recording, record_run

_MOST_JOINTS = 8


def replay(
    place: Path,
    prefix: str,
    *,
    plot: str | bool | list[str] | None,
    trace: TraceLevel | None = None,
    strict: bool = False,
) -> tuple[list[str], bool]:
    """Run one run again from its sweep's folder alone.

    Args:
        place: a sweep's folder, or a folder of sweeps.
        prefix: the first digits of the run_id.
        plot: the HTML file to draw it into; True names it after the run.
        trace: how much of it to keep in the sweep's folder.
        strict: whether to refuse where the bits need not agree: on another class of machine, or under other code.

    Returns:
        What to tell, and whether the digest is the same.

    Raises:
        LedgerError: no such run, it cannot be had again, or ``strict`` refuses it.
    """
    folder, found = find_run(place, prefix)
    plan, record, cell = replayable(folder, found)
    reasons = other_bits(plan, record)
    if strict and reasons:
        raise LedgerError("\n  ".join([f"Run {found} is refused by --strict: its bits may differ here.", *reasons,
                                       "Without --strict it runs, and its digest is compared."]))  # fmt: skip
    try:
        recording = record_run(plan, record.seed)
    except Exception as error:  # noqa: BLE001 - a controller's constructor may raise anything, as it did in the sweep
        return _raised(found, cell, record, error)
    same = recording.record.trace_digest == record.trace_digest
    lines = [f"run {found} ({cell.label}, seed {record.seed}) of {folder}: {recording.record.outcome.status.value}"]
    lines += [_verdict(record, recording.record, same), *reasons]
    lines += [f"  {name} = {value:g}" for name, value in recording.record.metrics.items() if value is not None]
    if recording.record.outcome.message:
        lines.append(f"  {recording.record.outcome.message}")
    if trace:
        lines.append(_traced(folder, recording, code_id(plan), trace) if same else "no trace is kept of another run")
    if plot:
        lines.append(f"drawn: {_write(plot, found, _drawn(folder, cell, recording))}")
    return lines, same


def _raised(found: str, cell: CellRow, record: RunRecord, error: Exception) -> tuple[list[str], bool]:
    """What to tell of a run that could not even begin."""
    same = record.outcome.kind == "component"
    head = f"run {found} ({cell.label}, seed {record.seed}) raised before its first step{', as before' if same else ''}"
    return [head, *traceback.format_exception(error)[-3:]], same


def _write(plot: str | bool | list[str], run: str, page: str) -> Path:
    target = Path(plot) if isinstance(plot, str) else Path(f"replay-{run[:8]}.html")
    if target.suffix not in (".html", ".htm"):
        raise InvalidInputError("replay", [Problem("--plot", f"draws HTML; name a file such as {target.stem}.html")])
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError("replay", [Problem("--plot", f"{target}: {error.strerror}")]) from None
    return target


def _traced(folder: Path, recording: Recording, code: str, level: TraceLevel) -> str:
    run = recording.record.run_id
    keep_traces(recording.batch, [(run, code, level)], RunFiles.of(folder).keep)
    return f"trace: {folder / trace_place(run)}"


def _verdict(before: RunRecord, now: RunRecord, same: bool) -> str:
    if same:
        return f"same digest, {now.trace_digest}: every state, sample, command and draw is bit for bit what it was"
    if not before.trace_digest:
        return f"nothing to compare with: in the sweep it was {before.outcome.status.value} and left no trace"
    return f"another digest: {now.trace_digest}, it was {before.trace_digest}"


def _drawn(folder: Path, cell: CellRow, recording: Recording) -> str:
    """The run against the one of the same seed in the baseline cell, or in the first other cell."""
    label = f"{cell.label}, seed {recording.record.seed}"
    runs, subtitle = {label: recording}, "no other cell has this seed"
    pair = _pair(folder, cell, recording.record.seed)
    if pair is not None:
        other, other_recording = pair
        runs[f"{other.label}, same seed"] = other_recording
        subtitle = f"against {other.label} on identical noise"
    return figure_page(signals(label, subtitle, _panels(runs)))


def _pair(folder: Path, cell: CellRow, seed: int) -> tuple[CellRow, Recording] | None:
    from analysis.baseline import choose_baseline
    from analysis.source import read

    base = choose_baseline(read(folder))
    with Ledger.open(folder, read_only=True) as ledger:
        cells = ledger.cells()
    ordered = sorted(cells, key=lambda c: (base is None or c.cell_id != base.cell_id, c.ordinal))
    for other in ordered:
        if other.cell_id != cell.cell_id:
            try:
                plan, record, _ = replayable(folder, run_id(other.plan_id, seed))
            except LedgerError:
                continue  # that cell does not have this seed
            return other, record_run(plan, record.seed)
    return None


def _panels(runs: dict[str, Recording]) -> list[Panel]:
    first = next(iter(runs.values()))
    panels = []
    moving = sorted(first.positions, key=lambda name: -float(first.positions[name].std()))
    joints = [name for name in first.positions if name in (list(first.references) or moving)][:_MOST_JOINTS]
    for joint in joints:
        if joint in first.references:
            curves = {label: (run.time_s, run.positions[joint] - run.references[joint]) for label, run in runs.items()}
            panels.append(Panel(title=f"{joint}: error from its reference", curves=curves))
        else:
            curves = {label: (run.time_s, run.positions[joint]) for label, run in runs.items()}
            panels.append(Panel(title=f"{joint}: position", curves=curves))
    for actuator in list(first.controls)[: max(1, _MOST_JOINTS - len(panels))]:
        curves = {label: (run.time_s, run.controls[actuator]) for label, run in runs.items()}
        panels.append(Panel(title=f"{actuator}: control", curves=curves))
    return panels
