"""The imperfections of a measurement, put together from steps; :mod:`sweep.plan.imperfection` says which there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sweep.plan.imperfection import Imperfection
from sweep.runtime.noise import LaneStream
from sweep.runtime.sample_steps import (
    Clamp,
    CrossAxis,
    Drawing,
    Drift,
    Floats,
    Ints,
    LowPass,
    Noise,
    Offset,
    Quantize,
    Scale,
    Step,
    Wrap,
)


class NoiseSource(Drawing, Protocol):
    """The device that a pipeline belongs to, as far as its noise goes.

    Attributes:
        periods_s: acquisition period of each lane [s].
        noise_scale: ``(lanes, 1)`` factor on everything random [-].
        first_draw: number of its first acquisition.
    """

    periods_s: Sequence[float]
    noise_scale: Floats
    first_draw: int

    def open(self, stream: str, width: int) -> LaneStream:
        """Begin to use a noise stream."""

    def open_episode(self, stream: str, width: int) -> Floats:
        """The only draw of an episode's stream, ``(lanes, width)``."""


class Pipeline:
    """All imperfections of one quantity, in the order of :mod:`sweep.plan.imperfection`; what is not given has no step.

    Args:
        part: the quantity's name, which its streams begin with.
        parts: what is wrong with it in each lane; lanes share which sources there are.
        width: numbers of the quantity.
        source: the device.
    """

    def __init__(self, part: str, parts: Sequence[Imperfection], width: int, source: NoiseSource) -> None:
        of = _Part(part, parts, width, source)
        built = [build(of) for build in _ORDER]
        self._steps = tuple(step for step in built if step is not None)

    def __call__(self, values: Floats, draws: Ints) -> None:
        """Every step, on a block of samples."""
        for step in self._steps:
            step(values, draws)


@dataclass(frozen=True, slots=True)
class _Part:
    """One quantity of a device; see :class:`Pipeline`."""

    name: str
    parts: Sequence[Imperfection]
    width: int
    source: NoiseSource

    def numbers(self, value: Callable[[Imperfection, float], Any]) -> Floats | None:
        """A parameter of every lane, of its period [s] if it likes: ``(lanes, n)``; None if it is not given.

        Lanes that give one number for all axes are as wide as those that give one each.
        """
        found = [value(part, period) for part, period in zip(self.parts, self.source.periods_s, strict=True)]
        if found[0] is None:
            return None
        rows = [np.atleast_1d(row) for row in found]
        return np.array([np.broadcast_to(row, max(len(other) for other in rows)) for row in rows], np.float64)

    def noise(self, stream: str, std: Floats, offset: Floats | None = None) -> Noise:
        """A stream of this quantity, opened and scaled; ``std`` and ``offset`` are ``(lanes, width or 1)``."""
        shape, name = (len(self.parts), self.width), f"{self.name}_{stream}"
        factor = np.broadcast_to(std * self.source.noise_scale, shape)
        added = np.zeros(shape) if offset is None else np.broadcast_to(offset, shape)
        self.source.open(name, self.width).scale(factor, added)
        return Noise(self.source, name)


def _scale(of: _Part) -> Step | None:
    error = of.numbers(lambda part, _: part.scale_error)
    return None if error is None else Scale(1.0 + error[:, None])


def _misalignment(of: _Part) -> Step | None:
    matrices = [part.misalignment for part in of.parts]
    return None if matrices[0] is None else CrossAxis(np.array(matrices))


def _random_walk(of: _Part) -> Step | None:
    std = of.numbers(Imperfection.random_walk_at)
    return None if std is None else Drift(of.noise("random_walk", std), None, len(std), of.width)


def _bias_instability(of: _Part) -> Step | None:
    both = of.numbers(Imperfection.bias_instability_at)
    if both is None:
        return None
    return Drift(of.noise("bias_instability", both[:, 1:]), both[:, :1], len(both), of.width)


def _bias_and_white(of: _Part) -> Step | None:
    """Bias of the episode and white noise, added to each other where noise is made."""
    bias, std = _bias(of), of.numbers(Imperfection.white_std_at)
    if std is not None:
        return of.noise("white", std, bias)
    return None if bias is None else Offset(bias[:, None])


def _bias(of: _Part) -> Floats | None:
    constant, std = of.numbers(lambda part, _: part.bias), of.numbers(lambda part, _: part.bias_std)
    if std is None:
        return constant
    drawn = std * of.source.noise_scale * of.source.open_episode(f"{of.name}_bias", of.width)
    return drawn if constant is None else constant + drawn


def _bandwidth(of: _Part) -> Step | None:
    decay = of.numbers(Imperfection.low_pass_at)
    return None if decay is None else LowPass(decay, of.source.first_draw)


def _clamp(of: _Part) -> Step | None:
    limits = _limits(of, "clamp")
    return None if limits is None else Clamp(*limits)


def _resolution(of: _Part) -> Step | None:
    step = of.numbers(lambda part, _: part.resolution)
    return None if step is None else Quantize(step[:, None], of.parts[0].rounding)


def _wrap(of: _Part) -> Step | None:
    limits = _limits(of, "wrap")
    return None if limits is None else Wrap(limits[0], limits[1] - limits[0])


def _limits(of: _Part, mode: str) -> tuple[Floats, Floats] | None:
    """Lowest and highest value of each lane, ``(lanes, 1, 1)``, if they are limited in this way."""
    limits = of.numbers(lambda part, _: part.limits(mode))
    return None if limits is None else (limits[:, :1, None], limits[:, 1:, None])


_ORDER = (_scale, _misalignment, _random_walk, _bias_instability, _bias_and_white, _bandwidth, _clamp, _resolution,
          _wrap)  # fmt: skip
