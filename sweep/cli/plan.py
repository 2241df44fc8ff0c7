"""What a run would do: the design, what of it is done already, and how long the rest would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from sweep.config.design import KEYS
from sweep.design import DesignSpec, Interval, Run, SweepSpec, distinct_runs
from sweep.design.cell import shown
from sweep.execution.auto import in_words
from sweep.execution.calibration import calibrate
from sweep.execution.calibration import in_words as lanes_in_words
from sweep.execution.executor import cores
from sweep.execution.folder import SweepFolder
from sweep.execution.pending import pending_work
from sweep.execution.planning import PlannedSweep
from sweep.execution.words import counted
from sweep.plan.units import unit_at
from sweep.results import Ledger

VERSION = 1
"""Of the document that ``plan --json`` prints; readers of it may rely on what stands in :func:`plan_document`."""

_LISTED = 10
"""Cells that people are shown ..."""

_VALUES = 6
"""... and values of an axis."""


def plan_document(planned: PlannedSweep, spec: SweepSpec, run_s: float | None = None) -> dict[str, Any]:
    """The whole plan as plain data; nothing is written.

    Args:
        planned: the sweep.
        spec: what was asked.
        run_s: wall time of one run among many, on one worker [s]; None times a few runs for a moment, as they are to be
            executed.

    Returns:
        ``version``: of this layout, 1.
        ``name``, ``scene``, ``folder``: the sweep, its scene, and where it is or would be.
        ``axes``: every declared axis by name: ``nominal`` (SI), ``unit``, ``bindings``.
        ``swept``: every swept axis and full path, in order: ``unit``, ``bindings``, and either ``values`` as given or
        ``interval`` (``low``, ``high``, ``is_log``, ``is_integer``).
        ``design``: its ``kind`` and what it was told; ``exclude``: the condition, or null.
        ``cells``: each with ``cell_id``, ``ordinal``, ``label``, ``values`` (SI, all axes), ``parameters`` (manifest
        path to value) and ``plan_id``; ``baseline``: cell_id of the one that others are compared with.
        ``duplicates``, ``excluded``: points that are no cells because they are there already, or meet the condition;
        ``remarks``: what else there is to know.
        ``seeds``: of every cell; a run is a ``plan_id`` and a seed.
        ``runs``, ``done``: how many different ones, and how many of them are answered; ``pending``: why the others
        are to be run, reason to count.
        ``simulated_s``: length of a run; ``executor``: its kind; ``workers``: how many work at once; ``estimate_s``:
        wall time of what is pending [s], null where user code does not get through a few runs' first moments;
        ``lanes`` of a batch at most and ``threads`` of its physics, as a short calibration found them best, null there,
        too.
    """
    folder = SweepFolder.of(planned, spec)
    runs = distinct_runs(planned.runs)
    pending, reasons = _pending(planned, folder, runs, timeout_s=spec.executor.timeout_s)
    workers = spec.executor.workers or cores()
    found = calibrate(pending, workers if spec.executor.kind == "inline" else 1)
    share = run_s if run_s is not None else None if found is None else found.share_s
    # In this process shards go one after the other.
    at_once = 1 if spec.executor.kind == "inline" else workers
    return {
        "version": VERSION,
        "name": planned.header.name,
        "scene": spec.scene,
        "folder": str(folder.path),
        "axes": {
            axis.name: {"unit": axis.unit, "nominal": axis.nominal, "bindings": axis.bindings} for axis in spec.axes
        },
        "swept": {name: _swept(name, spec) for name in spec.swept},
        "design": {key: getattr(spec.design, key) for key in ("kind", *KEYS[spec.design.kind])},
        "exclude": spec.exclude,
        "cells": [asdict(cell) for cell in planned.cells],
        "baseline": planned.baseline,
        "duplicates": planned.duplicates,
        "excluded": planned.excluded,
        "remarks": planned.remarks,
        "seeds": spec.seeds,
        "runs": len(runs),
        "done": len(runs) - len(pending),
        "pending": reasons,
        "simulated_s": planned.base.manifest.runtime.duration_s,
        "executor": spec.executor.kind,
        "workers": workers,
        "lanes": None if found is None else found.lanes,
        "threads": None if found is None else found.threads,
        "estimate_s": 0.0 if not pending else None if share is None else share * len(pending) / at_once,
    }


def _pending(
    planned: PlannedSweep, folder: SweepFolder, runs: Sequence[Run], *, timeout_s: float | None
) -> tuple[Sequence[Run], dict[str, int]]:
    if not folder.ledger.is_file():
        return runs, {"new": len(runs)}
    with Ledger.open(folder.ledger, read_only=True) as ledger:
        work = pending_work(planned, ledger, timeout_s=timeout_s)
    return work.runs, {str(reason): count for reason, count in work.reasons.items()}


def _swept(name: str, spec: SweepSpec) -> dict[str, Any]:
    taken = spec.swept[name]
    axis = next((axis for axis in spec.axes if axis.name == name), None)
    path = name.removeprefix("manifest.")
    return {
        "unit": unit_at(path) if axis is None else axis.unit,
        "bindings": (path,) if axis is None else axis.bindings,
        **({"interval": asdict(taken)} if isinstance(taken, Interval) else {"values": taken}),
    }


def describe(planned: PlannedSweep, spec: SweepSpec, document: dict[str, Any]) -> Iterator[RenderableType]:
    """The plan for people."""
    cells, seeds = counted(len(planned.cells), "cell"), counted(len(spec.seeds), "seed")
    runs = f"{counted(document['runs'], 'run')} of {document['simulated_s']:g} s"
    yield f"{planned.header.name}: {cells} × {seeds} = {runs}"
    if spec.swept:
        yield design_table(spec)
    for cell in planned.cells[:_LISTED]:
        yield f"  {cell.cell_id[:8]}  {cell.label}"
    if len(planned.cells) > _LISTED:
        yield f"  and {len(planned.cells) - _LISTED} more (--json has them all)"
    yield from design_notes(planned, spec)
    yield _progress(document)
    yield f"folder: {document['folder']}"


def design_table(spec: SweepSpec) -> RenderableType:
    """What is swept: over what, in which unit, setting what."""
    table = Table(title=f"design: {_told(spec.design)}", title_justify="left", box=None, pad_edge=False)
    for heading in ("swept", "over", "unit", "sets"):
        table.add_column(heading)
    for name, taken in spec.swept.items():
        told = _swept(name, spec)
        over = str(taken) if isinstance(taken, Interval) else _listed([shown(value) for value in taken])
        table.add_row(name, over, told["unit"] or "-", "\n".join(told["bindings"]))
    return table


def design_notes(planned: PlannedSweep, spec: SweepSpec) -> Iterator[str]:
    """What people should know of a design: what was left out of it, and why."""
    if planned.excluded:
        yield f"{counted(planned.excluded, 'point')} left out by exclude={spec.exclude}"
    elif spec.exclude is not None:
        yield f"exclude={spec.exclude} leaves nothing out"
    if planned.duplicates:
        yield f"{counted(planned.duplicates, 'point')} left out: an earlier one says the same"
    shared = len(planned.cells) - len({cell.plan_id for cell in planned.cells})
    if shared:
        yield f"{counted(shared, 'cell')} with the Plan of another, whose runs count for both"
    yield from planned.remarks


def _told(design: DesignSpec) -> str:
    told = {key: getattr(design, key) for key in KEYS[design.kind]}
    usual = asdict(DesignSpec(n=0, seed=-1))
    return " ".join([design.kind, *(f"{key}={shown(value)}" for key, value in told.items() if value != usual[key])])


def _listed(words: Sequence[str]) -> str:
    if len(words) <= _VALUES:
        return ", ".join(words)
    return f"{', '.join(words[: _VALUES - 2])}, ... {words[-1]} ({len(words)} values)"


def _progress(document: dict[str, Any]) -> str:
    done = f"done already: {document['done']}"
    if not document["pending"]:
        return f"{done}, nothing is left to run"
    waiting = ", ".join(f"{count} {reason}" for reason, count in document["pending"].items())
    where = "in this process" if document["executor"] == "inline" else f"on {counted(document['workers'], 'worker')}"
    estimate = document["estimate_s"]
    if estimate is None:
        return f"{done}; to run: {waiting}, {where}; they do not get far enough to say how long it takes"
    batches = lanes_in_words(document["lanes"], document["threads"])
    return f"{done}; to run: {waiting}; about {in_words(estimate)} {where}, in batches of {batches}"


def axes_table(spec: SweepSpec) -> RenderableType:
    """The axes that a scene declares: what can be swept, in which unit, around which value."""
    table = Table(title=f"axes of scene {spec.scene}", title_justify="left", box=None, pad_edge=False)
    for heading in ("sweep it with", "nominal", "unit", "sets"):
        table.add_column(heading)
    for axis in spec.axes:
        table.add_row(f"+{axis.name}=", shown(axis.nominal), axis.unit or "-", "\n".join(axis.bindings))
    return table
