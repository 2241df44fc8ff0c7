"""What happened, as rows of one kind and component: from these both events and trace files are made."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.tracing.trace import TraceEvent

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRows:
    """Rows of one kind and component, in tick order.

    Attributes:
        kind: what the rows are; :mod:`sweep.runtime.tracing.file` lists the kinds.
        component: whose; ``""`` for the physics.
        ticks: ``(rows,)``.
        columns: what else a row says, each ``(rows,)``, and ``values`` ``(rows, width)``.
        details: what does not fit a column, a mapping per row; empty where there is nothing.
    """

    kind: str
    component: str
    ticks: NDArray[np.int64]
    columns: Columns
    details: Sequence[Mapping[str, Any]] = ()

    def __len__(self) -> int:
        return len(self.ticks)

    def where(self, chosen: NDArray[np.bool_]) -> TraceRows:
        """Those rows for which ``chosen (rows,)`` holds."""
        return TraceRows(
            kind=self.kind,
            component=self.component,
            ticks=self.ticks[chosen],
            columns={name: column[chosen] for name, column in self.columns.items()},
            details=list(itertools.compress(self.details, chosen.tolist())),
        )

    def data(self, without: Collection[str] = ()) -> Iterator[dict[str, Any]]:
        """Each row's columns, but for some, and details, as plain values."""
        columns = {name: column for name, column in self.columns.items() if name not in without}
        rows = zip(*map(_plain, columns.values()), strict=True) if columns else itertools.repeat((), len(self))
        for row, detail in itertools.zip_longest(rows, self.details):
            yield {**dict(zip(columns, row, strict=True)), **(detail or {})}

    def events(self, episode: int) -> Iterator[TraceEvent]:
        """The same as events of an episode."""
        for tick, data in zip(self.ticks.tolist(), self.data(), strict=True):
            yield TraceEvent(kind=self.kind, episode_index=episode, tick=tick, component=self.component, data=data)


def rows_of_events(events: Iterable[TraceEvent]) -> list[TraceRows]:
    """Events as rows; their data become details."""
    grouped: dict[tuple[str, str], list[TraceEvent]] = {}
    for event in events:
        grouped.setdefault((event.kind, event.component), []).append(event)
    return [
        TraceRows(
            kind=kind,
            component=component,
            ticks=np.array([event.tick for event in members], np.int64),
            columns={},
            details=[event.data for event in members],
        )
        for (kind, component), members in grouped.items()
    ]


def _plain(column: NDArray[Any]) -> list[Any]:
    """A column as plain Python values, rows of several numbers as tuples."""
    listed: list[Any] = column.tolist()
    return listed if column.ndim == 1 else list(map(tuple, listed))
