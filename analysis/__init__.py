"""What the ledger says: a table per run, a comparison per cell.

>>> from analysis import load, compare, render
>>> frame = load("sweeps/arm-1a2b3c4d")          # pandas, a row per run
>>> comparison = compare("sweeps/arm-1a2b3c4d")  # values: means, paired differences, outcomes
>>> rich.print(render(comparison))

Importing this package imports neither pandas nor SciPy; the functions below do, when called.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas
    from rich.console import RenderableType

    from analysis.comparison import Comparison
    from analysis.pairing import Recompute


def load(folder: Path | str) -> pandas.DataFrame:
    """A row per run that has a record; see :func:`analysis.frame.load`."""
    from analysis import frame

    return frame.load(folder)


def load_trace(folder: Path | str, run_id: str) -> pandas.DataFrame:
    """What happened in one run, a row per event; see :func:`analysis.traces.load_trace`."""
    from analysis import traces

    return traces.load_trace(folder, run_id)


def compare(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | Sequence[str] | None = None,
    *,
    recompute: Recompute | None = None,
    bootstrap: bool = False,
    quantile: float | None = None,
) -> Comparison:
    """The cells of a sweep against its baseline, or sweep ``b`` against ``a``; see :func:`analysis.contrast.compare`.

    ``bootstrap`` adds BCa intervals from 32 pairs on, ``quantile`` that quantile of each cell's runs.
    """
    from analysis.contrast import compare as implementation
    from analysis.pairs import Extras

    extras = Extras(bootstrap=bootstrap, quantile=quantile)
    return implementation(a, b, baseline, recompute=recompute, extras=extras)


def report(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | Sequence[str] | None = None,
    *,
    to: Path | str | None = None,
    recompute: Recompute | None = None,
) -> Path:
    """Write a comparison as one HTML file, with figures; see :func:`analysis.reporting.report`."""
    from analysis.reporting import report as implementation

    return implementation(a, b, baseline, to=to, recompute=recompute)


def render(comparison: Comparison, *, width: int = 80, is_whole: bool = False) -> RenderableType:
    """A comparison as a table for the terminal, with every cell if ``is_whole``; see :func:`analysis.table.render`."""
    from analysis.table import MOST
    from analysis.table import render as implementation

    return implementation(comparison, width=width, most=None if is_whole else MOST)


def export(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | Sequence[str] | None = None,
    *,
    to: Path | str | None = None,
    recompute: Recompute | None = None,
) -> list[Path]:
    """Write runs, cells and contrasts as CSV and Parquet; see :func:`analysis.tables.export`."""
    from analysis.tables import export as implementation

    return implementation(a, b, baseline, to=to, recompute=recompute)
