"""Paired differences: every seed is a pair, and the picture shows each of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis import labels
from analysis.comparison import CellSummary, Comparison, MetricContrast
from analysis.estimate import mean_t
from analysis.figures import style
from analysis.format import Scale
from analysis.interval import Interval

if TYPE_CHECKING:
    from analysis.source import Sweep


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """A metric of a cell and of its baseline, seed by seed.

    Attributes:
        cell: the row.
        base: the row it is paired with.
        metric: of what.
        seeds: seeds where both runs have a value.
        before: values of the baseline.
        after: values of the cell.
        only_before: values of the baseline whose other run has none.
        only_after: values of the cell whose other run has none.
    """

    cell: CellSummary
    base: CellSummary
    metric: str
    seeds: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    only_before: tuple[float, ...] = ()
    only_after: tuple[float, ...] = ()

    @property
    def differences(self) -> list[float]:
        """``after - before``, seed by seed."""
        return [y - x for x, y in zip(self.before, self.after, strict=True)]


def pairs_of(comparison: Comparison, cell: CellSummary, metric: str, *sweeps: Sweep) -> Pairs | None:
    """The pairs behind one contrast; None for a baseline.

    Args:
        comparison: the comparison.
        cell: one of its rows.
        metric: one of its metrics.
        sweeps: the sweep, or the two sweeps, that were compared (:func:`analysis.source.read`).
    """
    if cell.contrast is None:
        return None
    against = cell.contrast.against
    base = next(row for row in comparison.cells if row.cell_id == against and row.contrast is None)
    before, after = values_of(sweeps[0], against, metric), values_of(sweeps[-1], cell.cell_id, metric)
    seeds = tuple(sorted(before.keys() & after.keys()))
    return Pairs(
        cell=cell,
        base=base,
        metric=metric,
        seeds=seeds,
        before=tuple(before[seed] for seed in seeds),
        after=tuple(after[seed] for seed in seeds),
        only_before=tuple(value for seed, value in before.items() if seed not in after),
        only_after=tuple(value for seed, value in after.items() if seed not in before),
    )


def values_of(sweep: Sweep, cell_id: str, metric: str) -> dict[int, float]:
    """The values of a cell that enter a mean, by seed."""
    place = next(i for i, cell in enumerate(sweep.cells) if cell.cell_id == cell_id)
    span = sweep.runs.spans[place]
    found = zip(sweep.runs.seed[span], sweep.runs.values[metric][span].tolist(), strict=True)
    return {seed: value for seed, value in found if not math.isnan(value)}


def given(cell: CellSummary, metric: str) -> Interval | None:
    """The paired difference of a row; None where it would mislead, because failures point the other way."""
    found = cell.contrast.metrics.get(metric) if cell.contrast else None
    return None if found is None or found.misleads else found.difference


def paired(comparison: Comparison, pairs: Pairs) -> Any:
    """Each seed as a line from baseline to cell, and beside it the differences with their mean and t interval.

    Means are those of the pairs drawn: of all values, a cell's mean would be that of its survivors.  There are none
    where they would mislead, because failures point the other way.

    Source of the form: M. J. Gardner and D. G. Altman, Confidence intervals rather than P values, BMJ 292 (1986) 746.
    """
    drawn = style.panels(
        f"{pairs.metric}, seed by seed",
        "A line is a seed in both cells, a diamond the mean of these with its 95 % interval"
        + (", a cross a seed whose other run has no value; " if pairs.only_before or pairs.only_after else "; ")
        + pair_words(comparison, [pairs.cell], pairs.metric),
        ["", ""],
        across=2,
        column_widths=[0.6, 0.4],
    )
    label = labels.Labels(comparison)
    _lines(drawn, label, pairs)
    _strip(drawn, label, pairs)
    return drawn.update_layout(height=400, margin_t=60)


def _lines(drawn: Any, label: labels.Labels, pairs: Pairs) -> None:
    """Seeds from one cell to the other, values without a partner, and the means of the pairs."""
    scale = label.metric_scale(pairs.metric)
    ends = [(x / scale.factor, y / scale.factor, None) for x, y in zip(pairs.before, pairs.after, strict=True)]
    drawn.add_scatter(
        x=[0, 1, None] * len(ends),
        y=style.rounded(value for pair in ends for value in pair),
        mode="lines+markers",
        line={"color": style.faint(style.GREY, 0.55), "width": 1},
        marker={"size": 5, "color": style.GREY},
        hovertemplate=f"%{{y:.5g}} {scale.unit}<extra></extra>",
        **style.place(0),
    )
    if given(pairs.cell, pairs.metric) is not None:
        for x, values, colour in ((-0.12, pairs.before, style.BLUE), (1.12, pairs.after, style.VERMILLION)):
            mean = mean_t(values)
            if mean is not None:
                _mean(drawn, x, mean, scale, colour)
    _alone(drawn, pairs, scale)
    names = [label.cell_name(row) for row in (pairs.base, pairs.cell)]
    drawn.update_xaxes(tickvals=[0, 1], ticktext=names, range=[-0.35, 1.35], showgrid=False, row=1, col=1)
    drawn.update_yaxes(title_text=scale.head(pairs.metric), row=1, col=1)


def _strip(drawn: Any, label: labels.Labels, pairs: Pairs) -> None:
    """The differences of the pairs and their mean; grey where outcomes differ, which it does not speak of."""
    scale, contrast = label.difference_scale(pairs.metric), pairs.cell.contrast
    assert contrast is not None
    drawn.add_scatter(
        x=_spread(len(pairs.seeds)),
        y=style.rounded(d / scale.factor for d in pairs.differences),
        mode="markers",
        marker={"size": 6, "color": style.GREY, "opacity": 0.75},
        customdata=pairs.seeds,
        hovertemplate=f"seed %{{customdata}}: %{{y:.4g}} {scale.unit}<extra></extra>",
        row=1,
        col=2,
    )
    difference = given(pairs.cell, pairs.metric)
    if difference is not None:
        colour = style.GREY if contrast.outcome.differs else style.VERMILLION
        _mean(drawn, 0.35, difference, scale, colour, column=2)
    drawn.add_hline(y=0, line={"color": style.GREY, "width": 1, "dash": "dot"}, row=1, col=2)
    drawn.update_xaxes(tickvals=[0.1], ticktext=[contrast.change], range=[-0.6, 0.7], showgrid=False, row=1, col=2)
    drawn.update_yaxes(title_text=scale.head("paired difference"), row=1, col=2)


def differences(comparison: Comparison, metric: str, rows: Sequence[Pairs]) -> Any:
    """A row per contrast: the difference of each seed, their mean, its t interval (thick) and the one that counts all.

    Rows whose outcomes differ are drawn hollow: they speak of the seeds alone where both runs have a value.
    """
    label = labels.Labels(comparison)
    scale = label.difference_scale(metric)
    drawn = style.figure(
        f"{metric}: paired differences{' from the baseline' if comparison.baseline else ''}",
        "A dot is a seed; thick: 95 % interval, thin: with all comparisons counted; "
        + pair_words(comparison, [pairs.cell for pairs in rows], metric),
        x=scale.head(f"difference of {metric}"),
        height=140 + 44 * len(rows),
    )
    names = []
    for index, pairs in enumerate(rows):
        contrast = pairs.cell.contrast
        assert contrast is not None
        names.append(label.cell_name(pairs.cell))
        drawn.add_scatter(
            x=style.rounded(d / scale.factor for d in pairs.differences),
            y=[index + 0.22 + s / 3 for s in _spread(len(pairs.seeds))],
            mode="markers",
            marker={"size": 5, "color": style.GREY, "opacity": 0.6},
            customdata=pairs.seeds,
            hovertemplate=f"seed %{{customdata}}: %{{x:.4g}} {scale.unit}<extra></extra>",
        )
        _row(drawn, index - 0.12, contrast.metrics[metric], scale.factor, hollow=contrast.outcome.differs)
    drawn.add_vline(x=0, line={"color": style.GREY, "width": 1, "dash": "dot"})
    return drawn.update_yaxes(
        tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.4, -0.6], showgrid=False
    )


def pair_words(comparison: Comparison, cells: Sequence[CellSummary], metric: str) -> str:
    """``16 of 16 pairs, all 32 runs completed``; where outcomes differ, among which seeds."""
    found = [(cell.contrast, cell.contrast.metrics[metric]) for cell in cells if cell.contrast]
    used, total = {m.pairs_used for _, m in found}, max((m.pairs_total for _, m in found), default=0)
    span = " to ".join(str(n) for n in sorted({min(used), max(used)})) if used else "0"
    against = {contrast.against for contrast, _ in found}
    ids = {cell.cell_id for cell in cells} | against
    runs = labels.outcome_words(row for row in comparison.cells if row.cell_id in ids)
    among = ""
    if any(contrast.outcome.differs or m.pairs_used < m.pairs_total for contrast, m in found):
        among = ", among seeds where both runs have a value"
    return f"{span} of {total} pairs{among}; {runs}"


def _alone(drawn: Any, pairs: Pairs, scale: Scale) -> None:
    """The values that have no partner, where they are."""
    x = [0] * len(pairs.only_before) + [1] * len(pairs.only_after)
    drawn.add_scatter(
        x=x,
        y=style.rounded(value / scale.factor for value in (*pairs.only_before, *pairs.only_after)),
        mode="markers",
        marker={"size": 8, "symbol": "x-thin", "line": {"width": 2, "color": style.VERMILLION}},
        hovertemplate=f"%{{y:.5g}} {scale.unit}, no value in the other cell<extra></extra>",
        **style.place(0),
    )


def _mean(drawn: Any, x: float, value: Interval, scale: Scale, colour: str, *, column: int = 1) -> None:
    half = value.half_width
    drawn.add_scatter(
        x=[x],
        y=style.rounded([value.estimate / scale.factor]),
        mode="markers",
        marker={"size": 10, "color": colour, "symbol": "diamond"},
        error_y={"array": [half / scale.factor], "thickness": 2.5, "width": 0} if half else None,
        hovertemplate=f"mean %{{y:.5g}} {scale.unit}<extra></extra>",
        row=1,
        col=column,
    )


def _row(drawn: Any, y: float, found: MetricContrast, factor: float, *, hollow: bool) -> None:
    """Mean difference with both intervals; nothing where it would mislead."""
    if found.difference is None or found.misleads:
        return
    colour = style.VERMILLION if found.clear and not hollow else style.GREY
    for value, width in ((found.simultaneous, 1.2), (found.difference, 4)):
        if value is not None and value.low is not None and value.high is not None:
            drawn.add_scatter(
                x=style.rounded([value.low / factor, value.high / factor]),
                y=[y, y],
                mode="lines",
                line={"color": colour, "width": width},
                hoverinfo="skip",
            )
    drawn.add_scatter(
        x=style.rounded([found.difference.estimate / factor]),
        y=[y],
        mode="markers",
        marker={"size": 10, "color": colour, "symbol": "diamond-open" if hollow else "diamond"},
        hovertemplate="mean difference %{x:.4g}<extra></extra>",
    )


def _spread(count: int) -> list[float]:
    """Places beside each other for points that would overlap, the same each time."""
    return [0.3 * ((0.618034 * index) % 1 - 0.5) for index in range(count)]
