"""How long each message travels: exact latency and drawn jitter, as whole ticks.

A delay is the least number of ticks that lasts at least ``latency + jitter``.  Latency and bounds are exact; a drawn
jitter is a float, so the quotient is rounded up by more than its error before its ceiling is taken: never too early.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sweep.plan.instants import LaneInstants
from sweep.plan.transport import (
    DiscreteJitter,
    LognormalJitter,
    TriangularJitter,
    TruncatedNormalJitter,
    UniformJitter,
)
from sweep.plan.units import exact_seconds
from sweep.runtime.noise import normals_of
from sweep.runtime.numerics.draws import log_of
from sweep.runtime.numerics.exponential import exps_of, normal_probability_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Quantile = Callable[[Floats], Floats]
"""From uniforms ``(lanes, n)`` in (0, 1) to seconds."""

_OUTWARD = 1.0 + 2.0**-50
"""More than the relative error of two roundings, a sum and a quotient of positive numbers."""

_LARGEST_UNIFORM = 1.0 - 2.0**-53


class JitterLaw(Protocol):
    """The delays of every lane's messages.

    Attributes:
        shortest: ``(lanes,)`` least delay [ticks].
        longest: ``(lanes,)`` greatest delay [ticks].
    """

    shortest: Ints
    longest: Ints

    def ticks(self, uniform: Floats) -> Ints:
        """Delays [ticks] of uniforms ``(lanes, n)``."""

    def deadlines_s(self, sent: Ints, uniform: Floats) -> Floats:
        """When messages of the first lane that were sent at ticks ``(n,)`` are asked to arrive [s]."""


def jitter_law(specs: Sequence[Any], latencies: Sequence[Fraction], timestep: Fraction) -> JitterLaw:
    """The law of every lane's jitter on top of its latency [s]; all of one type."""
    if isinstance(specs[0], DiscreteJitter):
        return DiscreteLaw(specs, latencies, timestep)
    return ContinuousLaw(specs, latencies, timestep)


class ContinuousLaw:
    """A jitter with a density, by the inverse of its distribution function."""

    def __init__(self, specs: Sequence[Any], latencies: Sequence[Fraction], timestep: Fraction) -> None:
        bounds = [
            [latency + exact_seconds(bound) for bound in spec.bounds_s]
            for spec, latency in zip(specs, latencies, strict=True)
        ]
        self.shortest, self.longest = np.array([[math.ceil(b / timestep) for b in lane] for lane in bounds], np.int64).T
        whole = [latency // timestep for latency in latencies]
        rest = [float(latency / timestep - n) for latency, n in zip(latencies, whole, strict=True)]
        self._whole, self._rest = np.array(whole, np.int64)[:, None], np.array(rest)[:, None]
        self._bounds = self.shortest[:, None], self.longest[:, None]
        self._timestep = float(timestep)
        self._quantile: Quantile = _QUANTILES[type(specs[0])](specs)
        # When a message is asked to arrive at the earliest, at the latest, and without jitter.
        self._earliest, self._latest, self._base = (
            LaneInstants.of([(timestep, offset)]) for offset in (*bounds[0], latencies[0])
        )

    def ticks(self, uniform: Floats) -> Ints:
        """See :meth:`JitterLaw.ticks`."""
        steps = self._quantile(uniform) / self._timestep
        steps += self._rest
        steps *= _OUTWARD
        delays = np.ceil(steps).astype(np.int64)
        delays += self._whole
        low, high = self._bounds
        clipped: Ints = np.minimum(np.maximum(delays, low), high)
        return clipped

    def deadlines_s(self, sent: Ints, uniform: Floats) -> Floats:
        """See :meth:`JitterLaw.deadlines_s`."""
        drawn = self._base.at(sent) + self._quantile(uniform)[0]
        deadlines: Floats = np.minimum(np.maximum(drawn, self._earliest.at(sent)), self._latest.at(sent))
        return deadlines


class DiscreteLaw:
    """A jitter of a few values, whose delays are found once and exactly."""

    def __init__(self, specs: Sequence[DiscreteJitter], latencies: Sequence[Fraction], timestep: Fraction) -> None:
        totals = [
            [latency + exact_seconds(value) for value in spec.values_s]
            for spec, latency in zip(specs, latencies, strict=True)
        ]
        table = [[math.ceil(total / timestep) for total in lane] for lane in totals]
        self._table = np.array(table, np.int64)
        self.shortest, self.longest = self._table.min(axis=1), self._table.max(axis=1)
        weights = np.array([s.weights or [1.0] * len(s.values_s) for s in specs])
        thresholds = np.add.accumulate(weights, axis=1)
        # (lanes, 1, values - 1): a uniform picks the value after as many thresholds as it has reached.
        self._thresholds, self._total = thresholds[:, None, :-1], thresholds[:, -1:]
        self._lanes = np.arange(len(specs))[:, None]
        self._instants = LaneInstants.of([(timestep, total) for total in totals[0]])

    def ticks(self, uniform: Floats) -> Ints:
        """See :meth:`JitterLaw.ticks`."""
        delays: Ints = self._table[self._lanes, self._choices(uniform)]
        return delays

    def deadlines_s(self, sent: Ints, uniform: Floats) -> Floats:
        """See :meth:`JitterLaw.deadlines_s`."""
        chosen = self._choices(uniform)[0]
        deadlines = np.empty(len(sent))
        for choice in np.unique(chosen).tolist():
            deadlines[chosen == choice] = self._instants.lane(choice).at(sent[chosen == choice])
        return deadlines

    def _choices(self, uniform: Floats) -> Ints:
        reached: Ints = np.add.reduce((uniform * self._total)[..., None] >= self._thresholds, axis=2)
        return reached


def _uniform(specs: Sequence[UniformJitter]) -> Quantile:
    low, span = _columns([(s.low_s, s.high_s - s.low_s) for s in specs])

    def quantile(uniform: Floats) -> Floats:
        return low + span * uniform

    return quantile


def _triangular(specs: Sequence[TriangularJitter]) -> Quantile:
    low, high, rise, fall = _columns([(s.low_s, s.high_s, s.mode_s - s.low_s, s.high_s - s.mode_s) for s in specs])
    span = high - low

    def quantile(uniform: Floats) -> Floats:
        # The share of the rising side is rise / span; the products avoid dividing by a span of 0.
        rising = low + np.sqrt(uniform * (span * rise))
        falling = high - np.sqrt((1.0 - uniform) * (span * fall))
        return np.where(uniform * span < rise, rising, falling)

    return quantile


def _truncated_normal(specs: Sequence[TruncatedNormalJitter]) -> Quantile:
    mean, std, low, high = _columns([(s.mean_s, s.std_s, s.low_s, s.high_s) for s in specs])
    cut = _cut_normal([((s.low_s - s.mean_s, s.high_s - s.mean_s), s.std_s) for s in specs])

    def quantile(uniform: Floats) -> Floats:
        return np.minimum(np.maximum(mean + std * cut(uniform), low), high)

    return quantile


def _lognormal(specs: Sequence[LognormalJitter]) -> Quantile:
    median, sigma, high = _columns([(s.median_s, s.sigma, s.high_s) for s in specs])
    logs = [log_of(s.high_s / s.median_s) if s.median_s else math.inf for s in specs]
    cut = _cut_normal([((-math.inf, log), s.sigma) for s, log in zip(specs, logs, strict=True)])

    def quantile(uniform: Floats) -> Floats:
        return np.minimum(median * exps_of(sigma * cut(uniform)), high)

    return quantile


_QUANTILES: dict[type, Callable[[Any], Quantile]] = {
    UniformJitter: _uniform,
    TriangularJitter: _triangular,
    TruncatedNormalJitter: _truncated_normal,
    LognormalJitter: _lognormal,
}


def _cut_normal(cuts: Sequence[tuple[tuple[float, float], float]]) -> Quantile:
    """Standard normal numbers, given that ``std`` times them lies between bounds: each lane's bounds and ``std``."""
    first, share = _columns([_kept(bounds, std) for bounds, std in cuts])

    def quantile(uniform: Floats) -> Floats:
        return normals_of(np.minimum(first + share * uniform, _LARGEST_UNIFORM))

    return quantile


def _kept(bounds: tuple[float, float], std: float) -> tuple[float, float]:
    """Where a normal distribution about 0 is cut: the probability below the bounds, and the one between them."""
    if std == 0.0:
        return 0.0, 1.0
    low, high = (normal_probability_of(bound / std) for bound in bounds)
    return low, high - low


def _columns(rows: Sequence[tuple[float, ...]]) -> tuple[Floats, ...]:
    """Numbers of every lane as columns ``(lanes, 1)``."""
    return tuple(np.array(column, np.float64)[:, None] for column in zip(*rows, strict=True))
