"""How figures look: colours that colour-blind readers tell apart, and nothing that carries no meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, GREY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#e69f00",
    "#cc79a7",
    "#56b4e9",
    "#888888",
)
"""All of them stand out from white and from near-black.

Source: M. Okabe and K. Ito, Color Universal Design (2008); grey instead of its black and yellow.
"""

CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
SCALE = "Cividis"
"""Of heat maps: even in lightness, and the same to colour-blind readers (Nuñez, Anderton, Renslow 2018)."""

CATEGORIES = {"type": "category", "showgrid": False, "nticks": 25}
"""An axis of a heat map."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
SMALL = 12
"""Size of text in figures [px]."""


def template(*, dark: bool = False) -> dict[str, Any]:
    """A plotly template for light or dark pages; backgrounds are the page's."""
    ink, grid = ("#e6edf3", "#343b44") if dark else ("#1f2328", "#e1e4e8")
    axis = {
        "gridcolor": grid,
        "linecolor": grid,
        "zerolinecolor": "#6e7781",
        "zeroline": False,
        "ticks": "",
        "automargin": True,
        "title": {"standoff": 10},
        "separatethousands": True,
    }
    return {
        "layout": {
            "font": {"family": FONT, "size": SMALL, "color": ink},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": list(CYCLE),
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"font": {"family": FONT}},
            "title": {"x": 0, "xref": "paper", "xanchor": "left"},
        }
    }


def figure(title: str, caption: str, *, x: str = "", y: str = "", height: int = 360, **layout: Any) -> Any:
    """An empty figure.

    Args:
        title: what is drawn.
        caption: what a reader has to know to read it: n, outcomes, what the marks mean.
        x: title of the horizontal axis, with its unit.
        y: title of the vertical axis, with its unit.
        height: [px].
        layout: more of plotly's layout.
    """
    import plotly.graph_objects as go

    empty = go.Figure()
    empty.update_layout(
        template=template(),
        title={"text": title, "subtitle": {"text": caption}},
        height=height,
        showlegend=False,
        margin={"l": 60, "r": 24, "t": 60, "b": 48},
        xaxis={"title": {"text": x}},
        yaxis={"title": {"text": y}},
    )
    return empty.update_layout(**layout)


def panels(title: str, caption: str, names: Iterable[str], *, across: int = 3, **grid: Any) -> Any:
    """An empty figure of several plots, ``across`` in a row at most; ``grid`` is for plotly's ``make_subplots``."""
    from plotly.subplots import make_subplots

    titles = list(names)
    columns = min(across, max(1, len(titles)))
    rows = -(-max(1, len(titles)) // columns)
    empty = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=titles,
        horizontal_spacing=0.08 if columns > 1 else 0,
        vertical_spacing=min(0.2, 0.5 / rows),
        **grid,
    )
    empty.update_layout(
        template=template(),
        title={"text": title, "subtitle": {"text": caption}},
        height=110 + 230 * rows,
        showlegend=False,
        margin={"l": 60, "r": 24, "t": 92, "b": 48},
    )
    return empty.update_annotations(font_size=SMALL)


def place(index: int, across: int = 3) -> dict[str, int]:
    """Where the plot with this index is, as plotly counts."""
    return {"row": index // across + 1, "col": index % across + 1}


def faint(colour: str, opacity: float = 0.2) -> str:
    """A colour that lets what is behind it through."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def rounded(values: Iterable[float | None], digits: int = 5) -> list[float | None]:
    """Numbers with as many digits as a screen shows, which keeps files small."""
    return [None if value is None else float(f"{value:.{digits}g}") for value in values]
