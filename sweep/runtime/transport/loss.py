"""Which messages are lost: each by itself, or in bursts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.plan.transport import BurstLoss, TransportSpec

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LOSS, _MOVE = 0, 1  # words of one draw


class LossLaw(Protocol):
    """Decides over messages in the order in which they are sent."""

    def lost(self, words: Floats, counts: Ints | None) -> Bools:
        """Which messages are lost, ``(lanes, n)``.

        Args:
            words: ``(lanes, n, 2)`` uniforms of each message: the first decides over its loss, the second moves the
                link.
            counts: ``(lanes,)`` how many messages are each lane's, the leading ones; None means all.
        """


def loss_law(specs: Sequence[TransportSpec]) -> LossLaw | None:
    """The loss of every lane's messages; None if none is ever lost."""
    bursts = [spec.burst_loss for spec in specs if spec.burst_loss is not None]
    if bursts:
        return _Bursts(bursts)
    probabilities = [spec.drop_probability for spec in specs if spec.drop_probability is not None]
    return _Independent(probabilities) if probabilities else None


class _Independent:
    def __init__(self, probabilities: Sequence[float]) -> None:
        self._probability = np.array(probabilities)[:, None]

    def lost(self, words: Floats, counts: Ints | None) -> Bools:
        lost: Bools = words[..., _LOSS] < self._probability
        return lost


class _Bursts:
    """The Gilbert-Elliott link; see :class:`sweep.plan.transport.BurstLoss`."""

    def __init__(self, specs: Sequence[BurstLoss]) -> None:
        self._turns_bad = np.array([s.p_good_to_bad for s in specs])[:, None]
        self._stays_bad = np.array([1.0 - s.p_bad_to_good for s in specs])[:, None]
        self._loss_good = np.array([s.loss_good for s in specs])[:, None]
        self._loss_bad = np.array([s.loss_bad for s in specs])[:, None]
        self._lanes = np.arange(len(specs))
        self._bad = np.zeros(len(specs), bool)

    def lost(self, words: Floats, counts: Ints | None) -> Bools:
        move = words[..., _MOVE]
        bad = self._states(move < self._turns_bad, move < self._stays_bad)
        self._bad = bad[-1] if counts is None else bad[counts, self._lanes]
        lost: Bools = words[..., _LOSS] < np.where(bad[1:].T, self._loss_bad, self._loss_good)
        return lost

    def _states(self, turns: Bools, stays: Bools) -> Bools:
        """Whether the link is bad, ``(1 + n, lanes)``: before the messages, and for each of them."""
        bad = np.empty((1 + turns.shape[1], len(turns)), bool)
        bad[0] = self._bad
        for message, (turn, stay) in enumerate(zip(turns.T, stays.T, strict=True)):
            bad[message + 1] = np.where(bad[message], stay, turn)
        return bad
