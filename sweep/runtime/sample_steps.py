"""Steps over samples of many lanes, which sensors are put together from.

A step changes a block of samples ``(lanes, samples, width)`` in place.  It knows each sample by its acquisition number,
so that nothing depends on where blocks end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Step = Callable[[Floats, Ints], None]
"""Changes ``values (lanes, samples, width)`` in place; ``draws (lanes or 1, samples)`` are acquisition numbers."""

ROUNDINGS: dict[str, Any] = {"nearest": np.rint, "floor": np.floor}


class Drawing(Protocol):
    """Whoever draws noise: a device."""

    def draw(self, stream: str, draws: Ints) -> Floats:
        """Noise of a stream, ``(lanes, samples, width)``, the caller's own."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of a stream, as it is scaled there."""

    source: Drawing
    stream: str

    def of(self, draws: Ints) -> Floats:
        """The noise of each sample, ``(lanes, samples, width)``, the caller's own."""
        return self.source.draw(self.stream, draws)

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Add it."""
        values += self.of(draws)


@dataclass(frozen=True, slots=True)
class Offset:
    """An offset that an episode keeps, ``offset (lanes, 1, width or 1)``."""

    offset: Floats

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Add it."""
        values += self.offset


@dataclass(frozen=True, slots=True)
class Scale:
    """A factor, ``factor (lanes, 1, width or 1)``."""

    factor: Floats

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Multiply by it."""
        values *= self.factor


@dataclass(frozen=True, slots=True)
class Clamp:
    """Limits that values stay within, both ``(lanes, 1, 1)``."""

    low: Floats
    high: Floats

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Stop at them."""
        np.maximum(values, self.low, out=values)
        np.minimum(values, self.high, out=values)


@dataclass(frozen=True, slots=True)
class CrossAxis:
    """Three axes mixed by a matrix; ``matrix (lanes, 3, 3)``."""

    matrix: Floats

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Apply it: one product and two sums per number, in this order, whatever the number of lanes."""
        x, y, z = (self.matrix[:, None, :, axis] * values[:, :, None, axis] for axis in range(3))
        np.add(x, y, out=x)
        np.add(x, z, out=values)


@dataclass(frozen=True, slots=True)
class Quantize:
    """Multiples of a step; ``step (lanes, 1, width or 1)``."""

    step: Floats
    rounding: str

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Round to them."""
        np.divide(values, self.step, out=values)
        ROUNDINGS[self.rounding](values, out=values)
        np.multiply(values, self.step, out=values)


@dataclass(frozen=True, slots=True)
class Wrap:
    """Values within ``[low, low + span)``; all arrays ``(lanes, 1, 1)``.

    Attributes:
        low: the lowest value.
        span: how far it is to where they start over.
        unit: what low and span are counted in, where values are whole multiples of it.
    """

    low: Floats
    span: Floats
    unit: Floats | None = None

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Take whole spans away; rounding must not leave the interval."""
        if self.unit is not None:
            np.rint(np.divide(values, self.unit, out=values), out=values)
        values -= np.floor((values - self.low) / self.span) * self.span
        np.copyto(values, self.low, where=(values < self.low) | (values >= self.low + self.span))
        if self.unit is not None:
            values *= self.unit


class Memory:
    """What a step remembers of the last sample of each lane.

    Args:
        lanes: their number.
        first: number of the first sample.
    """

    def __init__(self, lanes: int, first: int) -> None:
        self._first, self.last = first, np.full(lanes, first - 1, np.int64)
        self._lanes = np.arange(lanes)
        self._value: Floats | None = None

    def recall(self, otherwise: Floats) -> Floats:
        """What was remembered, ``(lanes, width)``; ``otherwise`` in lanes that have had no sample."""
        if self._value is None:
            return otherwise
        return np.where((self.last >= self._first)[:, None], self._value, otherwise)

    def keep(self, path: Floats, draws: Ints) -> None:
        """Remember the last sample's row of ``path (lanes, 1 + samples, width)``, whose row 0 was recalled.

        An entry that repeats the lane's last number is none of its samples, and follows them all.
        """
        self._value = path[self._lanes, draws[:, -1] - self.last]
        self.last = draws[:, -1]


class Drift:
    """A bias that wanders: ``b(n) = decay b(n - 1) + w(n)`` with ``b(0) = 0``, n being the acquisition number.

    Lost samples count.  An initial acquisition is number 0: it sees no drift and changes none.

    Args:
        noise: ``w``.
        decay: ``(lanes, 1)``, or None for a random walk.
        lanes: their number.
        width: numbers of the quantity.
    """

    def __init__(self, noise: Noise, decay: Floats | None, lanes: int, width: int) -> None:
        self._noise, self._decay = noise, decay
        self._memory = Memory(lanes, 1)
        self._lanes, self._zero = np.arange(lanes)[:, None], np.zeros((lanes, width))

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Add the drift of each sample, found by its number."""
        last = self._memory.last[:, None]
        count = int((draws[:, -1:] - last).max())
        steps = self._noise.of(last + np.arange(1, count + 1)) if count else self._zero[:, None][:, :0]
        path = fold(self._memory.recall(self._zero), steps, self._decay)
        values += path[self._lanes, draws - last]
        self._memory.keep(path, draws)


class LowPass:
    """A first-order low-pass ``y(n) = decay y(n - 1) + (1 - decay) x(n)`` that begins settled.

    Args:
        decay: ``(lanes, 1)``.
        first: number of the first sample.
    """

    def __init__(self, decay: Floats, first: int) -> None:
        self._decay, self._gain = decay, (1.0 - decay)[:, None]
        self._memory = Memory(len(decay), first)

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Filter the samples."""
        path = fold(self._memory.recall(values[:, 0]), self._gain * values, self._decay)
        values[...] = path[:, 1:]
        self._memory.keep(path, draws)


class Difference:
    """Rates from successive samples: ``(x(n) - x(n - 1)) / period``, 0 at the first sample.

    Args:
        source: the numbers of a sample that are ``x``.
        target: where their rates go.
        period: ``(lanes, 1, 1)`` [s].
        first: number of the first sample.
    """

    def __init__(self, source: slice, target: slice, period: Floats, first: int) -> None:
        self._source, self._target, self._period = source, target, period
        self._memory = Memory(len(period), first)

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Put the rates where they go."""
        x = values[:, :, self._source]
        path = np.concatenate([self._memory.recall(x[:, 0])[:, None], x], axis=1)
        values[:, :, self._target] = np.diff(path, axis=1) / self._period
        self._memory.keep(path, draws)


def fold(start: Floats, steps: Floats, decay: Floats | None) -> Floats:
    """``start`` and what follows, ``(lanes, 1 + samples, width)``: each is the one before, times decay, plus a step."""
    path = np.empty((len(start), steps.shape[1] + 1, start.shape[1]))
    path[:, 0], path[:, 1:] = start, steps
    if decay is None:
        return np.add.accumulate(path, axis=1, out=path)
    for sample in range(1, path.shape[1]):
        path[:, sample] += decay * path[:, sample - 1]
    return path
