"""Signals of runs over time, one plot below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.figures import style

Floats = NDArray[np.float64]

MOST_POINTS = 2000
"""Points drawn per curve; a screen has no more columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One plot of a figure.

    Attributes:
        title: what is drawn, with its unit.
        curves: label -> (times [s], values).
    """

    title: str
    curves: Mapping[str, tuple[Floats, Floats]]


def signals(title: str, caption: str, panels: Sequence[Panel]) -> Any:
    """The panels on a common time axis; one colour per label throughout."""
    drawn = style.panels(title, caption, [panel.title for panel in panels], across=1, shared_xaxes=True)
    labels = list(dict.fromkeys(label for panel in panels for label in panel.curves))
    for index, panel in enumerate(panels):
        for label, (times, values) in panel.curves.items():
            stride = max(1, len(times) // MOST_POINTS)
            drawn.add_scatter(
                x=style.rounded(times[::stride], 7),
                y=style.rounded(values[::stride]),
                mode="lines",
                name=label,
                legendgroup=label,
                showlegend=index == 0,
                line={"color": style.CYCLE[labels.index(label) % len(style.CYCLE)], "width": 1.5},
                **style.place(index, across=1),
            )
    legend = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 1.0, "xanchor": "right"}
    drawn.update_layout(showlegend=True, legend=legend, height=160 + 190 * max(1, len(panels)))
    return drawn.update_xaxes(title_text="time [s]", row=max(1, len(panels)), col=1)
