"""Resuming a sweep: all that was ever asked of it, resolved again, unless what it was made from has changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sweep.design import DesignSpec, Run, SweepSpec
from sweep.errors import ChangedError, InvalidInputError
from sweep.execution.planning import PlannedSweep, plan_sweep
from sweep.plan.manifest import load_manifest
from sweep.plan.plan import NOT_OF_THE_PLAN, Plan
from sweep.results import CellRow, Ledger, SweepHeader
from sweep.runtime.resolve import Resolver

MISSING = "nothing"


def planned_again(spec: SweepSpec, ledger: Ledger) -> PlannedSweep:
    """Every run that a ledger knows of, with its Plan.

    Args:
        spec: what the command that began or extended the sweep asks for now; of its design and seeds nothing is taken.
        ledger: the sweep's.

    Raises:
        ChangedError: the base manifest, the model, a file or the code is another one than the ledger's.
        InvalidInputError: what is asked for cannot be planned any more.
    """
    nominal = replace(spec, swept={}, exclude=None, baseline=None, design=DesignSpec(), seeds=spec.seeds[:1])
    now, header = plan_sweep(nominal), ledger.header
    cells = ledger.cells()
    plans, changes = _plans(spec, cells)
    if now.header.name != header.name:
        changes = differences(header, now.header) or [f"its identity: {header.name} -> {now.header.name}"]
    if changes:
        raise ChangedError(str(ledger.path.parent), changes)
    return replace(
        now,
        header=replace(now.header, name=ledger.path.parent.name, baseline=header.baseline),
        cells=tuple(cells),
        runs=tuple(
            Run(run_id=row.run_id, plan=plans[row.cell_id], seed=row.seed, cell_id=row.cell_id) for row in ledger.runs()
        ),
        baseline=header.baseline or "",
    )


def differences(before: SweepHeader, now: SweepHeader) -> list[str]:
    """What makes two sweeps different ones, a line each: a key of the manifest, a file, a package."""
    lines = [f"{key}: {old} -> {new}" for key, old, new in _changed(_decisive(before), _decisive(now))]
    lines += [f"{name} {_how(old, new)}" for name, old, new in _changed(before.files, now.files)]
    lines += [_told(name, old, new) for name, old, new in _changed(before.code, now.code)]
    if before.model_id != now.model_id and not before.files:
        lines.append("the model changed; in which of its files is not recorded")
    if before.code_id != now.code_id and not before.code:
        lines.append("the code changed; in which of its files is not recorded")
    return lines


def _plans(spec: SweepSpec, cells: list[CellRow]) -> tuple[dict[str, Plan], list[str]]:
    """The Plan of each cell, and what is wrong with those that are not what they were."""
    resolver = Resolver()
    manifest = load_manifest(spec.manifest, folder=None if spec.scene_dir is None else Path(spec.scene_dir).resolve())
    plans, problems = {}, []
    for cell in cells:
        try:
            plans[cell.cell_id] = resolver.resolve(manifest, cell.parameters)
        except InvalidInputError as error:
            problems.append(f"cell {cell.label}: {'; '.join(map(str, error.problems))}")
            continue
        if plans[cell.cell_id].plan_id != cell.plan_id:
            problems.append(f"cell {cell.label}: Plan {cell.plan_id} -> {plans[cell.cell_id].plan_id}")
    return plans, problems


def _decisive(header: SweepHeader) -> dict[str, Any]:
    """The manifest's leaves by their path, without what makes no other sweep."""
    return {
        path: value
        for path, value in _leaves(header.manifest, "")
        if not any(path == f"{section}.{key}" for section, keys in NOT_OF_THE_PLAN.items() for key in keys)
    }


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    parts: Mapping[Any, Any] = value if isinstance(value, Mapping) else {}
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        parts = dict(enumerate(value))
    if not parts:
        yield path, list(value) if isinstance(value, tuple) else value
    for key, part in parts.items():
        yield from _leaves(part, f"{path}.{key}" if path else str(key))


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in [*before, *(name for name in now if name not in before)]:
        old, new = before.get(name, MISSING), now.get(name, MISSING)
        if old != new:
            yield name, old, new


def _how(old: Any, new: Any) -> str:
    if MISSING in (old, new):
        return "is new" if old == MISSING else "is gone"
    return "changed"


def _told(name: str, old: str, new: str) -> str:
    """A file of code by its name, a package with its versions."""
    return f"{name} {_how(old, new)}" if "." in name else f"{name}: {old} -> {new}"
