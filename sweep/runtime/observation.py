"""What only looks back can wait: completed steps are gathered and handed on in larger pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.block import Block, BlockView
from sweep.runtime.inputs import joined_inputs
from sweep.runtime.tracing.recorder import TraceRecorder
from sweep.runtime.tracing.trace import TraceColumn

Floats = NDArray[np.float64]

_PIECE_BYTES = 1024 * 1024
"""Size of a piece: large enough to make calls few, small enough to stay in the second-level cache."""

_PIECE_TICKS = 256
"""Longest piece; what a lone lane would gain by more is little."""


class Observer(Protocol):
    """What looks at completed steps; one without ``reads`` is served a full forward every tick."""

    def fold(self, view: BlockView) -> None:
        """Take in the completed steps of a view, in tick order."""


class Observation:
    """Phases 11 and 12: Observers and the trace of completed steps.

    Both are folds over steps in tick order, so where pieces begin and end changes no bit; a call costs as much for five
    ticks as for fifty.  Boundaries of successive blocks stand side by side in one array, which is used again and again.

    Args:
        observers: who looks.
        columns: the trace's columns: ``states``, ``controls`` and, where there are other inputs, ``inputs``.
        width: numbers of a boundary.
        recorder: what is kept for traces above the level of summaries.
    """

    def __init__(self, observers: Iterable[Observer], columns: Mapping[str, TraceColumn], width: int,
                 recorder: TraceRecorder | None = None) -> None:  # fmt: skip
        self._observers = tuple(observers)
        self._recorder = recorder
        self._columns = columns
        lanes = columns["states"].lanes
        self._capacity = max(1, min(_PIECE_TICKS, _PIECE_BYTES // (8 * lanes * width)))
        self._boundaries: Floats = np.empty((lanes, self._capacity + 1, width))
        self._waiting: list[BlockView] = []
        self._ticks = 0

    def room(self, block: Block, start: Floats) -> Floats:
        """Where the boundaries of a block go, ``(lanes, length + 1, width)``; its first one, ``start``, is there."""
        if self._ticks + block.length > self._capacity:
            self.flush()
        if block.length > self._capacity:
            self._capacity = block.length
            self._boundaries = np.empty((len(start), self._capacity + 1, start.shape[1]))
        room = self._boundaries[:, self._ticks : self._ticks + block.length + 1]
        if not self._ticks:
            room[:, 0] = start
        return room

    def take(self, view: BlockView) -> None:
        """Take the completed steps of the block that had room last."""
        if self._recorder is not None:
            self._recorder.keep(view)
        if view.settled is not None or view.closing:
            self.flush()
            self._observe(view)
            return
        self._waiting.append(view)
        self._ticks += view.block.length

    def flush(self) -> None:
        """Hand on what is waiting; metrics and digests are complete after it."""
        waiting, ticks = self._waiting, self._ticks
        self._waiting, self._ticks = [], 0
        if len(waiting) == 1:
            self._observe(waiting[0])
        elif waiting:
            self._observe(_joined(waiting, self._boundaries[:, : ticks + 1]))

    def _observe(self, view: BlockView) -> None:
        for observer in self._observers:  # 11 Observer
            observer.fold(view)
        self._columns["states"].append(view.boundaries[:, 1:], view.settled)  # 12 TraceRecord
        self._columns["controls"].append(view.controls, view.settled)
        if "inputs" in self._columns:
            self._columns["inputs"].append(np.concatenate(view.inputs.others, axis=2), view.settled)


def _joined(views: list[BlockView], boundaries: Floats) -> BlockView:
    """Successive blocks that all lanes lived through, as one."""
    first = views[0]
    return BlockView(
        block=Block(first.block.start, views[-1].block.stop),
        boundaries=boundaries,
        inputs=joined_inputs([view.inputs for view in views]),
        alive=first.alive,
        derived={field: _rejoined([view.derived[field] for view in views]) for field in first.derived},
    )


def _rejoined(blocks: list[NDArray[Any]]) -> NDArray[Any]:
    """Boundaries of successive blocks: the last of one is the first of the next."""
    return np.concatenate([blocks[0], *(block[:, 1:] for block in blocks[1:])], axis=1)
