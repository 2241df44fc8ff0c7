"""Descriptions in Markdown that a stranger understands: of the experiment, of a sweep, of a cell."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.comparison import CellSummary, Comparison, Contrast
from analysis.format import Scale, bracketed, is_number, plain, plus_minus, scale_for
from sweep.results import MetricInfo, SweepHeader
from sweep.tracking.names import telling_name

LONGEST_NOTE = 8000
"""MLflow's longest tag [characters]."""

MOST_ROWS = 24
"""Cells that the table in a note has at most; ``comparison.txt`` has them all."""

MOST_VALUES = 8
"""Values of an axis that are listed."""


def experiment_note(header: SweepHeader) -> str:
    """What the experiment is for, how to compare, what is measured and what can be swept."""
    metrics = "; ".join(described(name, info) for name, info in header.metrics.items())
    axes = ", ".join(headed(name, axis.unit) for name, axis in header.axes.items())
    parts = [
        f"Sweeps of the scene `{header.scene}`: open one with [+], select its children and press *Compare*. Each child "
        "is a cell, one setting of what was swept, with means over the noise seeds. A sweep's own page says what was "
        "found; `report.html` among its artifacts has the figures.",
        f"Metrics: {metrics}." if metrics else "",
        f"Axes: {axes}." if axes else "",
    ]
    return _fitting([part for part in parts if part])


def sweep_note(comparison: Comparison, scene: str, provenance: Mapping[str, Any]) -> str:
    """The finding, what was done, how to read the children, and the table."""
    runs, planned = (sum(getattr(cell, name) for cell in comparison.cells) for name in ("n", "planned"))
    swept = " × ".join(f"`{key}`" for key in comparison.swept) or "nothing"
    waiting = f", {planned - runs} have no record" if planned > runs else ""
    parts = [
        f"**{comparison.headline}**",
        f"Scene `{scene}`, swept over {swept}: {len(comparison.cells)} cells, {planned} runs "
        f"({_outcomes(comparison.cells)}{waiting}).",
        _values(comparison),
        _reading(comparison),
        *_table(comparison),
        _command(provenance),
    ]
    return _fitting([part for part in parts if part])


def cell_note(comparison: Comparison, cell: CellSummary, sweep: str, run_id: str) -> str:
    """What the cell is, how its runs ended, what it measured, and the command that repeats one of them."""
    against = f"the baseline of `{sweep}`" if cell.contrast is None else _against(comparison, cell.contrast)
    waiting = f", {cell.planned - cell.n} have no record" if cell.planned > cell.n else ""
    parts = [
        f"**{cell.label or 'nominal'}**, {against}.",
        f"{cell.n} of {cell.planned} runs: {_outcomes([cell])}{waiting}. `replicates.parquet` has a row for each.",
        _metric_table(comparison, cell),
        f"One of them again, bit for bit: `python -m sweep replay {run_id[:8]} --dir sweeps/{sweep}`",
    ]
    return _fitting([part for part in parts if part])


def table_text(comparison: Comparison, width: int = 100) -> str:
    """The rendered table as plain text."""
    from rich.console import Console

    from analysis.table import render

    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(render(comparison, width=width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _against(comparison: Comparison, contrast: Contrast) -> str:
    return f"against `{comparison.baseline}`: {contrast.change}, {contrast.streams.words}"


def _outcomes(cells: Iterable[CellSummary]) -> str:
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for cell in cells:
        total.update(cell.outcomes)
        reasons.update(cell.end_reasons)
        reasons.update(cell.fault_kinds)
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in total.items()) or "none yet"
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    return f"{counts}: {why}" if why else counts


def _values(comparison: Comparison) -> str:
    """What each axis was set to."""
    axes = "; ".join(_taken(comparison, key) for key in comparison.swept)
    return f"Axes: {axes}. Baseline: `{comparison.baseline}`." if axes else ""


def _taken(comparison: Comparison, key: str) -> str:
    """``latency: 0, 2, 5 ms``, or where it begins and ends."""
    values: list[Any] = list({plain(cell.values.get(key)): cell.values.get(key) for cell in comparison.cells}.values())
    numbers = [float(value) for value in values if is_number(value)]
    scale = Scale(1.0, "")
    if len(numbers) == len(values):
        unit = comparison.axes[key].unit if key in comparison.axes else ""
        scale, values = scale_for(numbers, unit), sorted(numbers)
    texts = [plain(value / scale.factor) if is_number(value) else plain(value) for value in values]
    shown = ", ".join(texts) if len(texts) <= MOST_VALUES else f"{len(texts)} values, {texts[0]} to {texts[-1]}"
    return f"`{key}`: {shown} {scale.unit}".rstrip()


def _reading(comparison: Comparison) -> str:
    """What the names of the children's metrics mean."""
    names = "; ".join(described(name, info) for name, info in comparison.metrics.items())
    lines = [
        "Each child run is one cell. Its metrics are means over the seeds that have a value:",
        "",
        "- `.../mean`, `.../ci_low`, `.../ci_high`: the mean and its 95 % t interval",
        f"- `.../delta_vs_baseline`: the mean difference from the cell `{comparison.baseline}`, paired by seed",
        "- `outcomes/...`: how many runs ended which way; a metric that no run has a value of is left out",
        "- others, such as `.../delivered`: what happened in a component, the mean over the runs",
    ]
    if not names:
        return "\n".join(lines)
    first, info = next(iter(comparison.metrics.items()))
    again = f"- `{telling_name(first, info)}`: `{first}/mean` again, so that plots begin with it"
    return "\n".join([f"Metrics: {names}.", "", *lines, again])


def described(name: str, info: MetricInfo) -> str:
    """``angle_rms [rad], lower is better``."""
    return f"{headed(name, info.unit)}, {info.better} is better"


def headed(name: str, unit: str) -> str:
    """``latency [s]``, or the bare name of a plain number."""
    return Scale(1.0, unit).head(name)


def _table(comparison: Comparison) -> Sequence[str]:
    if len(comparison.cells) > MOST_ROWS:
        return ["The table of all cells is `comparison.txt`; `runs.parquet` has a row per run."]
    return [f"```\n{table_text(comparison)}\n```", "`runs.parquet` has a row per run, `cells.parquet` one per cell."]


def _metric_table(comparison: Comparison, cell: CellSummary) -> str:
    rows = ["| metric | mean | paired difference from the baseline | pairs |", "|---|---|---|---|"]
    for name, info in comparison.metrics.items():
        mean = cell.means.get(name)
        scale = scale_for([mean.estimate], info.unit) if mean else Scale(1.0, info.unit)
        found = cell.contrast.metrics.get(name) if cell.contrast else None
        delta = bracketed(found.difference, scale.factor) if found else "baseline"
        percent = f" ({bracketed(found.percent, 1.0, ' %')})" if found and found.percent else ""
        pairs = f"{found.pairs_used} of {found.pairs_total}" if found else ""
        head = described(name, replace(info, unit=scale.unit))
        rows.append(f"| {head} | {plus_minus(mean, scale.factor)} | {delta}{percent} | {pairs} |")
    return "\n".join(rows) if comparison.metrics else ""


def _command(provenance: Mapping[str, Any]) -> str:
    command = provenance.get("command")
    words = " ".join(map(str, command)) if isinstance(command, list | tuple) else command
    return f"Asked for with `{words}`; `provenance.json` says with which versions." if words else ""


def _fitting(parts: list[str]) -> str:
    """The parts as paragraphs; the longest ones go if all are too long."""
    while sum(len(part) + 2 for part in parts) > LONGEST_NOTE:
        parts.remove(max(parts, key=len))
    return "\n\n".join(parts)
