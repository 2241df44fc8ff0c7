"""Figures, as self-contained HTML that opens without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_COLOURS = ("#1f6feb", "#d9730d", "#8b949e")
_MOST_POINTS = 2000
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


def page(title: str, subtitle: str, panels: Sequence[Panel]) -> str:
    """An HTML page with the panels one below the other on a common time axis; one colour per label throughout."""
    from plotly.subplots import make_subplots

    rows = max(1, len(panels))
    figure: Any = make_subplots(rows=rows, cols=1, shared_xaxes=True, subplot_titles=[p.title for p in panels],
                                vertical_spacing=min(0.06, 0.5 / rows))  # fmt: skip
    labels = list(dict.fromkeys(label for panel in panels for label in panel.curves))
    for row, panel in enumerate(panels, start=1):
        for label, (times, values) in panel.curves.items():
            stride = max(1, len(times) // _MOST_POINTS)
            figure.add_scatter(
                x=times[::stride],
                y=values[::stride],
                name=label,
                legendgroup=label,
                showlegend=row == 1,
                line={"color": _COLOURS[labels.index(label) % len(_COLOURS)], "width": 1.5},
                row=row,
                col=1,
            )
    figure.update_layout(
        title={"text": f"{title}<br><sub>{subtitle}</sub>"},
        height=160 + 190 * rows,
        template="plotly_white",
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 1.0, "xanchor": "right"},
        margin={"t": 130},
    )
    figure.update_xaxes(title_text="time [s]", row=rows, col=1)
    html: str = figure.to_html(include_plotlyjs=True, full_html=True)
    return html
