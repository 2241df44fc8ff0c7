"""What is known of each cell by itself: outcomes, means, quantiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from analysis import moments
from analysis.comparison import CellSummary, Contrast
from analysis.estimate import quantile_order
from analysis.interval import Interval
from analysis.moments import Groups
from analysis.runs import Floats, Runs
from analysis.source import Sweep
from sweep.results import Status


def summaries(
    sweep: Sweep, contrasts: Sequence[Contrast | None], *, quantile: float | None = None, name: str = ""
) -> list[CellSummary]:
    """A row per cell.

    Args:
        sweep: whose cells.
        contrasts: of each cell.
        quantile: probability of the quantile to estimate; None for none.
        name: what the sweep is called in the rows; its own name by default.
    """
    runs = sweep.runs
    means = _by_cell({metric: _means(runs, column) for metric, column in runs.values.items()}, runs.cells)
    quantiles = _by_cell(_quantiles(runs, quantile), runs.cells)
    ages = {controller: _averages(runs, column) for controller, column in runs.ages.items()}
    rows = []
    for i, (cell, span) in enumerate(zip(sweep.cells, runs.spans, strict=True)):
        outcomes = Counter(runs.status[span])
        rows.append(
            CellSummary(
                cell_id=cell.cell_id,
                label=cell.label,
                sweep=name or sweep.header.name,
                values=cell.values,
                planned=len(sweep.seeds[cell.cell_id]),
                n=span.stop - span.start,
                outcomes={status.value: outcomes[status] for status in Status if outcomes[status]},
                end_reasons=dict(Counter(filter(None, runs.reason[span]))),
                fault_kinds=dict(Counter(filter(None, runs.kind[span]))),
                means=means[i],
                age_at_use_s={name: column[i] for name, column in ages.items() if column[i] == column[i]},
                contrast=contrasts[i],
                quantiles=quantiles[i],
            )
        )
    return rows


def _by_cell(columns: Mapping[str, Sequence[Interval | None]], cells: int) -> list[dict[str, Interval | None]]:
    return [{name: column[i] for name, column in columns.items()} for i in range(cells)]


def _valued(runs: Runs, column: Floats) -> tuple[Floats, Groups]:
    there = ~np.isnan(column)
    return column[there], Groups(runs.cell[there], runs.cells)


def _means(runs: Runs, column: Floats) -> list[Interval | None]:
    return moments.mean_t(*_valued(runs, column))


def _averages(runs: Runs, column: Floats) -> list[float]:
    values, groups = _valued(runs, column)
    averages: list[float] = groups.mean(values).tolist()
    return averages


def _quantiles(runs: Runs, probability: float | None) -> dict[str, list[Interval | None]]:
    if probability is None:
        return {}
    return {
        metric: [quantile_order(column[span][~np.isnan(column[span])], probability) for span in runs.spans]
        for metric, column in runs.values.items()
    }
