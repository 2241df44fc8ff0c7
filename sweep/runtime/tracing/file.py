"""One run's trace as a Parquet file: one long table that says what happened, when, to whom.

``pandas.read_parquet(file)`` gives it; ``frame[frame.kind == "sample"]`` chooses.  Rows stand by kind and component,
in tick order within those; ``frame.sort_values("tick", kind="stable")`` puts all of them in the order of happening.
What does not concern a row is null.

======================  ======================================================================================
kind                    a row is
======================  ======================================================================================
``boundary``            full: the state at a boundary: qpos, qvel, act
``sensor``              full: MuJoCo's sensordata of a step: sensors of positions and velocities at its first
                        boundary, those of forces and accelerations as the step computes them, with its controls
``control``             full: the controls of a step, all actuators
``push``                a push on a body that began: force and torque, the tick it is over in ``detail``
``input``               a committed input; ``tick`` is its commit
``stale``               an input dropped at its commit, since a later one of its source had been committed
``sample``              a sample of a device; ``tick`` is its actual acquisition
``application``         what a driver applied from this step on: its first step, and each in which it changed
``fact``                a domain fact that was committed
``state``               a change of domain state that was committed
``deferred``            a physical action that was deferred
``end``, ``fault``      how the episode stopped
``cancelled``           a sample, an input or a deferred action that was under way when the episode was over
======================  ======================================================================================

======================  ======================================================================================
column                  meaning
======================  ======================================================================================
kind                    see above
tick                    the boundary or the step
time_s                  ``tick`` times the timestep [s]
component               the component's id; empty for the physics
index                   of a sample: its acquisition number
nominal_acquisition_s   when its schedule asked for it [s]
actual_acquisition_s    the boundary it describes [s]
requested_delivery_s    actual acquisition plus latency [s]
actual_delivery_s       the boundary from which it was visible [s]; null if it was lost
delivered_tick          the same as a tick
stamp_s                 what the device's own clock said at acquisition [s]; null without such a clock
lost                    whether a sample or an input was lost on its way
values                  the numbers, SI units; the metadata ``columns`` names them
source_id               of an input: who sent it
source_sequence         the sender's own count
acceptance              the number it was accepted under, unique in the run; 0 of a controller's
effective_s             when it was meant for [s]
arrival_tick            when the driver received it; null if it was lost
detail                  everything else as JSON
======================  ======================================================================================

The schema's metadata hold, as text: ``run_id``, ``plan_id``, ``seed``, ``trace`` (the level), ``timestep_s``,
``columns`` (JSON, kind -> component -> names of ``values``) and the versions of what computed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sweep.digest import canonical_json
from sweep.plan.instants import LaneInstants
from sweep.plan.plan import run_id
from sweep.plan.sections import TraceLevel
from sweep.runtime.tracing.batch_trace import SIGNALS, BatchTrace
from sweep.runtime.tracing.names import value_names
from sweep.runtime.tracing.rows import TraceRows

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch

SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("tick", pa.int64()),
        ("time_s", pa.float64()),
        ("component", pa.string()),
        ("index", pa.int64()),
        ("nominal_acquisition_s", pa.float64()),
        ("actual_acquisition_s", pa.float64()),
        ("requested_delivery_s", pa.float64()),
        ("actual_delivery_s", pa.float64()),
        ("delivered_tick", pa.int64()),
        ("stamp_s", pa.float64()),
        ("lost", pa.bool_()),
        ("values", pa.list_(pa.float64())),
        ("source_id", pa.string()),
        ("source_sequence", pa.int64()),
        ("acceptance", pa.int64()),
        ("effective_s", pa.float64()),
        ("arrival_tick", pa.int64()),
        ("detail", pa.string()),
    ]
)

_REPEATED = ["kind", "component", "source_id"]
"""Columns of few different texts."""

_TYPES = dict(zip(SCHEMA.names, SCHEMA.types, strict=True))

_NULL_IF_LOST = {"actual_delivery_s", "delivered_tick", "arrival_tick"}

_KNOWN = {*SCHEMA.names, "acquired_tick"}
"""Columns of rows that the table says; the acquired tick is the tick."""


class TraceTables:
    """The traces of a batch whose runs are over, as tables.

    Args:
        batch: a batch that keeps events; nothing can be sent to it any more.
    """

    def __init__(self, batch: InstanceBatch) -> None:
        self._batch = batch
        self._trace = BatchTrace(batch, batch.mailbox.cancel())
        self._names = canonical_json(value_names(batch))
        self._instants = LaneInstants.of([(batch.grid.timestep, Fraction(0))])

    def lane(self, lane: int, level: TraceLevel, **more: str) -> pa.Table:
        """A lane's trace at a level that the batch keeps; ``more`` is metadata that the batch does not know."""
        plan, seed, grid = self._batch.plans[lane], self._batch.seeds[lane], self._batch.grid
        rows = [part for part in self._trace.rows(lane) if level == "full" or part.kind not in SIGNALS]
        metadata = {
            "run_id": run_id(plan.plan_id, seed),
            "plan_id": plan.plan_id,
            "seed": str(seed),
            "trace": level,
            "timestep_s": str(grid.timestep),
            "columns": self._names,
            **more,
        }
        parts = [_table(part, self._instants) for part in rows]
        table = pa.concat_tables(parts) if parts else SCHEMA.empty_table()
        return table.replace_schema_metadata(metadata)


def parquet_bytes(table: pa.Table) -> memoryview:
    """The table as a Parquet file; equal tables give equal bytes."""
    sink = pa.BufferOutputStream()
    # The cheapest that is small: noise does not compress, but the leading bytes of like numbers do.
    pq.write_table(
        table,
        sink,
        compression="lz4",
        use_dictionary=_REPEATED,
        use_byte_stream_split=["values.list.element"],
        write_statistics=False,
    )
    return memoryview(sink.getvalue())


def trace_metadata(place: Path | str) -> dict[str, str] | None:
    """The metadata of a trace file; None if it is not there or no trace."""
    try:
        found = pq.read_schema(place).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return None
    texts = {key.decode(): value.decode() for key, value in found.items()}
    return texts if "trace" in texts else None


def _table(rows: TraceRows, instants: LaneInstants) -> pa.Table:
    given: dict[str, Any] = {"tick": rows.ticks, "time_s": instants.at(rows.ticks), **rows.columns}
    if rows.details or not _KNOWN.issuperset(rows.columns):
        given["detail"] = [canonical_json(data) for data in rows.data(without=_KNOWN)]
    arrival = next((rows.columns[name] for name in ("delivered_tick", "arrival_tick") if name in rows.columns), None)
    lost = None if arrival is None else arrival < 0
    if lost is not None:
        given["lost"] = lost
    arrays = {name: _array(column, name, lost) for name, column in given.items() if name in _TYPES}
    arrays |= {name: _repeated(text, len(rows)) for name, text in (("kind", rows.kind), ("component", rows.component))}
    columns = [arrays[name] if name in arrays else pa.nulls(len(rows), kind) for name, kind in _TYPES.items()]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


# What follows builds Arrow's arrays on the memory there is: pa.array() would look at every number, and import pandas.


def _array(column: Any, name: str, lost: NDArray[np.bool_] | None) -> pa.Array:
    kind = _TYPES[name]
    if name == "values":
        return _vectors(np.ascontiguousarray(column, np.float64))
    if pa.types.is_string(kind):
        return _texts(column)
    valid = _bits(~lost) if lost is not None and name in _NULL_IF_LOST else None
    data = _bits(column) if pa.types.is_boolean(kind) else pa.py_buffer(np.ascontiguousarray(column))
    return pa.Array.from_buffers(kind, len(column), [valid, data])


def _vectors(values: NDArray[np.float64]) -> pa.Array:
    count, width = values.shape
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    numbers = pa.Array.from_buffers(pa.float64(), values.size, [None, pa.py_buffer(values)])
    return pa.Array.from_buffers(pa.list_(pa.float64()), count, [None, pa.py_buffer(offsets)], children=[numbers])


def _texts(column: Iterable[Any]) -> pa.Array:
    texts = [str(text).encode() for text in column]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))])


def _repeated(text: str, count: int) -> pa.Array:
    data = text.encode()
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(len(data))
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data * count)])


def _bits(flags: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
