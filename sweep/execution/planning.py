"""From what was asked to Plans and runs: everything is checked here, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.collector import collector_paused
from sweep.design import Cell, Design, Run, SweepSpec, baseline_cell, expand, order_runs
from sweep.design.expand import SUBJECT
from sweep.digest import content_id
from sweep.errors import InvalidInputError, Problem
from sweep.execution.code import code_id, code_parts
from sweep.execution.contrast import Contrast, Contrasts
from sweep.execution.provenance import provenance
from sweep.plan.files import Files, with_digests
from sweep.plan.manifest import Manifest, load_manifest
from sweep.plan.plan import NOT_OF_THE_PLAN, Plan
from sweep.results import AxisInfo, CellRow, MetricInfo, SweepHeader
from sweep.runtime.resolve import Resolver

IDENTITY_HEX = 8
PROBED_CELLS = 32
"""Cells still looked at when the base itself is wrong: each of them repeats the base's problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSweep:
    """A sweep that can run.

    Attributes:
        header: its identity; ``header.name`` is its folder's name.
        cells: the distinct cells, in the design's order.
        runs: every run, seed-major; cells that resolve to one Plan share run_ids.
        duplicates: points of the design left out because an earlier one says the same.
        excluded: points left out because they meet the exclusion.
        remarks: what people should know of the design, a sentence each.
        base: the base manifest's Plan.
        baseline: cell_id that the others are compared with, whether asked for or chosen.
        warnings: what people should know of how it will run, a sentence each.
        contrasts: what shows whether the axes land, for the canary; none if it is not asked for.
    """

    header: SweepHeader
    cells: tuple[CellRow, ...]
    runs: tuple[Run, ...]
    duplicates: int
    excluded: int
    remarks: tuple[str, ...]
    base: Plan
    baseline: str
    warnings: tuple[str, ...] = ()
    contrasts: tuple[Contrast, ...] = ()


def plan_sweep(spec: SweepSpec) -> PlannedSweep:
    """Expand the design and resolve one Plan per cell.

    Raises:
        InvalidInputError: every problem of the base, the cells and the baseline; each once, a cell's with its label.
            If there are none, every axis whose values are all one Plan, unless the canary is not asked for.
    """
    folder = Path(spec.scene_dir).resolve() if spec.scene_dir is not None else None
    with collector_paused():
        return _planned(spec, load_manifest(spec.manifest, folder=folder))


def _planned(spec: SweepSpec, manifest: Manifest) -> PlannedSweep:
    design = expand(spec)
    problems: dict[Problem, None] = {}
    resolver = Resolver()
    base, plans = _resolved(manifest, design.cells, resolver, problems)
    baseline = _baseline(design, spec, problems)
    if problems or base is None:
        raise InvalidInputError(SUBJECT, problems)
    rows = tuple(_row(cell, plans[cell.cell_id]) for cell in design.cells)
    return PlannedSweep(
        header=_header(spec, base, baseline),
        cells=rows,
        runs=order_runs(design, plans),
        duplicates=design.duplicates,
        excluded=design.excluded,
        remarks=design.remarks,
        base=base,
        baseline=baseline,
        contrasts=Contrasts(spec, design.cells, base, resolver).found() if spec.canary else (),
    )


def identity(document: Mapping[str, Any], model_id: str, code: str, files: Files | None = None) -> str:
    """The 8 hexadecimal digits in a sweep's folder name: base manifest, model and code, without cells and seeds.

    How runs are executed and what is kept of them does not make another sweep.

    Args:
        document: the base manifest as plain data.
        model_id: digest of the source model.
        code: the code_id.
        files: what the controllers' files hold.
    """
    deciding = {
        section: {key: value for key, value in document[section].items() if key not in left_out}
        for section, left_out in NOT_OF_THE_PLAN.items()
    }
    deciding["controllers"] = with_digests(document["controllers"], files or {})
    return content_id([{**document, **deciding}, model_id, code])[:IDENTITY_HEX]


def _resolved(
    manifest: Manifest, cells: Sequence[Cell], resolver: Resolver, problems: dict[Problem, None]
) -> tuple[Plan | None, dict[str, Plan]]:
    try:
        base: Plan | None = resolver.resolve(manifest, {})
    except InvalidInputError as error:
        base = None
        problems.update(dict.fromkeys(error.problems))
        cells = cells[:PROBED_CELLS]
    seen, plans = set(problems), dict[str, Plan]()
    for cell in cells:
        try:
            plans[cell.cell_id] = resolver.resolve(manifest, cell.parameters)
        except InvalidInputError as error:
            new = [problem for problem in error.problems if problem not in seen]
            seen.update(new)
            problems.update(dict.fromkeys(Problem(f"{cell.label}: {p.path}".rstrip(": "), p.message) for p in new))
    return base, plans


def _baseline(design: Design, spec: SweepSpec, problems: dict[Problem, None]) -> str:
    try:
        return baseline_cell(design, spec)
    except InvalidInputError as error:
        problems.update(dict.fromkeys(error.problems))
        return ""


def _row(cell: Cell, plan: Plan) -> CellRow:
    return CellRow(
        cell_id=cell.cell_id,
        ordinal=cell.ordinal,
        label=cell.label,
        values=cell.values,
        parameters=cell.parameters,
        plan_id=plan.plan_id,
    )


def _read_files(plan: Plan) -> dict[str, str]:
    return {
        f"controllers.{name}.files.{role}": image.digest
        for name, images in plan.files.items()
        for role, image in images.items()
    }


def _header(spec: SweepSpec, base: Plan, baseline: str) -> SweepHeader:
    document, code = base.manifest.document(), code_id(base)
    name = re.sub(r"[^\w.-]+", "-", spec.name or spec.scene).strip("-.") or "sweep"
    metrics = base.manifest.metrics.items()
    return SweepHeader(
        name=f"{name}-{identity(document, base.model.source_id, code, base.files)}",
        scene=spec.scene,
        manifest=document,
        model_id=base.model.source_id,
        code_id=code,
        axes={a.name: AxisInfo(nominal=a.nominal, unit=a.unit, bindings=a.bindings) for a in spec.axes},
        metrics={n: MetricInfo(unit=m.unit, better=m.better, window=m.window) for n, m in metrics},
        # A baseline that nobody asked for is chosen anew by readers: the nominal cell may be added later.
        baseline=baseline if spec.baseline else None,
        provenance=provenance(spec.overrides, config_dirs=spec.config_dirs, config_name=spec.config_name),
        files={**dict(base.model.files), **_read_files(base)},
        code=code_parts(base),
    )
