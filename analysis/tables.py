"""A comparison as tables with stable column names: for a notebook, CSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.comparison import CellSummary, Comparison, Contrast, MetricContrast
from analysis.contrast import compare_read
from analysis.format import plain
from analysis.frame import frame
from analysis.interval import Interval
from analysis.source import Sweep, read
from sweep.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    import pandas

    from analysis.pairing import Recompute

FOLDER = "tables"


def export(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | Sequence[str] | None = None,
    *,
    to: Path | str | None = None,
    recompute: Recompute | None = None,
) -> list[Path]:
    """Write runs, cells and contrasts as CSV and Parquet; ``docs/tables.md`` says what each column is.

    Args:
        a: a sweep folder or a ledger file.
        b: another one; its cells are then compared with those of ``a``.
        baseline: which cell others are compared with; see :func:`analysis.baseline.choose_baseline`.
        to: the folder to write, made if need be; ``tables`` in the sweep's folder by default (with two sweeps, in the
            folder of ``b``, with the name of ``a`` in its own).
        recompute: proves runs of different length paired; see :func:`analysis.contrast.compare`.

    Returns:
        The files.

    Raises:
        LedgerError: there is no readable ledger.
        InvalidInputError: no cell is called ``baseline``, the two share no cell, or the folder cannot be written.
    """
    sweeps = [read(place) for place in (a, b) if place is not None]
    comparison = compare_read(sweeps, baseline, recompute=recompute)
    last = Path(b or a)
    name = FOLDER if b is None else f"{FOLDER}-against-{sweeps[0].header.name}"
    folder = Path(to) if to is not None else (last if last.is_dir() else last.parent) / name
    tables = {"runs": runs_table(sweeps), "cells": cells_table(comparison), "contrasts": contrasts_table(comparison)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [path for name, table in tables.items() for path in _written(table, folder / name)]
    except OSError as error:
        raise InvalidInputError("export", [Problem(str(folder), f"cannot be written: {error.strerror}")]) from error


def _written(table: pandas.DataFrame, stem: Path) -> tuple[Path, Path]:
    csv, parquet = stem.with_suffix(".csv"), stem.with_suffix(".parquet")
    table.to_csv(csv, index=False)
    table.to_parquet(parquet, index=False)
    return csv, parquet


def runs_table(sweeps: Sequence[Sweep]) -> pandas.DataFrame:
    """A row per run that has a record, as :func:`analysis.frame.load` has them, with the sweep's name before them."""
    import pandas

    tables = []
    for sweep in sweeps:
        table = frame(sweep)
        table.insert(0, "sweep", sweep.header.name)
        tables.append(table)
    return _columnar(pandas.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0])


def cells_table(comparison: Comparison) -> pandas.DataFrame:
    """A row per cell: :meth:`analysis.comparison.Comparison.frame`."""
    return _columnar(comparison.frame())


def contrasts_table(comparison: Comparison) -> pandas.DataFrame:
    """A row per compared cell and metric."""
    import pandas

    rows = [
        _contrast_row(comparison, cell, cell.contrast, metric, found)
        for cell in comparison.cells
        if cell.contrast is not None
        for metric, found in cell.contrast.metrics.items()
    ]
    return _columnar(pandas.DataFrame(rows, columns=CONTRAST_COLUMNS))


CONTRAST_COLUMNS = (
    *("sweep", "cell_id", "cell", "against", "change", "metric", "unit", "better", "is_paired"),
    *("pairs_used", "pairs_total", "difference", "difference_low", "difference_high"),
    *("simultaneous_low", "simultaneous_high", "bootstrap_low", "bootstrap_high"),
    *("percent", "percent_low", "percent_high", "withheld", "rank_p", "rank_lean"),
    *("correlation", "variance_ratio", "noise", "both", "only_base", "only_cell", "neither", "excluded"),
    *("success_difference", "success_difference_low", "success_difference_high", "mcnemar_p"),
)
"""Columns of :func:`contrasts_table`; new ones come last."""


def _contrast_row(
    comparison: Comparison, cell: CellSummary, contrast: Contrast, metric: str, found: MetricContrast
) -> dict[str, Any]:
    outcome, info = contrast.outcome, comparison.metrics[metric]
    return {
        "sweep": cell.sweep,
        "cell_id": cell.cell_id,
        "cell": cell.label,
        "against": contrast.against,
        "change": contrast.change,
        "metric": metric,
        "unit": info.unit,
        "better": info.better,
        "is_paired": contrast.is_paired,
        "pairs_used": found.pairs_used,
        "pairs_total": found.pairs_total,
        **dict(_limits("difference", found.difference)),
        **dict(_limits("simultaneous", found.simultaneous)),
        **dict(_limits("bootstrap", found.bootstrap)),
        **dict(_limits("percent", found.percent)),
        "withheld": found.withheld,
        "rank_p": found.rank_p,
        "rank_lean": found.rank_lean,
        "correlation": found.receipt.correlation,
        "variance_ratio": found.receipt.variance_ratio,
        "noise": contrast.streams.words,
        "both": outcome.both,
        "only_base": outcome.only_base,
        "only_cell": outcome.only_cell,
        "neither": outcome.neither,
        "excluded": outcome.excluded,
        **dict(_limits("success_difference", outcome.difference)),
        "mcnemar_p": outcome.p,
    }


def _limits(name: str, value: Interval | None) -> Iterator[tuple[str, float | None]]:
    yield name, value.estimate if value else None
    yield f"{name}_low", value.low if value else None
    yield f"{name}_high", value.high if value else None


_TEXTS = {
    "sweep",
    "run_id",
    "cell_id",
    "outcome",
    "reason",
    "trace_digest",
    *CONTRAST_COLUMNS[1:8],
    "withheld",
    "noise",
}


def _columnar(table: pandas.DataFrame) -> pandas.DataFrame:
    """The same table with one type per column, whatever it holds: numbers, truth values or texts."""
    for name in table.columns[[str(kind) == "object" for kind in table.dtypes]]:
        kinds = set(table[name].dropna().map(type))
        if name not in _TEXTS and kinds <= {int, float}:
            table[name] = table[name].astype(float)
        elif not kinds <= {str} and not kinds <= {bool}:
            table[name] = table[name].map(plain)
    return table
