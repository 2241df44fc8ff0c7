"""What only looks back can wait: completed steps are gathered and handed on in larger pieces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.block import Block, BlockView
from sweep.runtime.inputs import joined_inputs
from sweep.runtime.tracing.recorder import TraceRecorder
from sweep.runtime.tracing.trace import TraceColumn

_PIECE_BYTES = 256 * 1024
"""Size of a piece: large enough to make numpy calls few, small enough to stay in the second-level cache."""


class Observer(Protocol):
    """What looks at completed steps; one without ``reads`` is served a full forward every tick."""

    def fold(self, view: BlockView) -> None:
        """Take in the completed steps of a view, in tick order."""


class Observation:
    """Phases 11 and 12: Observers and the trace of completed steps.

    Both are folds over steps in tick order, so where pieces begin and end changes no bit; a numpy call costs as much
    for five ticks as for fifty.

    Args:
        observers: who looks.
        states: the trace's column of states.
        controls: the trace's column of controls.
        others: the trace's column of other inputs, where there are any.
        recorder: what is kept for traces above the level of summaries.
    """

    def __init__(self, observers: Iterable[Observer], states: TraceColumn, controls: TraceColumn,
                 others: TraceColumn | None = None, recorder: TraceRecorder | None = None) -> None:  # fmt: skip
        self._observers = tuple(observers)
        self._recorder = recorder
        self._states, self._controls, self._others = states, controls, others
        self._waiting: list[BlockView] = []
        self._bytes = 0

    def take(self, view: BlockView) -> None:
        """Take a block's completed steps."""
        if self._recorder is not None:
            self._recorder.keep(view)  # by reference, which cannot be cheaper in larger pieces
        if view.settled is not None or view.closing:
            self.flush()
            self._observe(view)
            return
        self._waiting.append(view)
        self._bytes += view.boundaries.nbytes
        if self._bytes >= _PIECE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand on what is waiting; metrics and digests are complete after it."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        if len(waiting) == 1:
            self._observe(waiting[0])
        elif waiting:
            self._observe(_joined(waiting))

    def _observe(self, view: BlockView) -> None:
        for observer in self._observers:  # 11 Observer
            observer.fold(view)
        self._states.append([view.boundaries[:, 1:]], view.settled)  # 12 TraceRecord
        self._controls.append([view.controls], view.settled)
        if self._others is not None:
            self._others.append([np.concatenate(view.inputs.others, axis=2)], view.settled)


def _joined(views: list[BlockView]) -> BlockView:
    """Successive blocks that all lanes lived through, as one."""
    first = views[0]
    return BlockView(
        block=Block(first.block.start, views[-1].block.stop),
        boundaries=_rejoined([view.boundaries for view in views]),
        inputs=joined_inputs([view.inputs for view in views]),
        alive=first.alive,
        derived={field: _rejoined([view.derived[field] for view in views]) for field in first.derived},
    )


def _rejoined(blocks: list[NDArray[Any]]) -> NDArray[Any]:
    """Boundaries of successive blocks: the last of one is the first of the next."""
    return np.concatenate([blocks[0], *(block[:, 1:] for block in blocks[1:])], axis=1)
