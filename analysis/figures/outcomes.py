"""How runs ended: first of all figures, because a mean over the survivors flatters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis import labels
from analysis.comparison import CellSummary, Comparison
from analysis.figures import style
from analysis.format import plain
from analysis.shape import Plane

COLOURS = {
    "completed": style.BLUE,
    "timed out": style.PURPLE,
    "lost": "#5c5c5c",
    "cancelled": style.GREY,
    labels.WITHOUT_RECORD: style.faint(style.GREY, 0.35),
}
ENDS = (style.ORANGE, style.SKY, style.GREEN, style.PURPLE)


def outcomes(comparison: Comparison, cells: Sequence[CellSummary] | None = None) -> Any:
    """Stacked bars, one per cell: how many runs completed, ended (by reason), faulted (by kind), or are missing.

    Args:
        comparison: the comparison.
        cells: the rows to draw; all by default.
    """
    label = labels.Labels(comparison)
    rows = list(comparison.cells if cells is None else cells)
    parts = [labels.outcome_parts(cell) for cell in rows]
    names = list(dict.fromkeys(part for cell in parts for part in cell))
    drawn = style.figure(
        "How the runs ended",
        f"Runs per cell; {labels.outcome_words(comparison.cells)}",
        x="runs",
        height=130 + 34 * len(rows),
        barmode="stack",
        bargap=0.3,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    where = [label.cell_name(cell) for cell in rows]
    for name, colour in zip(names, _colours(names), strict=True):
        counts = [cell.get(name, 0) for cell in parts]
        drawn.add_bar(
            x=counts,
            y=where,
            name=name,
            orientation="h",
            marker_color=colour,
            text=[str(count) if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate="%{y}: %{x} " + name + "<extra></extra>",
        )
    return drawn.update_yaxes(autorange="reversed", showgrid=False, type="category")


def success_map(comparison: Comparison, plane: Plane) -> Any:
    """A heat map over two axes: the share of runs that completed or ended well."""
    label = labels.Labels(comparison)
    found = [[None if cell is None else label.succeeded(cell) for cell in row] for row in plane.cells]
    held = label.levels(plane.held)
    cells = [cell for row in plane.cells for cell in row if cell is not None]
    drawn = style.figure(
        "How many runs succeeded",
        f"Share of runs per cell{f' at {held}' if held else ''}; {labels.outcome_words(cells)}",
        x=label.axis_title(plane.x),
        y=label.axis_title(plane.y),
        height=140 + 44 * min(12, len(plane.ys)),
    )
    drawn.add_heatmap(
        x=[plain(value) for value in label.axis_values(plane.x, plane.xs)],
        y=[plain(value) for value in label.axis_values(plane.y, plane.ys)],
        z=[[pair[0] / pair[1] if pair and pair[1] else None for pair in row] for row in found],
        text=[[f"{pair[0]} of {pair[1]}" if pair else "" for pair in row] for row in found],
        texttemplate="%{text}" if len(cells) <= 100 else "",
        hovertemplate="%{x}, %{y}: %{text} succeeded<extra></extra>",
        zmin=0,
        zmax=1,
        colorscale=style.SCALE,
        colorbar={"title": {"text": "share"}, "tickformat": ".0%", "thickness": 12, "outlinewidth": 0},
        xgap=2,
        ygap=2,
    )
    return drawn.update_xaxes(**style.CATEGORIES).update_yaxes(**style.CATEGORIES)


def _colours(names: Sequence[str]) -> list[str]:
    ends = iter(ENDS * len(names))
    faults = iter((style.VERMILLION, "#8c3d00", "#f08b4a") * len(names))
    return [COLOURS.get(n) or (next(faults) if n.startswith("faulted") else next(ends)) for n in names]
