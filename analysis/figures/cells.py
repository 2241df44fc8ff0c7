"""Many cells at once: parallel coordinates, a plot per axis, and boxes of the values themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis import labels
from analysis.comparison import CellSummary, Comparison
from analysis.figures import style
from analysis.format import plain

MOST_LINES = 400
MOST_POINTS = 2000
FAN = 0.09
"""How far lines through one value of an axis are spread, of its length."""

BINS = 7
"""Shades of a metric in parallel coordinates."""


def parallel(comparison: Comparison, metric: str) -> Any:
    """Parallel coordinates: a line per cell through its values and its mean, shaded by the mean.

    Drawn as plain lines, which print and need no graphics card.  Of many cells, lines are left out evenly over the
    order of their means.
    """
    label = labels.Labels(comparison)
    rows = sorted(_valued(comparison, metric), key=lambda row: row[1])
    total = len(rows)
    step = max(1, -(-total // MOST_LINES))
    rows = rows[::step]
    told = "" if step == 1 else f", {len(rows)} of {labels.counted(total)} drawn, evenly by their means"
    drawn = style.figure(
        f"{metric} in all cells",
        f"A line is a cell{told}, from the lowest (blue) to the highest mean (red); "
        f"{labels.seed_words(comparison.cells, metric)}; "
        f"{labels.outcome_words(comparison.cells)}",
        height=430,
    )
    heights = [*(_heights(label, key, [cell for cell, _ in rows]) for key in comparison.swept)]
    means = [mean for _, mean in rows]
    heights.append(_between(means))
    for shade, chosen in enumerate(_bins(len(rows))):
        x: list[Any] = []
        y: list[float | None] = []
        for index in chosen:
            x += [*range(len(heights)), None]
            y += [*(column[index] for column in heights), None]
        line = {"color": _shade(shade), "width": 1.5}
        drawn.add_scatter(x=x, y=style.rounded(y, 4), mode="lines", line=line, opacity=0.7, hoverinfo="skip")
    scale = label.metric_scale(metric)
    ends = [_ends(label, key, [cell for cell, _ in rows]) for key in comparison.swept]
    ends.append((f"{min(means) / scale.factor:.4g}", f"{max(means) / scale.factor:.4g}") if means else ("", ""))
    for index, (low, high) in enumerate(ends):
        drawn.add_vline(x=index, line={"color": style.GREY, "width": 1})
        for text, at, anchor in ((low, 0, "top"), (high, 1, "bottom")):
            drawn.add_annotation(x=index, y=at, text=text, showarrow=False, yanchor=anchor, yshift=12 if at else -12)
    names = [label.axis_title(key) for key in comparison.swept] + [scale.head(metric)]
    drawn.update_xaxes(tickvals=list(range(len(names))), ticktext=names, showgrid=False, range=[-0.3, len(names) - 0.7])
    return drawn.update_yaxes(visible=False, range=[-0.16, 1.16])


def scatter(comparison: Comparison, metric: str) -> Any:
    """A plot per swept axis: the mean of every cell against the axis, whatever the others are."""
    label = labels.Labels(comparison)
    rows = _valued(comparison, metric)
    total = len(rows)
    rows = rows[:: max(1, -(-total // MOST_POINTS))]
    told = "" if len(rows) == total else f", {len(rows)} of {labels.counted(total)} drawn"
    scale = label.metric_scale(metric)
    drawn = style.panels(
        f"{metric} against each axis",
        f"A dot is the mean of a cell{told}; {labels.seed_words(comparison.cells, metric)}; "
        f"{labels.outcome_words(comparison.cells)}",
        [label.axis_title(key) for key in comparison.swept],
        shared_yaxes="all",
    )
    for index, key in enumerate(comparison.swept):
        drawn.add_scatter(
            x=label.axis_values(key, [cell.values.get(key) for cell, _ in rows]),
            y=style.rounded(mean / scale.factor for _, mean in rows),
            mode="markers",
            marker={"size": 7 if total <= 200 else 4, "color": style.BLUE, "opacity": 0.7},
            hovertemplate=f"%{{x}}: %{{y:.5g}} {scale.unit}<extra></extra>",
            **style.place(index),
        )
        if index % 3 == 0:
            drawn.update_yaxes(title_text=f"[{scale.unit}]" if scale.unit else "", **style.place(index))
    return drawn


def boxes(comparison: Comparison, metric: str, values: Sequence[tuple[CellSummary, Mapping[int, float]]]) -> Any:
    """A box per cell with its single values beside it.

    Args:
        comparison: the comparison.
        metric: which metric.
        values: rows of the comparison, with seed to value.
    """
    label = labels.Labels(comparison)
    scale = label.metric_scale(metric)
    cells = [cell for cell, _ in values]
    drawn = style.figure(
        f"{metric}, run by run",
        f"A dot is a run; box: median and quartiles; {labels.seed_words(cells, metric)}; {labels.outcome_words(cells)}",
        x=scale.head(metric),
        height=140 + 48 * len(cells),
    )
    for cell, found in values:
        drawn.add_box(
            x=style.rounded(value / scale.factor for value in found.values()),
            name=label.cell_name(cell),
            orientation="h",
            boxpoints="all",
            jitter=0.5,
            pointpos=0,
            marker={"color": style.BLUE, "size": 5, "opacity": 0.7},
            line={"color": style.GREY, "width": 1.2},
            fillcolor="rgba(0,0,0,0)",
            text=[f"seed {seed}" for seed in found],
            hovertemplate=f"%{{text}}: %{{x:.5g}} {scale.unit}<extra></extra>",
        )
    return drawn.update_yaxes(autorange="reversed", showgrid=False, type="category")


def _valued(comparison: Comparison, metric: str) -> list[tuple[CellSummary, float]]:
    found = ((cell, cell.means.get(metric)) for cell in comparison.cells)
    return [(cell, mean.estimate) for cell, mean in found if mean is not None]


def _heights(label: labels.Labels, key: str, cells: Sequence[CellSummary]) -> list[float]:
    values = [cell.values.get(key) for cell in cells]
    if label.axis_scale(key) is not None:
        return _fanned(_between([float(value) for value in values]))  # type: ignore[arg-type]
    names = list(dict.fromkeys(map(repr, values)))
    return _fanned([names.index(repr(value)) / max(1, len(names) - 1) for value in values])


def _fanned(heights: Sequence[float]) -> list[float]:
    """Heights that many lines share, moved apart a little in the order of the lines."""
    if 2 * len(set(heights)) > len(heights):
        return list(heights)
    return [height + FAN * (index / len(heights) - 0.5) for index, height in enumerate(heights)]


def _between(values: Sequence[float]) -> list[float]:
    """Values on the way from the least (0) to the largest (1)."""
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    return [(value - low) / (high - low) if high > low else 0.5 for value in values]


def _ends(label: labels.Labels, key: str, cells: Sequence[CellSummary]) -> tuple[str, str]:
    values = [cell.values.get(key) for cell in cells]
    scale = label.axis_scale(key)
    if not values:
        return "", ""
    if scale is None:
        return plain(values[0]), plain(list({repr(value): value for value in values}.values())[-1])
    numbers = [float(value) / scale.factor for value in values]  # type: ignore[arg-type]
    return f"{min(numbers):.4g}", f"{max(numbers):.4g}"


def _bins(count: int) -> list[range]:
    return [range(count * shade // BINS, count * (shade + 1) // BINS) for shade in range(BINS)]


def _shade(index: int) -> str:
    from plotly.colors import sample_colorscale

    return str(sample_colorscale([style.BLUE, style.GREY, style.VERMILLION], [index / (BINS - 1)])[0])
