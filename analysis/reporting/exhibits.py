"""Which figures a comparison gets: those that answer its question, outcomes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import figures
from analysis.comparison import CellSummary, Comparison
from analysis.labels import Labels, all_completed
from analysis.reporting import tables
from analysis.reporting.tables import Table
from analysis.shape import Plane, curves, factorial, planes
from analysis.survival import survival

if TYPE_CHECKING:
    from analysis.source import Sweep

MOST_BARS = 40
"""Cells that get a bar or a row each."""

MOST_ROWS = 12
"""Contrasts whose pairs are drawn below each other."""

MOST_LINES = 7
"""Cells drawn as lines in one plot: as many as there are colours."""

MOST_PANELS = 9
MOST_THREADS = 40
"""Seeds drawn as lines."""

MOST_COMBINATIONS = 900
"""Cells of a plane whose interactions can still be read."""

LEAST_SHARE = 0.01
"""Of the variance between cells: an interaction below it is not worth a figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A figure with its numbers.

    Attributes:
        figure: a plotly figure; its title and subtitle are title and caption.
        table: the numbers; None of signals, which have too many.
    """

    figure: Any
    table: Table | None = None


class Exhibits:
    """The figures of one comparison.

    Args:
        comparison: the comparison.
        sweeps: the sweep, or the two sweeps, that were compared.
    """

    def __init__(self, comparison: Comparison, sweeps: Sequence[Sweep]) -> None:
        self._comparison = comparison
        self._sweeps = sweeps
        self._label = Labels(comparison)
        self._contrasted = [cell for cell in comparison.cells if cell.contrast]

    def of_outcomes(self) -> list[Exhibit]:
        """How runs ended; nothing where all completed, because a sentence says that."""
        comparison = self._comparison
        if not comparison.cells or all_completed(comparison):
            return []
        found = planes(comparison, *reversed(comparison.swept)) if len(comparison.swept) == 2 else ()
        if any(map(_is_full, found)):
            shown = [figures.success_map(comparison, plane) for plane in found[:2]]
        elif len(comparison.cells) <= MOST_BARS:
            shown = [figures.outcomes(comparison)]
        else:
            shown = [figures.outcomes(comparison, _worst(comparison.cells))]
        table = tables.outcome_table(self._label)
        return [*(Exhibit(figure=figure, table=table) for figure in shown), *self._lasting()]

    def _lasting(self) -> Iterator[Exhibit]:
        """How long runs last, where some ended early and cells are few enough to be told apart."""
        sweep, times = self._sweeps[0], self._sweeps[0].runs.time_s
        if len(self._sweeps) > 1 or len(sweep.cells) > MOST_LINES or not np.isfinite(times).any():
            return
        shown = {cell.cell_id for cell in self._comparison.cells}
        found = [one for one in survival(sweep) if one.cell_id in shown and one.n]
        if any(one.events for one in found):
            drawn = figures.running(self._comparison, found, float(np.nanmax(times)))
            yield Exhibit(figure=drawn, table=tables.survival_table(self._label, found))

    def of_metric(self, metric: str) -> list[Exhibit]:
        """The figures of one metric; none if no run has a value of it."""
        if not any(cell.means.get(metric) for cell in self._comparison.cells):
            return []
        return [*self._shape(metric), *self._pairs(metric)]

    def _shape(self, metric: str) -> Iterator[Exhibit]:
        """The metric over the axes of one sweep; of one cell alone, its values."""
        swept = self._comparison.swept
        if not self._contrasted or not all(cell.contrast.is_paired for cell in self._contrasted if cell.contrast):
            yield self._boxes(metric)
        elif len(self._sweeps) > 1:
            return
        elif len(swept) > 2:
            yield from self._many_axes(metric)
        elif len(swept) == 2:
            yield from self._two_axes(metric)
        elif len(self._comparison.cells) > 2:
            yield self._response(metric) if self._label.axis_scale(swept[0]) else self._boxes(metric)

    def _pairs(self, metric: str) -> Iterator[Exhibit]:
        """Each pair, where there are few enough contrasts to look at."""
        if len(self._contrasted) > MOST_ROWS:
            return
        found = [figures.pairs_of(self._comparison, cell, metric, *self._sweeps) for cell in self._contrasted]
        rows = [pairs for pairs in found if pairs is not None and pairs.seeds]
        if len(self._contrasted) == 1 and rows:
            drawn, table = figures.paired(self._comparison, rows[0]), tables.pairs_table(self._label, rows[0])
            yield Exhibit(figure=drawn, table=table)
        elif rows:
            drawn = figures.differences(self._comparison, metric, rows)
            yield Exhibit(figure=drawn, table=tables.differences_table(self._label, metric, self._contrasted))

    def _response(self, metric: str) -> Exhibit:
        curve = curves(self._comparison, self._comparison.swept[0])[0]
        few = len(curve.cells) <= MOST_BARS and max(cell.planned for cell in curve.cells) <= MOST_THREADS
        seeds = [self._values(cell, metric) for cell in curve.cells] if few else []
        drawn = figures.response(self._comparison, curve, metric, seeds)
        return Exhibit(figure=drawn, table=tables.means_table(self._label, metric, curve.cells))

    def _two_axes(self, metric: str) -> Iterator[Exhibit]:
        y, x = self._comparison.swept
        plane = next(filter(_is_full, planes(self._comparison, x, y)), None)
        if plane is None:
            yield self._scatter(metric)
            return
        cells = [cell for row in plane.cells for cell in row if cell is not None]
        drawn = figures.heat_map(self._comparison, plane, metric)
        yield Exhibit(figure=drawn, table=tables.means_table(self._label, metric, cells))
        along = y if self._label.axis_scale(y) and len(plane.xs) <= MOST_PANELS else x
        found = curves(self._comparison, along)
        if self._label.axis_scale(along) and 1 < len(found) <= MOST_PANELS and len(found[0].values) > 2:
            drawn = figures.multiples(self._comparison, found, metric)
            yield Exhibit(figure=drawn, table=tables.curves_table(self._label, metric, found))
        if len(cells) <= MOST_COMBINATIONS:
            yield from self._effects(metric)

    def _many_axes(self, metric: str) -> Iterator[Exhibit]:
        effects = list(self._effects(metric))
        yield from effects or [self._scatter(metric)]
        drawn = figures.parallel(self._comparison, metric)
        yield Exhibit(figure=drawn, table=tables.extremes_table(self._label, metric))

    def _effects(self, metric: str) -> Iterator[Exhibit]:
        """What a complete grid says about each axis, and about the two that act together most."""
        found = factorial(self._sweeps[0], metric)
        if found.withheld or not any(found.shares.values()):
            return
        if len(self._comparison.swept) > 2:
            yield Exhibit(figure=figures.shares(self._comparison, found), table=tables.shares_table(found))
            drawn = figures.main_effects(self._comparison, found)
            yield Exhibit(figure=drawn, table=tables.effects_table(self._label, found))
        together = {name: share for name, share in found.shares.items() if " × " in name and share >= LEAST_SHARE}
        if together:
            y, x = max(together, key=lambda name: together[name]).split(" × ")
            drawn = figures.interaction(self._comparison, found, x, y)
            yield Exhibit(figure=drawn, table=tables.effects_table(self._label, found, pair=(x, y)))

    def _scatter(self, metric: str) -> Exhibit:
        table = tables.extremes_table(self._label, metric)
        return Exhibit(figure=figures.scatter(self._comparison, metric), table=table)

    def _boxes(self, metric: str) -> Exhibit:
        values = [(cell, self._values(cell, metric)) for cell in self._comparison.cells[:MOST_BARS]]
        table = tables.values_table(self._label, metric, values)
        return Exhibit(figure=figures.boxes(self._comparison, metric, values), table=table)

    def _values(self, cell: CellSummary, metric: str) -> Mapping[int, float]:
        return figures.values_of(self._sweeps[-1 if cell.contrast else 0], cell.cell_id, metric)


def _worst(cells: Iterable[CellSummary]) -> list[CellSummary]:
    """The cells with the fewest completed runs, in the design's order."""
    rows = list(cells)
    shares = [cell.outcomes.get("completed", 0) / max(1, cell.planned) for cell in rows]
    return [rows[i] for i in sorted(sorted(range(len(rows)), key=lambda i: shares[i])[:MOST_BARS])]


def _is_full(plane: Plane) -> bool:
    """Whether most of a plane is there: a few excluded cells do not matter, a scattered design is no plane."""
    flat = [cell for row in plane.cells for cell in row]
    return 2 * sum(cell is not None for cell in flat) > len(flat)
