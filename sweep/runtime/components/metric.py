"""Observers that fold a signal into one number per lane, left to right in tick order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.plan.sections import MetricSpec
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.context import BatchContext
from sweep.runtime.reads import STATE_ONLY

Floats = NDArray[np.float64]


_FOLDS = {"rms": np.add, "mean_abs": np.add, "max_abs": np.maximum}
"""How rows combine from left to right; a metric without an entry keeps the last."""


class Metric:
    """A metric of all lanes of a batch; see :class:`sweep.plan.manifest.MetricSpec`.

    Each joint or actuator has an accumulator of its own, so that a lane's number never depends on its neighbours
    or on where blocks end; they are combined once, when the value is read.

    Args:
        spec: the metric, which all lanes share.
        context: the batch.
    """

    reads = STATE_ONLY

    def __init__(self, spec: MetricSpec, context: BatchContext) -> None:
        self.spec = spec
        self._reference = None if spec.reference is None else context.references[spec.reference]
        self._fold = _FOLDS.get(spec.type)
        self._columns = as_slice(_columns(spec, context))
        self._accumulated = np.zeros((context.lanes, len(_columns(spec, context))))
        self._ticks = np.zeros(context.lanes, np.int64)

    def fold(self, view: BlockView) -> None:
        """Phase 11 of every tick of a block."""
        signal = self._signal(view)
        rows = signal * signal if self.spec.type == "rms" else np.abs(signal)
        if self._fold is not None:
            self._left_fold(self._fold, rows)
        if view.settled is None:
            self._accumulated = rows[:, -1]
            self._ticks += view.block.length
        else:
            last = rows[np.arange(len(rows)), view.settled - 1]
            self._accumulated = np.where(view.settled[:, None] > 0, last, self._accumulated)
            self._ticks += view.settled

    def _left_fold(self, combine: np.ufunc, rows: Floats) -> None:
        """In place and in tick order: row k becomes the fold over everything up to step k of the block."""
        combine(rows[:, 0], self._accumulated, out=rows[:, 0])
        lanes, ticks, _ = rows.shape
        if ticks > lanes:
            combine.accumulate(rows, axis=1, out=rows)
            return
        # The same sums; for many lanes and few ticks this is three times faster than accumulating along the ticks.
        for tick in range(1, ticks):
            combine(rows[:, tick - 1], rows[:, tick], out=rows[:, tick])

    def value(self, lane: int) -> float | None:
        """The lane's number so far; None before the first step."""
        ticks = int(self._ticks[lane])
        if not ticks:
            return None
        parts = self._accumulated[lane].tolist()
        if self.spec.type == "rms":
            return math.sqrt(math.fsum(parts) / (ticks * len(parts)))
        if self.spec.type == "mean_abs":
            return math.fsum(parts) / (ticks * len(parts))
        return float(max(parts))

    def _signal(self, view: BlockView) -> Floats:
        if self.spec.signal == "control":
            return view.controls[:, :, self._columns]
        signal = view.after(self._columns)
        if self._reference is None:
            return signal
        return signal - self._reference.positions(view.block.start + 1, view.block.stop + 1)


def _columns(spec: MetricSpec, context: BatchContext) -> NDArray[Any]:
    if spec.signal == "control":
        return context.index.controls(spec.elements)
    if spec.signal == "velocity":
        return context.velocity_columns(spec.elements)
    return context.position_columns(spec.elements)
