"""The traces of runs, as tables: what happened in a run, and its signals side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sweep.errors import InvalidInputError, Problem
from sweep.results.traces import TRACES_NAME

_LISTED = 8
_NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}


def load_trace(folder: Path | str, run_id: str) -> pd.DataFrame:
    """What happened in one run, a row per event.

    Args:
        folder: the sweep's folder.
        run_id: the run, or a unique beginning of its id.

    Returns:
        The columns of the file (``kind``, ``tick``, ``time_s``, ``component``, ``values``, ...; those that may be
        absent are nullable), with its metadata in ``attrs``: ``run_id``, ``seed``, ``columns`` and the others.

    Raises:
        InvalidInputError: no trace, or several, begin like this; what there is, is listed.
    """
    table = pq.read_table(_file(Path(folder), run_id))
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=_NULLABLE.get)
    frame.attrs = {**metadata, "columns": json.loads(metadata["columns"])}
    return frame


def signals(trace: pd.DataFrame, kind: str, component: str = "") -> pd.DataFrame:
    """The ``values`` of one kind and component side by side.

    Args:
        trace: from :func:`load_trace`.
        kind: for example ``boundary``, ``control``, ``sample``, ``application``.
        component: whose; the physics has no name.

    Returns:
        A row per row of the trace, by ``time_s`` [s]; a column per number, by its name (by its position where numbers
        have none).

    Raises:
        InvalidInputError: there are no such rows; what there is, is listed.
    """
    rows = trace[(trace["kind"] == kind) & (trace["component"] == component)]
    if rows.empty:
        pairs = trace[["kind", "component"]].drop_duplicates().itertuples(index=False)
        there = ", ".join(f"{k} of {c!r}" if c else k for k, c in pairs)
        raise InvalidInputError(
            "trace", [Problem(f"{kind} of {component!r}", f"there are no such rows. There is: {there}")]
        )
    values = np.stack(rows["values"].to_list())
    names = trace.attrs["columns"].get(kind, {}).get(component)
    return pd.DataFrame(values, index=pd.Index(rows["time_s"], name="time_s"), columns=names or None)


def _file(folder: Path, prefix: str) -> Path:
    found = {path.stem: path for path in sorted((folder / TRACES_NAME).glob("*.parquet"))}
    matching = [run_id for run_id in found if run_id.startswith(prefix)]
    if len(matching) == 1:
        return found[matching[0]]
    if not found:
        advice = f"run the sweep with trace=events or trace=full, or `python -m sweep replay {prefix} --trace`"
        message = f"{folder} has no traces; {advice}"
    else:
        some = ", ".join(list(matching or found)[:_LISTED])
        message = f"{len(matching) or 'no'} traces begin like this. There is: {some}"
    raise InvalidInputError("trace", [Problem(f"{prefix!r}", message)])
