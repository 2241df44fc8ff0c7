"""From a run_id back to its Plan, with nothing but the sweep's folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sweep.errors import InvalidInputError, LedgerError
from sweep.execution.code import code_id
from sweep.execution.folder import CODE_NAME, MANIFEST_NAME, moved_parameters
from sweep.execution.node import class_differences, node_fingerprint
from sweep.plan.manifest import load_manifest
from sweep.plan.plan import Plan
from sweep.results import CellRow, Ledger, RunRecord
from sweep.results.ledger import LEDGER_NAME
from sweep.results.session import RunRow
from sweep.runtime.resolve import resolve_plan

LISTED = 8
"""How many candidates a message names."""


def find_run(output: Path | str, prefix: str) -> tuple[Path, str]:
    """The sweep folder and run_id that a prefix means.

    A run that several sweeps hold (the same Plan under other code) is taken from the one written last.

    Args:
        output: the folder of sweeps, or one sweep's folder.
        prefix: the first digits of a run_id.

    Raises:
        LedgerError: no run, or several, begin like this; some of what there is, is listed.
    """
    output = Path(output)
    ledgers = [output / LEDGER_NAME] if (output / LEDGER_NAME).is_file() else sorted(output.glob(f"*/{LEDGER_NAME}"))
    ledgers.sort(key=lambda path: path.stat().st_mtime)
    found: dict[str, Path] = {}
    others: list[str] = []
    for path in ledgers:
        with suppress(LedgerError):  # a ledger of a later version does not hide the others
            for run_id in _run_ids(path):
                if run_id.startswith(prefix):
                    found[run_id] = path.parent
                else:
                    others.append(run_id)
    if len(found) == 1:
        ((run_id, folder),) = found.items()
        return folder, run_id
    if found:
        raise LedgerError(f"{len(found)} runs begin with {prefix!r}; type more of it. There is: {_listed(found)}")
    where = f"{len(ledgers)} sweeps in {output}" if ledgers else f"{output}, where there is no sweep"
    raise LedgerError(f"No run begins with {prefix!r} in {where}. There is: {_listed(others)}")


def replayable(folder: Path | str, prefix: str) -> tuple[Plan, RunRecord, CellRow]:
    """Rebuild a run's Plan from a sweep's folder alone.

    Args:
        folder: the sweep's folder.
        prefix: a unique prefix of the run_id.

    Returns:
        The Plan, the record to compare with, and the run's cell.  Whether the bits must agree,
        :func:`other_bits` says.

    Raises:
        LedgerError: no such run, it has not run, or the Plan cannot be had again; what differs is said.
    """
    folder = Path(folder)
    _, run_id = find_run(folder, prefix)
    with Ledger.open(folder, read_only=True) as ledger:
        run = next(row for row in ledger.runs() if row.run_id == run_id)
        cell = next(row for row in ledger.cells() if row.cell_id == run.cell_id)
        record = next((r for r in ledger.records() if r.run_id == run_id), None)
        header = ledger.header
    if record is None:
        raise LedgerError(f"Run {run_id} ({cell.label}, seed {run.seed}) has not run yet: nothing to compare with.")
    plan = _plan(folder, cell, header.manifest["model"].get("file"))
    if plan.plan_id != run.plan_id:
        raise LedgerError(_difference(folder, run, cell, plan, header.model_id))
    return plan, record, cell


def other_bits(plan: Plan, record: RunRecord) -> list[str]:
    """Why this process need not give a record's bits again, each reason with both values; empty if it must."""
    code, here, there = code_id(plan), node_fingerprint()["features"], record.node.get("features")
    # A run that was lost or timed out has no node: nobody came back to say where it was.
    differences = class_differences(record.node) if record.node else ()
    reasons = [f"another machine class: {difference}" for difference in differences]
    if there not in (None, here):
        reasons.append(f"all CPU features here: {here}; there: {there}")
    if record.code_id != code:
        reasons.append(f"other code decides the bits: code_id here: {code}; there: {record.code_id}")
    return reasons


def _plan(folder: Path, cell: CellRow, model_file: str | None) -> Plan:
    code = str((folder / CODE_NAME).resolve())
    if (folder / CODE_NAME).is_dir() and code not in sys.path:
        sys.path.append(code)  # last: what the user works on comes first, and is told apart by its code_id
    try:
        manifest = load_manifest(folder / MANIFEST_NAME)
        return resolve_plan(manifest, moved_parameters(dict(cell.parameters), model_file, manifest))
    except (InvalidInputError, OSError) as error:
        raise LedgerError(f"{folder} cannot be replayed: {error}") from error


def _difference(folder: Path, run: RunRow, cell: CellRow, plan: Plan, model_id: str) -> str:
    head = f"Run {run.run_id} ({cell.label}, seed {run.seed}) cannot be had again from {folder}: "
    if plan.model.source_id != model_id and "model.file" not in cell.parameters:
        files = ", ".join(f"{name} ({digest})" for name, digest in plan.model.files[:LISTED])
        return head + (
            f"the model is another one (source {plan.model.source_id}, it was {model_id}). Its files are now: {files}. "
            "Install the model package in the version that provenance names, or restore the files."
        )
    return head + (
        f"its Plan is now {plan.plan_id}, it was {run.plan_id}, with the same model; {MANIFEST_NAME} was changed, or "
        "this version of the package reads it differently."
    )


def _run_ids(path: Path) -> set[str]:
    with Ledger.open(path, read_only=True) as ledger:
        return {row.run_id for row in ledger.runs()}


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return (", ".join(names[:LISTED]) or "none") + more
