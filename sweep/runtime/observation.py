"""What only looks back can wait: completed steps are gathered and handed on in larger pieces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from sweep.runtime.block import Block, BlockView
from sweep.runtime.trace import TraceColumn

_PIECE_BYTES = 256 * 1024
"""Size of a piece: large enough to make numpy calls few, small enough to stay in the second-level cache."""


class Observer(Protocol):
    """What looks at completed steps."""

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
    """

    def __init__(self, observers: Iterable[Observer], states: TraceColumn, controls: TraceColumn) -> None:
        self._observers = tuple(observers)
        self._states, self._controls = states, controls
        self._waiting: list[BlockView] = []
        self._bytes = 0

    def take(self, view: BlockView) -> None:
        """Take a block's completed steps."""
        if view.settled is not None:
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


def _joined(views: list[BlockView]) -> BlockView:
    """Successive blocks that all lanes lived through, as one."""
    first = views[0]
    boundaries = np.concatenate([first.boundaries, *(view.boundaries[:, 1:] for view in views[1:])], axis=1)
    controls = np.concatenate([view.controls for view in views], axis=1)
    block = Block(first.block.start, views[-1].block.stop)
    return BlockView(block=block, boundaries=boundaries, controls=controls, alive=first.alive)
