"""The runs of a sweep as a pandas table with stable column names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.source import Sweep, read

if TYPE_CHECKING:
    import pandas

FIXED = ("run_id", "cell_id", "seed", "outcome", "reason", "trace_digest")


def load(folder: Path | str) -> pandas.DataFrame:
    """A row per run that has a record, in the order of cells and seeds.

    Columns: ``run_id``, ``cell_id``, ``seed``, ``outcome``, ``reason`` (of an end) or kind (of a fault),
    ``trace_digest``; then one per declared axis and per full path swept (SI units), one per metric (NaN
    where the run has no value), and the trace summaries as ``component/quantity``.  A name that is taken
    already is prefixed: ``axis/seed``, ``metric/latency``.

    Args:
        folder: a sweep folder, or its ledger file.

    Raises:
        LedgerError: there is no readable ledger.
    """
    return frame(read(folder))


def frame(sweep: Sweep, cell_id: str | None = None) -> pandas.DataFrame:
    """The table of a sweep that was read already, or of one of its cells."""
    import pandas

    taken = set(FIXED)
    axes = _columns(sweep.keys, "axis", taken)
    metrics = _columns(_metrics(sweep), "metric", taken)
    rows: list[dict[str, Any]] = []
    for cell in sweep.cells:
        if cell_id not in (None, cell.cell_id):
            continue
        for seed, record in sorted(sweep.records[cell.cell_id].items()):
            row: dict[str, Any] = {
                "run_id": record.run_id,
                "cell_id": cell.cell_id,
                "seed": seed,
                "outcome": record.outcome.status.value,
                "reason": record.outcome.reason or record.outcome.kind,
                "trace_digest": record.trace_digest,
            }
            row |= {axes[k]: cell.values.get(k) for k in axes}
            row |= {metrics[m]: record.metrics.get(m) for m in metrics}
            rows.append(row | dict(record.summaries))
    empty = [*FIXED, *axes.values(), *metrics.values()]
    table = pandas.DataFrame(rows, columns=None if rows else empty)
    for column in metrics.values():
        table[column] = table[column].astype(float)
    return table


def _metrics(sweep: Sweep) -> tuple[str, ...]:
    names = dict.fromkeys(sweep.header.metrics)
    for records in sweep.records.values():
        for record in records.values():
            names.update(dict.fromkeys(record.metrics))
    return tuple(names)


def _columns(names: tuple[str, ...], kind: str, taken: set[str]) -> dict[str, str]:
    columns = {name: f"{kind}/{name}" if name in taken else name for name in names}
    taken.update(columns.values())
    return columns
