"""How long runs last: the share still running over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis import labels
from analysis.comparison import Comparison
from analysis.figures import style
from analysis.survival import Survival


def running(comparison: Comparison, found: Sequence[Survival], horizon_s: float) -> Any:
    """A staircase per cell with its band; the cell's name stands at its end.

    Args:
        comparison: the comparison.
        found: from :func:`analysis.survival.survival`, those to draw.
        horizon_s: until when to draw [s].
    """
    label = labels.Labels(comparison)
    rows = {row.cell_id: row for row in comparison.cells}
    cells = [rows[one.cell_id] for one in found]
    drawn = style.figure(
        "How long the runs last",
        f"Share still running, with 95 % bands, {_counts(found)} per cell; runs that completed would have gone on; "
        f"{labels.outcome_words(cells)}",
        x="time [s]",
        y="still running",
        height=380,
        margin_r=170,
    )
    for index, (one, cell) in enumerate(zip(found, cells, strict=True)):
        colour = style.CYCLE[index % len(style.CYCLE)]
        _band(drawn, one, horizon_s, style.faint(colour, 0.15))
        drawn.add_scatter(
            x=style.rounded([0.0, *one.times.tolist(), horizon_s]),
            y=_stairs(one.running.tolist()),
            mode="lines",
            name=label.cell_name(cell),
            line={"shape": "hv", "width": 2.5, "color": colour},
            hovertemplate=f"%{{x:.4g}} s: %{{y:.0f}} %<extra>{label.cell_name(cell)}</extra>",
        )
    _name_ends(drawn, [label.cell_name(cell) for cell in cells], [_last(one) for one in found], horizon_s)
    return drawn.update_yaxes(range=[-3, 103], ticksuffix=" %").update_xaxes(range=[0, horizon_s])


def _band(drawn: Any, one: Survival, horizon_s: float, colour: str) -> None:
    """Between the limits, as far as there are any: where nothing runs any more, there are none."""
    count = int(np.isfinite(one.low).sum())
    end = horizon_s if count == len(one.times) else float(one.times[count])
    for limit, fill in ((one.high, None), (one.low, "tonexty")):
        drawn.add_scatter(
            x=style.rounded([0.0, *one.times[:count].tolist(), end]),
            y=_stairs(limit[:count].tolist()),
            mode="lines",
            line={"shape": "hv", "width": 0},
            fill=fill,
            fillcolor=colour,
            hoverinfo="skip",
        )


def _counts(found: Sequence[Survival]) -> str:
    few, many = min(one.n for one in found), max(one.n for one in found)
    return f"{few} runs" if few == many else f"{few} to {many} runs"


def _stairs(shares: Sequence[float]) -> list[float | None]:
    """Percentages from the start to the horizon."""
    return style.rounded([100.0, *(100 * share for share in shares), 100 * (shares[-1] if shares else 1.0)])


def _last(one: Survival) -> float:
    return 100 * float(one.running[-1]) if len(one.running) else 100.0


def _name_ends(drawn: Any, names: Sequence[str], ends: Sequence[float], horizon_s: float) -> None:
    """Names beside the ends of lines, pushed apart where ends are close [%]."""
    place = 110.0
    for index in sorted(range(len(ends)), key=lambda i: -ends[i]):
        place = min(place - 7.0, ends[index])
        note = {"text": names[index], "xanchor": "left", "xshift": 6, "showarrow": False}
        drawn.add_annotation(x=horizon_s, y=place, **note)
