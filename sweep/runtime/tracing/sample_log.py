"""The samples of a device, remembered for its events."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class SampleLog:
    """Samples of all lanes, kept as they come and joined when somebody looks.

    Args:
        lanes: number of lanes.
        width: numbers per sample.
    """

    def __init__(self, lanes: int, width: int) -> None:
        none = np.empty((1, 0), np.int64)
        self._everyone = np.ones((lanes, 1), bool)
        # Per block: draws, ticks, arrivals, values, and which of them are each lane's.
        self._blocks: list[tuple[Ints, Ints, Ints, Floats, Bools]] = [
            (none, none, np.empty((lanes, 0), np.int64), np.empty((lanes, 0, width)), np.empty((lanes, 0), bool))
        ]

    def append(self, draws: Ints, ticks: Ints, arrivals: Ints, values: Floats, counts: Ints | None) -> None:
        """Remember the samples of a block; the arrays must not change.

        Args:
            draws: ``(lanes or 1, samples)`` acquisition numbers.
            ticks: ``(lanes or 1, samples)`` of acquisition.
            arrivals: ``(lanes, samples)`` ticks of delivery.
            values: ``(lanes, samples, width)``.
            counts: how many of them are each lane's, the leading ones; None means all.
        """
        samples = draws.shape[1]
        own = self._everyone.repeat(samples, axis=1) if counts is None else np.arange(samples) < counts[:, None]
        self._blocks.append((draws, ticks, arrivals, values, own))

    def lane(self, lane: int) -> tuple[Ints, Ints, Ints, Floats]:
        """One lane's draws, ticks and arrivals ``(n,)`` and values ``(n, width)``, in the order of acquisition."""
        draws, ticks, arrivals, values, own = self._joined()
        rows, shared = own[lane], min(lane, len(draws) - 1)
        return draws[shared, rows], ticks[shared, rows], arrivals[lane, rows], values[lane, rows]

    def _joined(self) -> tuple[Ints, Ints, Ints, Floats, Bools]:
        if len(self._blocks) > 1:
            # All blocks of a batch share the rows of draws and ticks, or none does; only the empty first one always.
            first, *rest = self._blocks
            blocks = self._blocks if len(first[0]) == len(rest[0][0]) else rest
            draws, ticks, arrivals, values, own = (
                np.concatenate(column, axis=1) for column in zip(*blocks, strict=True)
            )
            self._blocks = [(draws, ticks, arrivals, values, own)]
        return self._blocks[0]
