"""A comparison on the terminal: the finding, a row per cell, what to know about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.comparison import CellSummary, Comparison, MetricContrast
from analysis.format import Scale, bracketed, is_number, plain, plus_minus, scale_for

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

Heads = list[tuple[str, Scale]]
BAD = ("faulted", "timed_out", "lost", "cancelled")
SIDE_BY_SIDE = 2
"""Metrics that stand side by side at most; more of them get a block each."""


def render(comparison: Comparison, *, width: int = 80) -> RenderableType:
    """The comparison as a rich renderable that is ``width`` columns wide at most, and readable without colour.

    One table with a column per metric where it fits, else an overview and one block per metric.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(comparison.headline, style="bold")]
    together = _together(comparison) if len(comparison.metrics) <= SIDE_BY_SIDE else None
    if together is not None and _width(together) <= width:
        parts += ["", together]
    elif comparison.cells:
        parts += ["", _overview(comparison)]
        for metric in comparison.metrics:
            block = _block(comparison, metric, narrow=False)
            parts += ["", block if _width(block) <= width else _block(comparison, metric, narrow=True)]
    parts += ["", *(Text(line, style="dim") for line in _footnotes(comparison))]
    return Group(*parts)


def _width(table: Table) -> int:
    from rich.console import Console

    return Console(width=500).measure(table).maximum


def _table(comparison: Comparison, *, ages: bool = False, outcomes: bool = True) -> Table:
    """An empty table with the columns that name a cell."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for name, scale in _axis_heads(comparison):
        head = f"{name}\n[{scale.unit}]" if scale.unit else name
        table.add_column(Text(head), justify="right" if scale.factor else "left")
    if outcomes:
        table.add_column("n", justify="right", no_wrap=True)
        table.add_column("outcomes", no_wrap=True)
    if ages:
        table.add_column(Text("age at\nuse [ms]"), justify="right", no_wrap=True)
    return table


def _axis_heads(comparison: Comparison) -> Heads:
    """Column names with the scale of their values; a factor of 0 marks text."""
    heads = []
    if len({cell.sweep for cell in comparison.cells}) > 1:
        heads.append(("sweep", Scale(0.0, "")))
    for key in comparison.swept:
        values = [cell.values.get(key) for cell in comparison.cells]
        unit = comparison.axes[key].unit if key in comparison.axes else ""
        numbers = [float(v) for v in values if is_number(v)]
        heads.append((_short(key), scale_for(numbers, unit) if len(numbers) == len(values) else Scale(0.0, "")))
    return heads or [("cell", Scale(0.0, ""))]


def _short(key: str) -> str:
    """A full path by its last two steps: the whole of it is in the plan."""
    return key if len(key) <= 16 else ".".join(key.split(".")[-2:])


def _names(comparison: Comparison, cell: CellSummary, heads: Heads) -> list[str]:
    """What names a cell, one text per column of :func:`_axis_heads`."""
    texts = [cell.sweep] if heads[0][0] == "sweep" else []
    for key, (_, scale) in zip(comparison.swept, heads[len(texts) :], strict=False):
        value = cell.values.get(key)
        texts.append(plain(value / scale.factor) if scale.factor and is_number(value) else plain(value))
    return texts or [cell.label]


def _together(comparison: Comparison) -> Table:
    from rich.text import Text

    table = _table(comparison, ages=_any_age(comparison))
    scales = {metric: _scale(comparison, metric) for metric in comparison.metrics}
    for metric, scale in scales.items():
        table.add_column(Text(f"{metric}\n[{scale.unit}]" if scale.unit else metric), no_wrap=True)
    for cell, row in zip(comparison.cells, _overview_rows(comparison), strict=True):
        table.add_row(*row, *(_stacked(cell, metric, scale) for metric, scale in scales.items()))
    return table


def _overview(comparison: Comparison) -> Table:
    table = _table(comparison, ages=_any_age(comparison))
    for row in _overview_rows(comparison):
        table.add_row(*row)
    return table


def _any_age(comparison: Comparison) -> bool:
    return any(cell.age_at_use_s for cell in comparison.cells)


def _overview_rows(comparison: Comparison) -> list[list[str | Text]]:
    heads, ages = _axis_heads(comparison), _any_age(comparison)
    return [
        [*_names(comparison, cell, heads), str(cell.n), _outcomes(cell), *([_age(cell)] if ages else [])]
        for cell in comparison.cells
    ]


def _block(comparison: Comparison, metric: str, *, narrow: bool) -> Table:
    """One metric, a row per cell; ``narrow`` puts the percentage under the difference."""
    from rich.text import Text

    table = _table(comparison, outcomes=False)
    scale = _scale(comparison, metric)
    better = comparison.metrics[metric].better
    table.title = Text.assemble((scale.head(metric), "bold"), (f", {better} is better", "dim"))
    table.title_justify = "left"
    columns = ["mean", "Δ", *([] if narrow else ["Δ %"]), "pairs"]
    columns = columns if any(cell.contrast for cell in comparison.cells) else columns[:1]
    for name in columns:
        table.add_column(name, no_wrap=True)
    heads = _axis_heads(comparison)
    for cell in comparison.cells:
        row = _block_row(cell, metric, scale, narrow=narrow)[: len(columns)]
        table.add_row(*_names(comparison, cell, heads), *row)
    return table


def _block_row(cell: CellSummary, metric: str, scale: Scale, *, narrow: bool) -> list[str | Text]:
    from rich.text import Text

    mean = plus_minus(cell.means.get(metric), scale.factor)
    found = cell.contrast.metrics.get(metric) if cell.contrast else None
    if found is None:
        return [mean, Text("baseline", style="dim")]
    delta = bracketed(found.difference, scale.factor)
    percent = bracketed(found.percent, 1.0, " %" if narrow else "") if found.percent else "withheld"
    pairs = f"{found.pairs_used}/{found.pairs_total}"
    style = _style(found)
    if narrow:
        return [mean, Text(f"{delta}\n  {percent}", style=style), pairs]
    return [mean, Text(delta, style=style), Text(percent, style=style if found.percent else "dim"), pairs]


def _stacked(cell: CellSummary, metric: str, scale: Scale) -> Text:
    """Mean, paired difference and percentage of one metric, one under the other."""
    from rich.text import Text

    text = Text(plus_minus(cell.means.get(metric), scale.factor))
    found = cell.contrast.metrics.get(metric) if cell.contrast else None
    if found is None or found.difference is None:
        return text
    style = _style(found)
    text.append(f"\nΔ {bracketed(found.difference, scale.factor)}", style=style)
    if found.percent is not None and found.difference.estimate:
        text.append(f"\n  {bracketed(found.percent, 1.0, ' %')}", style=style)
    elif found.pairs_used < found.pairs_total:
        text.append(f"\n  {found.pairs_used}/{found.pairs_total} pairs", style="dim")
    return text


def _style(found: MetricContrast) -> str:
    """Green or red only where the simultaneous interval is clear of zero, and the outcomes do not object."""
    if not found.clear or found.difference is None or found.withheld == "outcomes differ":
        return ""
    return "red" if (found.difference.estimate > 0) == (found.better == "lower") else "green"


def _scale(comparison: Comparison, metric: str) -> Scale:
    means = [cell.means.get(metric) for cell in comparison.cells]
    return scale_for([mean.estimate for mean in means if mean is not None], comparison.metrics[metric].unit)


def _outcomes(cell: CellSummary) -> Text:
    """``14 completed`` over ``2 fell``; what is not an outcome yet is said too."""
    from rich.text import Text

    lines: list[tuple[str, str]] = []
    for status, count in cell.outcomes.items():
        reasons = _reasons(cell, count) if status == "ended" else ""
        word = reasons or f"{count} {status.replace('_', ' ')}"
        lines.append((word, "red" if status in BAD else ""))
    if cell.planned > cell.n:
        lines.append((f"{cell.planned - cell.n} waiting", "dim"))
    return Text("\n").join(Text(line, style=style) for line, style in lines)


def _reasons(cell: CellSummary, count: int) -> str:
    ends = {reason: n for reason, n in cell.end_reasons.items() if n}
    return "\n".join(f"{n} {reason}" for reason, n in ends.items()) if sum(ends.values()) == count else ""


def _age(cell: CellSummary) -> str:
    ages = cell.age_at_use_s
    if len(ages) == 1:
        return f"{1000 * next(iter(ages.values())):.2f}"
    return "\n".join(f"{name} {1000 * age:.2f}" for name, age in ages.items())


def _footnotes(comparison: Comparison) -> Sequence[str]:
    contrasts = [cell.contrast for cell in comparison.cells if cell.contrast]
    found = [f for contrast in contrasts for f in contrast.metrics.values() if f.difference is not None]
    lines = []
    if found:
        against = comparison.baseline or "the row above"
        lines.append(f"Δ is paired by seed, from {against}; ± and [ ] are 95 % t intervals.")
        if len(contrasts) > 1:
            lines.append(f"Colour marks what stays clear of 0 when all {len(contrasts)} comparisons are counted.")
        worth = [f.receipt for f in found if f.receipt.worth is not None and not f.receipt.hurts]
        if worth:
            least = min(worth, key=lambda receipt: receipt.worth or 0)
            lines.append(f"Pairing: {least.at_least} per cell.")
    return [*lines, *(f"Note: {note}." for note in comparison.notes), *comparison.made_with]
