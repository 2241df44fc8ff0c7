"""How a reader's declaration turns a block's records into single boundaries of single lanes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from numpy.typing import NDArray

from sweep.runtime.block import BlockView
from sweep.runtime.context import BatchContext
from sweep.runtime.own.view import Boundary
from sweep.runtime.reading import EVERYTHING
from sweep.runtime.reads import Reads, StateLevel


class Sight:
    """What one component of the user's own is shown.

    Args:
        reads: its declaration; ``EVERYTHING`` if it made none.
        context: the batch.
    """

    def __init__(self, reads: Reads, context: BatchContext) -> None:
        self._reads, self._grid = reads, context.grid

    def current(self, view: BlockView, lane: int, tick: int) -> Boundary:
        """P_tick as DeviceUpdate of that tick sees it."""
        row = tick - view.block.start
        return Boundary(
            tick=tick,
            time_s=self._grid.time_s(tick),
            row=view.boundaries[lane, row],
            controls=None,
            fields=self._fields(view.opening, view, lane, row),
            whole=partial(view.whole_at_start, lane) if self._reads is EVERYTHING and view.whole_at_start else None,
            forces=self._reads.level is StateLevel.FULL,
        )

    def completed(self, view: BlockView, lane: int, step: int) -> Boundary:
        """P_(step + 1) as phases 9 to 11 of that step see it."""
        row = step - view.block.start
        return Boundary(
            tick=step + 1,
            time_s=self._grid.time_s(step + 1),
            row=view.boundaries[lane, row + 1],
            controls=view.controls[lane, row],
            fields=self._fields(view.closing, view, lane, row + 1),
            whole=partial(view.whole_at_stop, lane) if self._reads is EVERYTHING and view.whole_at_stop else None,
            forces=self._reads.level is StateLevel.FULL,
        )

    def _fields(
        self, full: Mapping[str, NDArray[Any]], view: BlockView, lane: int, row: int
    ) -> dict[str, NDArray[Any]]:
        if self._reads.level is StateLevel.FULL:
            return {field: full[field][lane] for field in self._reads.fields}
        return {field: view.derived[field][lane, row] for field in self._reads.fields}
