"""The artifacts of runs: tables as Parquet, what was planned, who asked with what."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.comparison import Comparison
from analysis.frame import frame
from analysis.reporting.page import report_page
from analysis.source import Sweep
from sweep.digest import canonical_json
from sweep.tracking.notes import table_text

if TYPE_CHECKING:
    import pandas

FOOTER = b"sweep.provenance"
"""Key of the provenance in a Parquet file's metadata."""


class Documents:
    """What the runs of a sweep carry, as name -> content; made when asked for.

    Args:
        sweep: the sweep.
        comparison: of its cells.
        provenance: who asked, when, with what.
    """

    def __init__(self, sweep: Sweep, comparison: Comparison, provenance: Mapping[str, Any]) -> None:
        self._sweep = sweep
        self._comparison = comparison
        self._provenance = {**provenance, "nodes": _nodes(sweep)}

    def of_cell(self, cell_id: str) -> dict[str, bytes]:
        """The artifacts of a cell's run."""
        runs = self._runs
        return {"replicates.parquet": self._parquet(runs[runs["cell_id"] == cell_id])}

    def of_sweep(self) -> dict[str, bytes]:
        """The artifacts of the sweep's run."""
        header = self._sweep.header
        texts = {
            "comparison.txt": table_text(self._comparison) + "\n",
            "report.html": report_page(self._comparison, [self._sweep], [f"sweeps/{header.name}"]),
            "comparison.json": _json(self._comparison.to_json()),
            "plan/header.json": _json(header.to_json()),
            "plan/manifest.json": _json(dict(header.manifest)),
            "plan/cells.json": _json(_cells(self._sweep)),
            "provenance.json": _json(self._provenance),
        }
        tables = {"runs.parquet": self._runs, "cells.parquet": plain_columns(self._comparison.frame())}
        return {
            **{name: text.encode() for name, text in texts.items()},
            **{name: self._parquet(table) for name, table in tables.items()},
        }

    @cached_property
    def _runs(self) -> pandas.DataFrame:
        return plain_columns(frame(self._sweep))

    def _parquet(self, table: pandas.DataFrame) -> bytes:
        import pyarrow
        import pyarrow.parquet

        columns = pyarrow.Table.from_pandas(table, preserve_index=False)
        footer = {**(columns.schema.metadata or {}), FOOTER: canonical_json(self._provenance).encode()}
        out = io.BytesIO()
        pyarrow.parquet.write_table(columns.replace_schema_metadata(footer), out)
        return out.getvalue()


def plain_columns(table: pandas.DataFrame) -> pandas.DataFrame:
    """The table with columns of mixed kinds (an axis with numbers and names) as text, which Parquet needs."""
    for column in table.columns:
        if table[column].dtype == object:
            values = list(table[column])
            if len({type(value) for value in values if value is not None}) > 1:
                table[column] = [None if value is None else str(value) for value in values]
    return table


def _nodes(sweep: Sweep) -> list[dict[str, Any]]:
    """The distinct machines that runs were on, with how many."""
    counts = Counter(
        canonical_json(dict(record.node)) for records in sweep.records.values() for record in records.values()
    )
    return [{"runs": count, **json.loads(node)} for node, count in sorted(counts.items())]


def _cells(sweep: Sweep) -> list[dict[str, Any]]:
    return [
        {
            "cell_id": cell.cell_id,
            "label": cell.label,
            "plan_id": cell.plan_id,
            "values": dict(cell.values),
            "parameters": dict(cell.parameters),
            "seeds": list(sweep.seeds[cell.cell_id]),
        }
        for cell in sweep.cells
    ]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
