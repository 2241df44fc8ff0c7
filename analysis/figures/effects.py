"""Which axis matters: shares of the variance between cells, main effects, interactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis import labels
from analysis.comparison import Comparison
from analysis.figures import style
from analysis.format import Scale, plain, scale_for
from analysis.shape import Effect, Factorial


def shares(comparison: Comparison, found: Factorial) -> Any:
    """Bars: the share of each axis, and of each pair of axes, in the variance between the cells' means."""
    ordered = sorted(found.shares.items(), key=lambda share: -share[1])[:12]
    names = [" × ".join(labels.short(key) for key in name.split(" × ")) for name, _ in ordered]
    drawn = style.figure(
        f"What moves {found.metric}",
        f"Shares of the variance between the means of {labels.counted(len(comparison.cells))} cells, "
        f"{_rests_on(comparison, found)}",
        x="share of the variance between cells",
        height=130 + 30 * len(ordered),
        bargap=0.35,
    )
    drawn.add_bar(
        x=style.rounded(100 * share for _, share in ordered),
        y=names,
        orientation="h",
        marker_color=style.BLUE,
        text=[f"{share:.1%}".replace("%", " %") for _, share in ordered],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
    )
    drawn.update_xaxes(ticksuffix=" %", range=[0, 110 * max((share for _, share in ordered), default=0.0) or 1.0])
    return drawn.update_yaxes(autorange="reversed", showgrid=False, type="category")


def main_effects(comparison: Comparison, found: Factorial) -> Any:
    """A plot per axis: what each of its levels adds to the grand mean, with intervals that count all levels."""
    label = labels.Labels(comparison)
    axes = list(dict.fromkeys(axis for effect in found.main for axis in effect.levels))
    scale = _scale(comparison, found)
    drawn = style.panels(
        f"{found.metric}: main effects",
        f"Mean at a level minus the mean of all cells, with 95 % intervals that count all levels of the axis; "
        f"{_rests_on(comparison, found)}",
        [label.axis_title(axis) for axis in axes],
        shared_yaxes="all",
    )
    for index, axis in enumerate(axes):
        effects = [effect for effect in found.main if axis in effect.levels]
        drawn.add_scatter(
            x=label.axis_values(axis, [effect.levels[axis] for effect in effects]),
            y=style.rounded(effect.size.estimate / scale.factor for effect in effects),
            error_y={
                "array": style.rounded((effect.simultaneous.half_width or 0) / scale.factor for effect in effects),
                "thickness": 1.5,
                "width": 3,
            },
            mode="lines+markers",
            line={"color": style.BLUE, "width": 2},
            marker={"size": 8},
            hovertemplate="%{x}: %{y:+.4g}<extra></extra>",
            **style.place(index),
        )
        if index % 3 == 0:
            drawn.update_yaxes(title_text=f"effect [{scale.unit}]" if scale.unit else "effect", **style.place(index))
    return drawn.add_hline(y=0, line={"color": style.GREY, "width": 1, "dash": "dot"})


def interaction(comparison: Comparison, found: Factorial, x: str, y: str) -> Any:
    """A heat map: what two levels together add beyond both main effects."""
    label = labels.Labels(comparison)
    effects = [effect for effect in found.interactions if set(effect.levels) == {x, y}]
    scale = scale_for([abs(effect.size.estimate) for effect in effects], comparison.metrics[found.metric].unit)
    at = {(repr(effect.levels[y]), repr(effect.levels[x])): effect for effect in effects}
    xs, ys = (_levels(effects, axis) for axis in (x, y))
    sizes = [[at[repr(v), repr(u)].size.estimate / scale.factor for u in xs] for v in ys]
    texts = iter(labels.evenly((size for row in sizes for size in row), sign=True))
    largest = max((abs(size) for row in sizes for size in row), default=0.0) or 1.0
    drawn = style.figure(
        f"{found.metric}: {labels.short(x)} and {labels.short(y)} together",
        f"What two levels add beyond both main effects; {_rests_on(comparison, found)}",
        x=label.axis_title(x),
        y=label.axis_title(y),
        height=140 + 44 * min(12, len(ys)),
    )
    drawn.add_heatmap(
        x=[plain(value) for value in label.axis_values(x, xs)],
        y=[plain(value) for value in label.axis_values(y, ys)],
        z=[style.rounded(row) for row in sizes],
        text=[[next(texts) for _ in row] for row in sizes],
        texttemplate="%{text}" if len(effects) <= 100 else "",
        hovertemplate=f"%{{x}}, %{{y}}: %{{z:+.4g}} {scale.unit}<extra></extra>",
        zmin=-largest,
        zmax=largest,
        colorscale="PuOr",
        colorbar={"title": {"text": scale.unit}, "thickness": 12, "outlinewidth": 0},
        xgap=2,
        ygap=2,
    )
    return drawn.update_xaxes(**style.CATEGORIES).update_yaxes(**style.CATEGORIES)


def _rests_on(comparison: Comparison, found: Factorial) -> str:
    return (
        f"over {found.seeds_used} of {found.seeds_total} seeds for which every cell has a value; "
        f"{labels.outcome_words(comparison.cells)}"
    )


def _scale(comparison: Comparison, found: Factorial) -> Scale:
    return scale_for([abs(effect.size.estimate) for effect in found.main], comparison.metrics[found.metric].unit)


def _levels(effects: Sequence[Effect], axis: str) -> list[Any]:
    return list({repr(effect.levels[axis]): effect.levels[axis] for effect in effects}.values())
