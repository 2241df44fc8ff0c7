"""Observers that fold a signal into one number per lane, left to right in tick order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.plan.metric import MetricSpec
from sweep.runtime.block import BlockView, as_slice
from sweep.runtime.context import BatchContext
from sweep.runtime.numerics import folds
from sweep.runtime.reads import FORCE_SENSORS, SENSORS, STATE_ONLY, StateLevel

Floats = NDArray[np.float64]

_FOLDS = {
    "rms": folds.SUM_OF_SQUARES,
    "mean": folds.SUM,
    "mean_abs": folds.SUM_OF_SIZES,
    "min": folds.LEAST,
    "max": folds.GREATEST,
    "max_abs": folds.GREATEST_SIZE,
    "final": folds.LAST,
    "final_abs": folds.LAST_SIZE,
}
"""How rows combine from left to right. A metric without an entry has no signal."""


class Metric:
    """A metric of all lanes of a batch; see :class:`sweep.plan.metric.MetricSpec`.

    Each joint, actuator or entry has an accumulator of its own, so that a lane's number never depends on its neighbours
    or on where blocks end; they are combined once, when the value is read.

    Args:
        spec: the metric, which all lanes share.
        context: the batch.
    """

    def __init__(self, spec: MetricSpec, context: BatchContext) -> None:
        self.spec = spec
        self.reads = STATE_ONLY
        if spec.sensor_name is not None:
            self.reads = FORCE_SENSORS if context.index.needs_forces(spec.sensor_name) else SENSORS
        self._timestep = context.grid.timestep
        self._reference = None if spec.reference is None else context.references[spec.reference]
        self._how = _FOLDS.get(spec.type)
        columns = _columns(spec, context)
        self._columns = as_slice(columns)
        start = {"min": np.inf, "max": -np.inf}.get(spec.type, 0.0)
        self._accumulated = np.full((context.lanes, len(columns)), start)
        self._ticks = np.zeros(context.lanes, np.int64)

    def fold(self, view: BlockView) -> None:
        """Phase 11 of every tick of a block."""
        counts = view.counts
        if self._how is not None and self._accumulated.shape[1]:
            folds.fold(self._how, self._signal(view), counts, self._accumulated)
        self._ticks += counts

    def value(self, lane: int) -> float | None:
        """The lane's number so far; None before the first step."""
        ticks, kind = int(self._ticks[lane]), self.spec.type
        if not ticks:
            return None
        if kind == "survived":
            return float(ticks * self._timestep)
        parts = self._accumulated[lane].tolist()
        if kind == "rms":
            return math.sqrt(math.fsum(parts) / (ticks * len(parts)))
        if kind in ("mean", "mean_abs"):
            return math.fsum(parts) / (ticks * len(parts))
        return float(min(parts) if kind == "min" else max(parts))

    def _signal(self, view: BlockView) -> Floats:
        if self.reads.level is StateLevel.FULL:
            found: Floats = view.closing["sensordata"][:, None]
            return found[:, :, self._columns]
        if self.reads is SENSORS:
            found = view.derived["sensordata"][:, 1:]
            return found[:, :, self._columns]
        if self.spec.signal == "control":
            return view.controls[:, :, self._columns]
        signal = view.after(self._columns)
        if self._reference is None:
            return signal
        return signal - self._reference.positions(view.block.start + 1, view.block.stop + 1)


def _columns(spec: MetricSpec, context: BatchContext) -> NDArray[Any]:
    if spec.sensor_name is not None:
        columns = context.index.sensor_columns([spec.sensor_name])
        return columns if spec.entry is None else columns[[spec.entry]]
    if spec.signal == "control":
        return context.index.controls(spec.elements)
    if spec.signal == "velocity":
        return context.velocity_columns(spec.elements)
    return context.position_columns(spec.elements)
