"""A metric along an axis and over two: response curves with bands, small multiples, heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis import labels
from analysis.comparison import CellSummary, Comparison
from analysis.figures import style
from analysis.figures.pairs import given, pair_words
from analysis.format import is_number, plain
from analysis.interval import Interval
from analysis.shape import Curve, Plane

MOST_POINTS = 400
"""Points of a curve; a screen shows no more."""

MOST_TOLD = 8
"""Points of a curve that have words beside them."""

MOST_TEXTS = 150
"""Cells of a heat map that have their number written in them."""

Seeds = Sequence[Mapping[int, float]]
"""Per row of a curve: seed to value."""


def response(comparison: Comparison, curve: Curve, metric: str, seeds: Seeds = ()) -> Any:
    """Two plots: the mean with its band, and the paired difference from the baseline with its narrower one.

    Args:
        comparison: the comparison.
        curve: from :func:`analysis.shape.curves`.
        metric: which metric.
        seeds: values of each seed at each point, drawn as thin lines; none by default.
    """
    label = labels.Labels(comparison)
    scale, change = label.metric_scale(metric), label.difference_scale(metric)
    paired = [given(cell, metric) for cell in curve.cells]
    thinned = "" if len(curve.cells) <= MOST_POINTS else f"; {MOST_POINTS} of {len(curve.cells)} points drawn"
    held = label.levels(curve.held)
    drawn = style.panels(
        f"{metric} along {labels.short(curve.axis)}{f', at {held}' if held else ''}",
        f"Mean with 95 % band, {labels.seed_words(curve.cells, metric)}{', thin lines are seeds' if seeds else ''}; "
        f"{_right(comparison, curve, metric)}{thinned}",
        ["mean over seeds", "paired difference from the baseline" if any(paired) else ""],
        across=2,
    )
    x = label.axis_values(curve.axis, curve.values)
    if seeds:
        _threads(drawn, x, seeds, scale.factor)
    _banded(
        drawn,
        x,
        [cell.means.get(metric) for cell in curve.cells],
        scale.factor,
        colour=style.BLUE,
        place=style.place(0),
    )
    _incomplete(drawn, x, curve.cells, metric, scale.factor)
    if any(paired):
        own = [Interval(0.0, 0.0, 0.0, cell.planned) if cell.contrast is None else None for cell in curve.cells]
        values = [difference or zero for difference, zero in zip(paired, own, strict=True)]
        differ = any(cell.contrast and cell.contrast.outcome.differs for cell in curve.cells)
        _banded(
            drawn, x, values, change.factor, colour=style.GREY if differ else style.VERMILLION, place=style.place(1)
        )
        drawn.add_hline(y=0, line={"color": style.GREY, "width": 1, "dash": "dot"}, row=1, col=2)
    drawn.update_xaxes(title_text=label.axis_title(curve.axis))
    drawn.update_yaxes(title_text=scale.head(metric), row=1, col=1)
    drawn.update_yaxes(title_text=change.head("difference"), row=1, col=2)
    return drawn.update_layout(height=400)


def multiples(comparison: Comparison, curves: Sequence[Curve], metric: str) -> Any:
    """Small multiples on common axes: a plot per setting of the other axes; the nominal one is dotted in the others."""
    label = labels.Labels(comparison)
    scale = label.metric_scale(metric)
    cells = [cell for curve in curves for cell in curve.cells]
    first = next((curve for curve in curves if curve.is_nominal), curves[0])
    curves = sorted(curves, key=lambda curve: [value if is_number(value) else 0.0 for value in curve.held.values()])
    names = [label.levels(curve.held) or curve.sweep for curve in curves]
    drawn = style.panels(
        f"{metric} along {labels.short(first.axis)}, side by side",
        f"Mean with 95 % band, {labels.seed_words(cells, metric)}; dotted: {names[curves.index(first)]}; "
        f"{labels.outcome_words(cells)}",
        names,
        shared_xaxes="all",
        shared_yaxes="all",
    )
    ghost = _means(first.cells, metric, scale.factor)
    for index, curve in enumerate(curves):
        place = style.place(index)
        if curve is not first:
            drawn.add_scatter(
                x=label.axis_values(first.axis, first.values),
                y=ghost,
                mode="lines",
                line={"color": style.faint(style.GREY, 0.7), "width": 1.5, "dash": "dot"},
                hoverinfo="skip",
                **place,
            )
        x = label.axis_values(curve.axis, curve.values)
        values = [cell.means.get(metric) for cell in curve.cells]
        _banded(drawn, x, values, scale.factor, colour=style.BLUE, place=place)
        if place["col"] == 1:
            drawn.update_yaxes(title_text=f"[{scale.unit}]" if scale.unit else "", **place)
        if index >= len(curves) - 3:
            drawn.update_xaxes(title_text=label.axis_title(curve.axis), showticklabels=True, **place)
    return drawn


def heat_map(comparison: Comparison, plane: Plane, metric: str) -> Any:
    """The mean of a metric over two axes; a cell of which not all runs completed says how many did."""
    label = labels.Labels(comparison)
    scale = label.metric_scale(metric)
    cells = [cell for row in plane.cells for cell in row if cell is not None]
    means = [[None if cell is None else _mean(cell, metric, scale.factor) for cell in row] for row in plane.cells]
    texts = iter(labels.evenly(mean for row in means for mean in row))
    held = label.levels(plane.held)
    drawn = style.figure(
        f"{metric} over {labels.short(plane.x)} and {labels.short(plane.y)}{f', at {held}' if held else ''}",
        f"Mean of each cell, {labels.seed_words(cells, metric)}; {labels.outcome_words(cells)}",
        x=label.axis_title(plane.x),
        y=label.axis_title(plane.y),
        height=150 + min(460, 44 * len(plane.ys)),
    )
    few = len(cells) <= MOST_TEXTS
    drawn.add_heatmap(
        x=[plain(value) for value in label.axis_values(plane.x, plane.xs)],
        y=[plain(value) for value in label.axis_values(plane.y, plane.ys)],
        z=[style.rounded(row) for row in means],
        text=[[_in_cell(cell, metric, next(texts)) for cell in row] for row in plane.cells],
        texttemplate="%{text}" if few else "",
        hovertemplate=f"%{{x}}, %{{y}}: %{{z:.5g}} {scale.unit}<extra></extra>",
        colorscale=style.SCALE,
        colorbar={"title": {"text": scale.unit}, "thickness": 12, "outlinewidth": 0},
        xgap=2 if few else 0,
        ygap=2 if few else 0,
    )
    return drawn.update_xaxes(**style.CATEGORIES).update_yaxes(**style.CATEGORIES)


def _right(comparison: Comparison, curve: Curve, metric: str) -> str:
    contrasted = [cell for cell in curve.cells if cell.contrast]
    if not contrasted:
        return labels.outcome_words(curve.cells)
    return f"differences over {pair_words(comparison, contrasted, metric)}"


def _mean(cell: CellSummary, metric: str, factor: float) -> float | None:
    mean = cell.means.get(metric)
    return None if mean is None else mean.estimate / factor


def _in_cell(cell: CellSummary | None, metric: str, text: str) -> str:
    """The number, and how many of the runs completed where not all did."""
    if cell is None:
        return ""
    completed = cell.outcomes.get("completed", 0)
    share = "" if completed == cell.planned else f"{completed} of {cell.planned}"
    return "<br>".join(part for part in (text, share) if part)


def _threads(drawn: Any, x: Sequence[Any], seeds: Seeds, factor: float) -> None:
    """One thin line per seed, all in one trace; a missing value is a gap."""
    everyone = sorted(set().union(*seeds))
    xs: list[Any] = []
    ys: list[float | None] = []
    for seed in everyone:
        xs += [*x, x[-1]]
        ys += [None if seed not in values else values[seed] / factor for values in seeds] + [None]
    line = {"color": style.faint(style.GREY, 0.35), "width": 1}
    drawn.add_scatter(x=xs, y=style.rounded(ys), mode="lines", line=line, hoverinfo="skip", **style.place(0))


def _incomplete(drawn: Any, x: Sequence[Any], cells: Sequence[CellSummary], metric: str, factor: float) -> None:
    """Points of which not all runs completed say how many did."""
    told = [
        (at, mean, f"{cell.outcomes.get('completed', 0)} of {cell.planned} completed")
        for at, cell in zip(x, cells, strict=True)
        if (mean := _mean(cell, metric, factor)) is not None and cell.outcomes.get("completed", 0) < cell.planned
    ]
    if len(told) <= MOST_TOLD:
        drawn.add_scatter(
            x=[at for at, _, _ in told],
            y=style.rounded(mean for _, mean, _ in told),
            mode="markers+text",
            marker={"size": 12, "symbol": "circle-open", "color": style.VERMILLION},
            text=[text for _, _, text in told],
            textposition="top center",
            hoverinfo="skip",
            cliponaxis=False,
            **style.place(0),
        )


def _banded(
    drawn: Any,
    x: Sequence[Any],
    values: Sequence[Interval | None],
    factor: float,
    *,
    colour: str,
    place: Mapping[str, int],
) -> None:
    """A line through the estimates and the band of their intervals; where an interval is missing, so is the band."""
    step = -(-max(1, len(x)) // MOST_POINTS)
    x, values = x[::step], values[::step]
    limits = [
        (at, value.low, value.high)
        for at, value in zip(x, values, strict=True)
        if value is not None and value.low is not None and value.high is not None
    ]
    if len(limits) > 1:
        drawn.add_scatter(
            x=[at for at, _, _ in limits] + [at for at, _, _ in reversed(limits)],
            y=style.rounded([high / factor for _, _, high in limits] + [low / factor for _, low, _ in limits[::-1]]),
            fill="toself",
            mode="lines",
            line={"width": 0},
            fillcolor=style.faint(colour, 0.22),
            hoverinfo="skip",
            **place,
        )
    drawn.add_scatter(
        x=list(x),
        y=style.rounded(None if value is None else value.estimate / factor for value in values),
        mode="lines+markers" if len(x) <= 60 else "lines",
        line={"color": colour, "width": 2.5},
        marker={"size": 7},
        hovertemplate="%{x}: %{y:.5g}<extra></extra>",
        **place,
    )


def _means(cells: Sequence[CellSummary], metric: str, factor: float) -> list[float | None]:
    return style.rounded(_mean(cell, metric, factor) for cell in cells)
