"""Suspicion: what a controller does that makes a lane depend on its neighbours, for the one line that people read."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from sweep.runtime.batch import InstanceBatch
from sweep.runtime.control.controller import as_commands

ROUNDING = 1e-9
"""Commands that differ by no more than this, relatively, differ in the order of a sum."""

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def habit(batch: InstanceBatch, name: str, ticks: int) -> str:
    """What a controller changes outside its declared state while it computes; empty if nothing is seen to change.

    Args:
        batch: a new batch of one lane.
        name: the controller.
        ticks: how long to watch.
    """
    controller = batch.parts.loops[name].controller
    before, kept = _global_draws(), dict(_attributes(controller))
    batch.advance(ticks)
    drawn = [text for text, state in _global_draws().items() if state != before[text]]
    changed = [key for key, state in _attributes(controller) if state != kept.get(key)]
    generators = [key for key in changed if isinstance(getattr(controller, key), GENERATORS)]
    if drawn:
        return f"it draws from {drawn[0]}"
    if generators:
        return f"it draws from self.{generators[0]}, a generator of its own"
    return f"it keeps state in self.{changed[0]}, which belongs in initial_state()" if changed else ""


def influence(alone: InstanceBatch, among: InstanceBatch, name: str, ticks: int) -> str:
    """How the neighbours' numbers come in: by the order of a sum, or as such.

    Args:
        alone: a new batch of the last lane of the other one.
        among: a new batch of many lanes.
        name: the controller.
        ticks: how long to watch.
    """
    one, many = _Heard(alone, name), _Heard(among, name)
    while alone.tick < ticks and np.array_equal(one.last(), many.last()):
        for batch in (alone, among):
            batch.advance(1)
    told, other = one.last(), many.last()
    if told.shape == other.shape and np.allclose(told, other, rtol=ROUNDING, atol=ROUNDING):
        return (
            "the last digits depend on how many lanes there are, as with @ and dot; see sweep.runtime.numerics.rowwise"
        )
    return "what it computes for one lane depends on the others"


class _Heard:
    """A controller's place in a batch, taken by one that remembers what it says."""

    def __init__(self, batch: InstanceBatch, name: str) -> None:
        loop = batch.parts.loops[name]
        self._controller, self._outputs = loop.controller, batch.plans[0].manifest.controllers[name].outputs
        self._said: Any = {}
        loop.controller = self

    def compute(self, *arguments: Any) -> Any:
        self._said = {}
        self._said = as_commands(self._controller.compute(*arguments), dict.fromkeys(self._outputs))
        return self._said

    def last(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The last lane's last commands, side by side."""
        rows = [np.asarray(self._said[name], np.float64)[-1] for name in sorted(self._said)]
        return np.concatenate([np.zeros(0), *rows])


def _global_draws() -> dict[str, bytes]:
    return {
        "numpy's global random generator": pickle.dumps(np.random.get_state()),  # noqa: NPY002 - it is what is looked for
        "Python's global random generator": pickle.dumps(random.getstate()),
    }


def _attributes(controller: Any) -> Iterator[tuple[str, bytes]]:
    for key, value in getattr(controller, "__dict__", {}).items():
        try:
            yield key, pickle.dumps(value)
        except Exception:  # noqa: BLE001 - what cannot be pickled cannot be compared
            continue
