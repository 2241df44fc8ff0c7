"""Where the traces of runs are in a sweep's folder."""

from __future__ import annotations

TRACES_NAME = "traces"


def trace_place(run_id: str) -> str:
    """The file of a run's trace, relative to the sweep's folder; it exists where ``trace=events`` or ``full`` ran."""
    return f"{TRACES_NAME}/{run_id}.parquet"
