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

Fields = Mapping[str, NDArray[Any]]
"""Arrays ``(lanes, steps, ...)`` for the MjData fields that are recorded beside the state."""

Rollout = Callable[[int, Floats, Ids, Floats, Fields], list[int]]
"""Steps some lanes, records their states and fields, and tells in which of them MuJoCo raised.

It takes the number of steps, their inputs ``(lanes, steps, width)``, the lanes, and what to fill: states after each
step ``(lanes, steps, width)``, and fields.
"""

_DIRECT = ("4.0.",)
"""Versions of MuJoCo in which what ``Batch.rollout`` calls is known."""


def rollout_of(lanes: batch.Batch, inputs: int, states: int) -> Rollout:
    """The rollout of a batch that is fed the state bits ``inputs`` and of which the bits ``states`` are recorded.

    ``Batch.rollout`` looks its arguments over in Python before the engine does so in C; of a run of one small robot
    that is a tenth.  So the engine is called itself where its interface is known, and what is public elsewhere.
    """

    def direct(steps: int, fed: Floats, ids: Ids, to: Floats, fields: Fields) -> list[int]:
        into: list[tuple[str | None, int, NDArray[Any]]] = [(None, states, to)]
        if fields:
            into += [(name, 0, array) for name, array in fields.items()]
        chosen = None if ids is None else ids.astype(np.int32)
        if not engine.rollout(chosen, steps, np.ascontiguousarray(fed), inputs, into):
            return []
        raised = lanes.status != 0  # of a lane that was not chosen it says how an earlier call went
        return np.flatnonzero(raised).tolist() if ids is None else ids[raised[ids]].tolist()

    def public(steps: int, fed: Floats, ids: Ids, to: Floats, fields: Fields) -> list[int]:
        into: dict[Any, NDArray[Any]] = {states: to, **fields}
        try:
            lanes.rollout(steps, fed, inputs, tuple(into), ids, into)
        except batch.SimulationError as error:
            return [int(lane) for lane in error.ids]
        return []

    if not mujoco.__version__.startswith(_DIRECT):
        return public
    engine = lanes._b
    return direct
