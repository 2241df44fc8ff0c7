"""One HTML file that holds everything: styles, figures, numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from analysis.comparison import Comparison
from analysis.figures import style
from analysis.labels import Labels, counted, outcome_words
from analysis.reporting import sources
from analysis.reporting.exhibits import Exhibit, Exhibits
from analysis.reporting.rows import CellRows

if TYPE_CHECKING:
    from jinja2 import Environment

    from analysis.source import Sweep

MOST_METRICS = 8
"""Metrics that get figures; all of them are in the table."""


def report_page(comparison: Comparison, sweeps: Sequence[Sweep], places: Sequence[str]) -> str:
    """The report of a comparison.

    Args:
        comparison: the comparison.
        sweeps: the sweep, or the two sweeps, that were compared.
        places: their folders, as people type them.
    """
    label, exhibits = Labels(comparison), Exhibits(comparison, sweeps)
    finding, _, rest = _unbroken(comparison.headline).partition(". ")
    metrics = {metric: exhibits.of_metric(metric) for metric in list(comparison.metrics)[:MOST_METRICS]}
    return _page(
        "report.html",
        comparison.title,
        comparison=comparison,
        finding=finding,
        rest=rest,
        baseline=label.baseline_name,
        contrasts=sum(cell.contrast is not None for cell in comparison.cells),
        paired=sum(cell.contrast is not None and cell.contrast.is_paired for cell in comparison.cells),
        outcome_words=outcome_words(comparison.cells),
        outcomes=[_shown(exhibit) for exhibit in exhibits.of_outcomes()],
        axis_heads=label.axis_heads(),
        metric_heads=[(label.metric_scale(name).head(name), info.better) for name, info in comparison.metrics.items()],
        cells=CellRows(comparison, sweeps, places).shown(),
        metrics={metric: [_shown(one) for one in shown] for metric, shown in metrics.items() if shown},
        receipts=sources.receipts(label),
        streams=sources.streams(comparison),
        sources=[(s.header.name, sources.provenance(s, place)) for s, place in zip(sweeps, places, strict=True)],
        places=places,
        counted=counted,
    )


def figure_page(figure: Any) -> str:
    """A page with one figure."""
    drawn = _shown(Exhibit(figure=figure))
    return _page("figure.html", drawn["title"], shown=drawn)


def _page(template: str, title: str, **values: Any) -> str:
    from plotly.offline import get_plotlyjs

    looks = {"light": style.template(), "dark": style.template(dark=True)}
    page = _environment().get_template(template)
    return page.render(title=title, plotly=get_plotlyjs(), looks=_script(looks), **values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("analysis", "reporting/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(exhibit: Exhibit) -> dict[str, Any]:
    """An exhibit for the template: title and caption as text of the page, the rest as plotly's JSON."""
    drawn = exhibit.figure.to_plotly_json()
    layout = dict(drawn["layout"])
    title = layout.pop("title", {})
    layout.pop("template", None)
    layout["margin"] = {**layout["margin"], "t": layout["margin"]["t"] - 44}
    layout["height"] = layout["height"] - 44
    return {
        "title": title.get("text", ""),
        "caption": title.get("subtitle", {}).get("text", ""),
        "height": layout["height"],
        "json": _script({"data": drawn["data"], "layout": layout}),
        "table": exhibit.table,
    }


def _unbroken(sentence: str) -> str:
    """A sentence whose intervals stay on one line."""
    return re.sub(r" ?[%]? ?\[[^]]*\]", lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), sentence)


def _script(value: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
