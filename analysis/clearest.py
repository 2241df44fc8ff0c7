"""Which rows a long comparison shows: those with most to say."""

from __future__ import annotations

import math

from analysis.comparison import CellSummary, Comparison, MetricContrast


def clearness(found: MetricContrast) -> float:
    """How many half-widths the difference is away from 0: infinite for a difference that does not vary."""
    difference = found.difference
    if difference is None or difference.half_width is None:
        return 0.0
    if difference.half_width == 0.0:
        return math.inf if difference.estimate else 0.0
    return abs(difference.estimate) / difference.half_width


def clearest(comparison: Comparison, most: int) -> tuple[CellSummary, ...]:
    """At most ``most`` compared cells, in the design's order, with the rows that they are compared with.

    Cells whose outcomes differ come first, then those whose differences are clearest.
    """
    compared = [cell for cell in comparison.cells if cell.contrast is not None]
    if len(compared) <= most:
        return comparison.cells
    compared.sort(key=_interest, reverse=True)
    kept = {id(cell) for cell in compared[:most]}
    against = {cell.contrast.against for cell in compared[:most] if cell.contrast}
    return tuple(
        cell for cell in comparison.cells if id(cell) in kept or (cell.contrast is None and cell.cell_id in against)
    )


def _interest(cell: CellSummary) -> tuple[float, float]:
    contrast = cell.contrast
    if contrast is None:
        return 0.0, 0.0
    return -contrast.outcome.p, max(map(clearness, contrast.metrics.values()), default=0.0)
