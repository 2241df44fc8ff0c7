"""The report's table of cells: outcomes, means and paired differences, and the command that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.comparison import CellSummary, Comparison, MetricContrast
from analysis.format import Scale, plus_minus
from analysis.labels import Labels, outcome_parts
from analysis.reporting.tables import MOST_ROWS, difference_words, extremes, percent_words

if TYPE_CHECKING:
    from analysis.source import Sweep

BAD = ("faulted", "timed out", "lost", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a row says about one metric.

    Attributes:
        mean: with its interval, and of how many runs where that is not all of them.
        delta: the paired difference; empty for a baseline.
        percent: the same in percent, or why there is none.
        is_withheld: whether there is no percentage.
        pairs: how many pairs, where that is not all of them.
        verdict: ``better`` or ``worse`` where the interval that counts all comparisons says so; else empty.
    """

    mean: str
    delta: str = ""
    percent: str = ""
    is_withheld: bool = False
    pairs: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table of cells.

    Attributes:
        names: what names the cell.
        is_baseline: whether others are compared with it.
        runs: ``16``, or ``14 of 16``.
        outcomes: text and whether it is a bad one.
        ages: mean age of the measurements that controllers used, with controllers if several.
        metrics: in the comparison's order.
        again: the command that repeats one of its runs; empty without a run.
        run_id: the first digits of that run.
    """

    names: tuple[str, ...]
    is_baseline: bool
    runs: str
    outcomes: tuple[tuple[str, bool], ...]
    ages: tuple[str, ...]
    metrics: tuple[Found, ...]
    again: str
    run_id: str


class CellRows:
    """The rows of a comparison.

    Args:
        comparison: the comparison.
        sweeps: the sweep, or the two sweeps, that were compared.
        places: their folders, as people type them.
    """

    def __init__(self, comparison: Comparison, sweeps: Sequence[Sweep], places: Sequence[str]) -> None:
        self._comparison = comparison
        self._sweeps = sweeps
        self._places = places
        self._label = Labels(comparison)
        self._scales = {metric: self._label.metric_scale(metric) for metric in comparison.metrics}

    def shown(self) -> list[Row]:
        """All rows, or the baseline and the extremes of the first metric if there are too many."""
        return [self._row(cell) for cell in shown_cells(self._comparison)]

    def _row(self, cell: CellSummary) -> Row:
        side = -1 if cell.contrast else 0
        records, ages = self._sweeps[side].records[cell.cell_id], cell.age_at_use_s
        run_id = records[min(records)].run_id[:8] if records else ""
        return Row(
            names=tuple(self._label.axis_texts(cell)),
            is_baseline=cell.contrast is None and len(self._comparison.cells) > 1,
            runs=str(cell.n) if cell.n == cell.planned else f"{cell.n} of {cell.planned}",
            outcomes=tuple((f"{n} {part}", part.startswith(BAD)) for part, n in outcome_parts(cell).items()),
            ages=tuple(f"{1000 * age:.2f}" + (f" {name}" if len(ages) > 1 else "") for name, age in ages.items()),
            metrics=tuple(_found(cell, metric, scale) for metric, scale in self._scales.items()),
            again=f"python -m sweep replay {run_id} --dir {shlex.quote(self._places[side])}" if run_id else "",
            run_id=run_id,
        )


def shown_cells(comparison: Comparison) -> list[CellSummary]:
    """All rows, or baselines, lowest and highest means of the first metric if there are too many; in their order."""
    if len(comparison.cells) <= MOST_ROWS:
        return list(comparison.cells)
    kept = [cell for cell in comparison.cells if cell.contrast is None][: MOST_ROWS // 2]
    ends = extremes(comparison.cells, next(iter(comparison.metrics), ""), (MOST_ROWS - len(kept)) // 2)
    chosen = {id(cell) for cell in (*kept, *ends)}
    return [cell for cell in comparison.cells if id(cell) in chosen]


def _found(cell: CellSummary, metric: str, scale: Scale) -> Found:
    value = cell.means.get(metric)
    few = f", n = {value.n} of {cell.planned}" if value is not None and 1 < value.n < cell.planned else ""
    mean = plus_minus(value, scale.factor) + few
    contrast: MetricContrast | None = cell.contrast.metrics.get(metric) if cell.contrast else None
    if contrast is None:
        return Found(mean=mean)
    partial = contrast.difference is not None and contrast.pairs_used < contrast.pairs_total
    return Found(
        mean=mean,
        delta=difference_words(contrast, contrast.difference, scale),
        percent=percent_words(contrast),
        is_withheld=contrast.percent is None,
        pairs=f"{contrast.pairs_used} of {contrast.pairs_total} pairs, where both have a value" if partial else "",
        verdict=_verdict(contrast),
    )


def _verdict(found: MetricContrast) -> str:
    """Better or worse, in words beside the colour; none where outcomes differ, because ranks speak there."""
    if not found.clear or found.difference is None or found.rank_p is not None:
        return ""
    return "worse" if (found.difference.estimate > 0) == (found.better == "lower") else "better"
