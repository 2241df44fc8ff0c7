"""What a run would do: cells, axes, what is done already, and how long the rest would take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table

from sweep.design.cell import shown
from sweep.design.run import Run
from sweep.design.spec import SweepSpec
from sweep.execution.auto import in_words
from sweep.execution.collect import pending_runs
from sweep.execution.executor import cores
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import PlannedSweep
from sweep.results import Ledger
from sweep.runtime import InstanceBatch

_LISTED = 10
_PROBE = 16
"""Runs that are timed for the estimate, side by side ..."""

_PROBE_S = 0.5
"""... for so long [s]."""


def plan_document(planned: PlannedSweep, spec: SweepSpec) -> dict[str, Any]:
    """The plan as plain data; a few runs are simulated for the estimate, and nothing is written."""
    folder = SweepFolder.of(planned, spec)
    if folder.ledger.is_file():
        with Ledger.open(folder.ledger, read_only=True) as ledger:
            pending = pending_runs(planned, ledger)
    else:
        pending = planned.runs
    return {
        "name": planned.header.name,
        "scene": spec.scene,
        "folder": str(folder.path),
        "axes": {
            axis.name: {
                "unit": axis.unit,
                "nominal": axis.nominal,
                "bindings": list(axis.bindings),
                "values": list(spec.swept.get(axis.name, ())),
            }
            for axis in spec.axes
        },
        "swept": {name: list(values) for name, values in spec.swept.items()},
        "cells": [{"cell_id": c.cell_id, "label": c.label, "plan_id": c.plan_id} for c in planned.cells],
        "duplicates": planned.duplicates,
        "seeds": list(spec.seeds),
        "runs": len(planned.runs),
        "done": len(planned.runs) - len(pending),
        "simulated_s": planned.base.manifest.runtime.duration_s,
        "estimate_s": _run_s(pending) * len(pending) / (spec.executor.workers or cores()),
    }


def _run_s(pending: Sequence[Run]) -> float:
    """Wall time of one run in a batch [s], from the first moments of a few; nothing is kept."""
    layout = [run for run in pending if run.plan.layout == pending[0].plan.layout][:_PROBE]
    if not layout:
        return 0.0
    batch = InstanceBatch([run.plan for run in layout], [run.seed for run in layout])
    started = time.perf_counter()
    while time.perf_counter() - started < _PROBE_S and batch.advance_block():
        pass
    spent = time.perf_counter() - started
    return spent * batch.horizon / max(1, batch.tick) / len(layout)


def describe(document: dict[str, Any]) -> Iterator[RenderableType]:
    """The plan for people."""
    cells, seeds = document["cells"], document["seeds"]
    counts = f"{counted(len(cells), 'cell')} × {counted(len(seeds), 'seed')} = {counted(document['runs'], 'run')}"
    yield f"{document['name']}: {counts} of {document['simulated_s']:g} s"
    for cell in cells[:_LISTED]:
        yield f"  {cell['cell_id'][:8]}  {cell['label']}"
    if len(cells) > _LISTED:
        yield f"  and {len(cells) - _LISTED} more"
    if document["duplicates"]:
        yield f"{document['duplicates']} points of the design say the same as an earlier one and are left out"
    yield f"done already: {document['done']}; the rest takes about {in_words(document['estimate_s'])} on this machine"
    yield f"folder: {document['folder']}"


def counted(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def axes_table(spec: SweepSpec) -> RenderableType:
    """The axes that a scene declares: what can be swept, in which unit, around which value."""
    table = Table(title=f"axes of scene {spec.scene}", title_justify="left", box=None, pad_edge=False)
    for heading in ("sweep it with", "nominal", "unit", "sets"):
        table.add_column(heading)
    for axis in spec.axes:
        table.add_row(f"+{axis.name}=", shown(axis.nominal), axis.unit or "-", "\n".join(axis.bindings))
    return table
