"""MuJoCo's rollout of many lanes, by the shortest way that its version is known to have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mujoco
import numpy as np
from mujoco import batch
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.intp] | None
"""Lanes in ascending order; None means all."""

Rollout = Callable[[int, Floats, Ids, Mapping[Any, NDArray[Any]]], list[int]]
"""Steps some lanes and tells in which of them MuJoCo raised.

It is given the number of steps, their inputs ``(lanes, steps, width)``, the lanes, and arrays ``(lanes, steps, ...)``
to record into, by the name of an MjData field or by state bits.
"""

_DIRECT = ("4.0.",)
"""Versions of MuJoCo in which what ``Batch.rollout`` calls is known."""


def rollout_of(lanes: batch.Batch, control_spec: int) -> Rollout:
    """The rollout of a batch that is fed the state bits ``control_spec``.

    ``Batch.rollout`` looks its arguments over in Python before the engine does so in C; of a run of one small robot
    that is a tenth.  So the engine is called itself where its interface is known, and what is public elsewhere.
    """

    def direct(steps: int, inputs: Floats, ids: Ids, records: Mapping[Any, NDArray[Any]]) -> list[int]:
        chosen = None if ids is None else ids.astype(np.int32)
        into = [(item, 0, to) if isinstance(item, str) else (None, item, to) for item, to in records.items()]
        if not engine.rollout(chosen, steps, np.ascontiguousarray(inputs), control_spec, into):
            return []
        raised = lanes.status != 0  # of a lane that was not chosen it says how an earlier call went
        return np.flatnonzero(raised).tolist() if ids is None else ids[raised[ids]].tolist()

    def public(steps: int, inputs: Floats, ids: Ids, records: Mapping[Any, NDArray[Any]]) -> list[int]:
        try:
            lanes.rollout(steps, inputs, control_spec, tuple(records), ids, dict(records))
        except batch.SimulationError as error:
            return [int(lane) for lane in error.ids]
        return []

    if not mujoco.__version__.startswith(_DIRECT):
        return public
    engine = lanes._b
    return direct
