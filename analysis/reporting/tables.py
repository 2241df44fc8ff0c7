"""The numbers of each figure as a table: for those who cannot see it, and for copying."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from statistics import quantiles

from analysis.comparison import CellSummary, MetricContrast
from analysis.figures.pairs import Pairs
from analysis.format import MINUS, Scale, bracketed, plus_minus, scale_for
from analysis.headline import p_words
from analysis.interval import Interval
from analysis.labels import Labels, outcome_parts
from analysis.shape import Curve, Factorial
from analysis.survival import Survival

MOST_ROWS = 200
"""Rows of a table; the rest is in the exported files."""

EXTREMES = 10
"""Rows from either end of a table of many cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Texts in rows.

    Attributes:
        heads: of the columns.
        rows: a text per column.
        left_out: rows that are not here.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], total: int) -> Table:
    """A table of the first :data:`MOST_ROWS` of ``total`` rows."""
    kept = tuple(tuple(row) for row in islice(rows, MOST_ROWS))
    return Table(heads=tuple(heads), rows=kept, left_out=total - len(kept))


def outcome_table(label: Labels) -> Table:
    """How many runs of each cell ended which way."""
    cells = label.comparison.cells
    names = list(dict.fromkeys(chain.from_iterable(map(outcome_parts, cells))))
    rows = (
        [*label.axis_texts(cell), str(cell.planned), *(str(outcome_parts(cell).get(name, 0)) for name in names)]
        for cell in cells
    )
    return table([*label.axis_heads(), "runs", *names], rows, len(cells))


def survival_table(label: Labels, found: Sequence[Survival]) -> Table:
    """The share still running, whenever that changes."""
    rows = {row.cell_id: row for row in label.comparison.cells}
    every = [
        [
            *label.axis_texts(rows[one.cell_id]),
            f"{time:.4g}",
            _share(share, low, high),
        ]
        for one in found
        for time, share, low, high in zip(one.times, one.running, one.low, one.high, strict=True)
    ]
    return table([*label.axis_heads(), "time [s]", "still running"], every, len(every))


def pairs_table(label: Labels, pairs: Pairs) -> Table:
    """A row per seed."""
    scale = label.metric_scale(pairs.metric)
    before, after = (label.cell_name(cell) for cell in (pairs.base, pairs.cell))
    rows = (
        [str(seed), *(_digits(value / scale.factor) for value in (x, y, y - x))]
        for seed, x, y in zip(pairs.seeds, pairs.before, pairs.after, strict=True)
    )
    return table(["seed", *map(scale.head, (before, after, "difference"))], rows, len(pairs.seeds))


def differences_table(label: Labels, metric: str, cells: Sequence[CellSummary]) -> Table:
    """A row per contrast."""
    scale = label.difference_scale(metric)
    found = [(cell, cell.contrast.metrics[metric]) for cell in cells if cell.contrast]
    rows = (
        [
            *label.axis_texts(cell),
            *(difference_words(contrast, value, scale) for value in (contrast.difference, contrast.simultaneous)),
            percent_words(contrast),
            f"{contrast.pairs_used} of {contrast.pairs_total}",
        ]
        for cell, contrast in found
    )
    heads = [scale.head("difference"), "with all comparisons counted", "percent", "pairs"]
    return table([*label.axis_heads(), *heads], rows, len(found))


def difference_words(found: MetricContrast, value: Interval | None, scale: Scale) -> str:
    """A paired difference, unless the pairs with both values point another way than all of them."""
    return "withheld" if found.misleads else bracketed(value, scale.factor)


def percent_words(found: MetricContrast) -> str:
    """The change in percent, or why there is none and what the ranks say instead."""
    if found.percent is not None:
        return bracketed(found.percent, 1.0, " %")
    said = f"percent withheld: {found.withheld}"
    if found.rank_p is None or found.is_worse is None:
        return said
    return f"{said}; by ranks, failures last: {'worse' if found.is_worse else 'better'}, {p_words(found.rank_p)}"


def means_table(label: Labels, metric: str, cells: Sequence[CellSummary]) -> Table:
    """A row per cell: its mean, and its paired difference."""
    scale, change = label.metric_scale(metric), label.difference_scale(metric)
    rows = ([*label.axis_texts(cell), *_mean_texts(cell, metric, scale, change)] for cell in cells)
    heads = [scale.head("mean"), "n", change.head("paired difference"), "pairs"]
    return table([*label.axis_heads(), *heads], rows, len(cells))


def curves_table(label: Labels, metric: str, curves: Iterable[Curve]) -> Table:
    """The rows of several curves."""
    return means_table(label, metric, [cell for curve in curves for cell in curve.cells])


def extremes_table(label: Labels, metric: str) -> Table:
    """The cells with the lowest and the highest means."""
    ordered = extremes(label.comparison.cells, metric, EXTREMES)
    total = sum(cell.means.get(metric) is not None for cell in label.comparison.cells)
    return replace(means_table(label, metric, ordered), left_out=total - len(ordered))


def extremes(cells: Iterable[CellSummary], metric: str, most: int) -> list[CellSummary]:
    """``most`` cells from the low end of a metric's means and as many from the high end."""
    found = [(mean.estimate, cell) for cell in cells if (mean := cell.means.get(metric)) is not None]
    ordered = [cell for _, cell in sorted(found, key=lambda pair: pair[0])]
    return ordered if len(ordered) <= 2 * most else [*ordered[:most], *ordered[-most:]]


def values_table(label: Labels, metric: str, values: Sequence[tuple[CellSummary, Mapping[int, float]]]) -> Table:
    """Least, quartiles and largest value of each cell."""
    scale = label.metric_scale(metric)
    rows = ([*label.axis_texts(cell), str(len(found)), *_five(found.values(), scale)] for cell, found in values)
    heads = map(scale.head, ("least", "quartile", "median", "quartile", "largest"))
    return table([*label.axis_heads(), "n", *heads], rows, len(values))


def shares_table(found: Factorial) -> Table:
    """Shares of the variance between cells."""
    ordered = sorted(found.shares.items(), key=lambda share: -share[1])
    rows = ([name, f"{100 * share:.2f} %"] for name, share in ordered)
    return table(["axes", "share of the variance"], rows, len(ordered))


def effects_table(label: Labels, found: Factorial, *, pair: Iterable[str] = ()) -> Table:
    """Main effects, or the interaction of a pair of axes."""
    axes = set(pair)
    effects = [effect for effect in found.interactions if set(effect.levels) == axes] if axes else found.main
    scale = scale_for([abs(effect.size.estimate) for effect in effects], label.comparison.metrics[found.metric].unit)
    rows = (
        [label.levels(effect.levels), *(bracketed(v, scale.factor) for v in (effect.size, effect.simultaneous))]
        for effect in effects
    )
    return table(["level", scale.head("effect"), "with all levels counted"], rows, len(effects))


def _share(share: float, low: float, high: float) -> str:
    """A share in percent; where nothing runs any more, it has no interval."""
    return f"{100 * share:.0f} %" + (f" [{100 * low:.0f}, {100 * high:.0f}]" if math.isfinite(low) else "")


def _mean_texts(cell: CellSummary, metric: str, scale: Scale, change: Scale) -> list[str]:
    mean = cell.means.get(metric)
    found = cell.contrast.metrics.get(metric) if cell.contrast else None
    n = f"{mean.n if mean else 0} of {cell.planned}"
    if found is None:
        return [plus_minus(mean, scale.factor), n, "baseline", ""]
    pairs = f"{found.pairs_used} of {found.pairs_total}"
    return [plus_minus(mean, scale.factor), n, difference_words(found, found.difference, change), pairs]


def _five(values: Iterable[float], scale: Scale) -> list[str]:
    found = [value / scale.factor for value in values]
    if not found:
        return [""] * 5
    middle = quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
    return [_digits(value) for value in (min(found), *middle, max(found))]


def _digits(value: float) -> str:
    return f"{value:.5g}".replace("-", MINUS)
