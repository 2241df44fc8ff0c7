"""A comparison on the terminal: the finding, a row per cell, what to know about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.clearest import clearest
from analysis.comparison import CellSummary, Comparison, MetricContrast
from analysis.footnotes import OTHERS, footnotes
from analysis.format import Scale, bracketed, grouped, plus_minus, scale_for
from analysis.headline import p_words
from analysis.interval import Interval
from analysis.labels import Labels

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

BAD = ("faulted", "timed_out", "lost", "cancelled")
SIDE_BY_SIDE = 2
"""Metrics that stand side by side at most; more of them get a block each."""
STACKED = 6
"""Cells that take several lines at most; more of them get a line each."""
MOST = 30
"""Compared cells that a table shows unless asked for more."""

_WIDE = ("mean", "Δ", "Δ %", "pairs")
_NARROW = ("mean", "Δ", "pairs")
"""The percentage stands under the difference."""
_BRIEF = ("mean", "Δ %", "pairs")
"""A line per cell; the difference stands where there is no percentage."""


def render(comparison: Comparison, *, width: int = 80, most: int | None = MOST) -> RenderableType:
    """The comparison as a rich renderable that is ``width`` columns wide at most, and readable without colour.

    One table with a column per metric where it fits, else an overview and one block per metric.

    Args:
        comparison: what to show.
        width: columns there are.
        most: compared cells that are shown at most; None shows all.
    """
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(comparison.headline, style="bold")]
    whole, comparison = comparison, _cut(comparison, most)
    is_short = len(comparison.cells) <= STACKED and len(comparison.metrics) <= SIDE_BY_SIDE
    together = _together(comparison) if is_short else None
    if together is not None and _width(together) <= width:
        parts += ["", together]
    elif comparison.cells:
        parts += ["", _uniform(whole) or _overview(comparison)]
        for metric in comparison.metrics:
            block = _block(comparison, metric, _WIDE)
            if _width(block) > width:
                block = _block(comparison, metric, _NARROW if len(comparison.cells) <= STACKED else _BRIEF)
            parts += ["", block]
    if comparison.quantile is not None and comparison.cells:
        parts += ["", _quantiles(comparison, comparison.quantile)]
    hidden = len(whole.cells) - len(comparison.cells)
    parts += ["", *(Text(line, style="dim") for line in footnotes(whole, hidden))]
    return Group(*parts)


def _cut(comparison: Comparison, most: int | None) -> Comparison:
    return comparison if most is None else replace(comparison, cells=clearest(comparison, most))


def _width(table: Table) -> int:
    from rich.console import Console

    return Console(width=500).measure(table).maximum


def _table(comparison: Comparison, *, ages: bool = False, outcomes: bool = True) -> Table:
    """An empty table with the columns that name a cell."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    label = Labels(comparison)
    for key, head in zip(label.axis_keys, label.axis_heads(), strict=True):
        table.add_column(Text(head.replace(" [", "\n[")), justify="right" if label.axis_scale(key) else "left")
    if outcomes:
        table.add_column("n", justify="right", no_wrap=True)
        table.add_column("outcomes", no_wrap=True)
    if ages:
        table.add_column(Text("age at\nuse [ms]"), justify="right", no_wrap=True)
    return table


def _together(comparison: Comparison) -> Table:
    from rich.text import Text

    table = _table(comparison, ages=_any_age(comparison))
    scales = {metric: _scale(comparison, metric) for metric in comparison.metrics}
    for metric, scale in scales.items():
        table.add_column(Text(f"{metric}\n[{scale.unit}]" if scale.unit else metric), no_wrap=True)
    for cell, row in zip(comparison.cells, _overview_rows(comparison), strict=True):
        table.add_row(*row, *(_stacked(cell, metric, scale) for metric, scale in scales.items()))
    return table


def _uniform(comparison: Comparison) -> Text | None:
    """One line for many cells whose runs all completed."""
    from rich.text import Text

    cells = comparison.cells
    if len(cells) <= STACKED or any(cell.outcomes != {"completed": cells[0].planned} for cell in cells):
        return None
    return Text(f"All {grouped(len(cells))} cells: {cells[0].planned} of {cells[0].planned} runs completed.")


def _overview(comparison: Comparison) -> Table:
    table = _table(comparison, ages=_any_age(comparison))
    for row in _overview_rows(comparison):
        table.add_row(*row)
    return table


def _any_age(comparison: Comparison) -> bool:
    return any(cell.age_at_use_s for cell in comparison.cells)


def _overview_rows(comparison: Comparison) -> list[list[str | Text]]:
    label, ages = Labels(comparison), _any_age(comparison)
    return [
        [*label.axis_texts(cell), str(cell.n), _outcomes(cell), *([_age(cell)] if ages else [])]
        for cell in comparison.cells
    ]


def _block(comparison: Comparison, metric: str, columns: Sequence[str]) -> Table:
    """One metric, a row per cell."""
    from rich.text import Text

    table = _table(comparison, outcomes=False)
    scale = _scale(comparison, metric)
    better = comparison.metrics[metric].better
    table.title = Text.assemble((scale.head(metric), "bold"), (f", {better} is better", "dim"))
    table.title_justify = "left"
    contrasts = [cell.contrast.metrics.get(metric) for cell in comparison.cells if cell.contrast]
    if not contrasts:
        columns = columns[:1]
    elif not any(found is not None and (found.percent or found.rank_p is not None) for found in contrasts):
        columns = _NARROW  # nothing would stand in a column of percentages
    for name in columns:
        table.add_column(name, no_wrap=True)
    label = Labels(comparison)
    for cell in comparison.cells:
        row = _block_row(cell, metric, scale, columns)
        table.add_row(*label.axis_texts(cell), *row)
    return table


def _block_row(cell: CellSummary, metric: str, scale: Scale, columns: Sequence[str]) -> list[str | Text]:
    from rich.text import Text

    mean = _mean(cell, metric, scale)
    found = cell.contrast.metrics.get(metric) if cell.contrast else None
    if found is None:
        first: list[str | Text] = [mean, Text("baseline", style="dim")]
        return first[: len(columns)]
    style = _style(found)
    delta = _delta(found, scale)
    percent = bracketed(found.percent, 1.0, "" if columns is _WIDE else " %") if found.percent else _instead(found)
    texts: dict[str, str | Text] = {
        "mean": mean,
        "Δ": Text(f"{delta}\n  {percent}" if columns is _NARROW and percent else delta, style=style),
        "Δ %": Text(percent or delta, style=style if found.percent else "dim"),
        "pairs": f"{found.pairs_used}/{found.pairs_total}" if found.pairs_total else "unpaired",
    }
    return [texts[column] for column in columns]


def _stacked(cell: CellSummary, metric: str, scale: Scale) -> Text:
    """Mean, paired difference and percentage of one metric, one under the other."""
    from rich.text import Text

    text = Text(_mean(cell, metric, scale))
    found = cell.contrast.metrics.get(metric) if cell.contrast else None
    if found is None or found.difference is None:
        return text
    style = _style(found)
    text.append(f"\nΔ {_delta(found, scale)}", style=style)
    if found.percent is not None and found.difference.estimate:
        text.append(f"\n  {bracketed(found.percent, 1.0, ' %')}", style=style)
    elif found.rank_p is not None:
        text.append(f"\n  {_instead(found)}", style="dim")
    if found.pairs_used < found.pairs_total:
        text.append(f"\n  {found.pairs_used}/{found.pairs_total} pairs", style="dim")
    return text


def _mean(cell: CellSummary, metric: str, scale: Scale) -> str:
    """A mean; over how many, where that is not all of the cell's runs."""
    mean = cell.means.get(metric)
    text = plus_minus(mean, scale.factor)
    return f"{text} (n={mean.n})" if mean is not None and 1 < mean.n < cell.n else text


def _delta(found: MetricContrast, scale: Scale) -> str:
    if found.misleads:
        return f"withheld {OTHERS}"
    text = bracketed(found.difference, scale.factor)
    if found.rank_p is not None and found.difference is not None:
        text += f" {OTHERS}"
    if found.bootstrap is not None:
        text += f"\n  BCa {bracketed(found.bootstrap, scale.factor)}"
    return text


def _instead(found: MetricContrast) -> str:
    """What stands where there is no percentage: the rank test over all pairs, if outcomes differ."""
    if found.rank_p is None:
        return "withheld" if found.difference is not None and found.pairs_total else ""
    lean = "equal" if found.is_worse is None else "worse" if found.is_worse else "better"
    return f"rank: {lean}, {p_words(found.rank_p)}"


def _quantiles(comparison: Comparison, probability: float) -> Table:
    """A quantile of each cell's runs, a column per metric."""
    from rich.text import Text

    table = _table(comparison, outcomes=False)
    table.title = Text(f"{100 * probability:g}th percentile of the runs of each cell", style="bold")
    table.title_justify = "left"
    scales = {metric: _scale(comparison, metric) for metric in comparison.metrics}
    for metric, scale in scales.items():
        table.add_column(Text(f"{metric}\n[{scale.unit}]" if scale.unit else metric))
    label = Labels(comparison)
    for cell in comparison.cells:
        found = (_quantile(cell.quantiles.get(metric), scale) for metric, scale in scales.items())
        table.add_row(*label.axis_texts(cell), *found)
    return table


def _quantile(value: Interval | None, scale: Scale) -> str:
    if value is None:
        return "no value"
    text = bracketed(value, scale.factor).removeprefix("+")
    return text if value.low is not None else f"{text} (n={value.n})"


def _style(found: MetricContrast) -> str:
    """Green or red only where the simultaneous interval is clear of zero, and the outcomes do not object."""
    if not found.clear or found.difference is None or found.rank_p is not None:
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
