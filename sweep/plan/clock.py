"""Time on the physics grid, in exact integers.

What a simulation sees is ordered by tick.  A tick times the timestep is an instant; no instant is ever
accumulated.  Sample *k* of a schedule is nominally due at ``phase + k * period``; its tick is the first
boundary at or after that instant, so that being late once never becomes drift.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from operator import index as as_index
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sweep.errors import GridError
from sweep.plan.fixed_rate import BOUNDARY_TOLERANCE_SCALE as BOUNDARY_TOLERANCE_SCALE
from sweep.plan.fixed_rate import MAX_SAMPLE_INDEX as MAX_SAMPLE_INDEX
from sweep.plan.fixed_rate import FixedRateSample as FixedRateSample
from sweep.plan.fixed_rate import FixedRateSchedule as FixedRateSchedule
from sweep.plan.units import Seconds, decimal_seconds, exact_seconds

Quantization = Literal["next_boundary", "strict"]
"""What becomes of an instant between two boundaries: the later boundary, or an error."""

QUANTIZATIONS: tuple[Quantization, ...] = get_args(Quantization)

_INT64_SAFE = 2**62


@dataclass(frozen=True, slots=True, init=False)
class Grid:
    """The physics grid: boundary *n* is the instant ``n * timestep``.

    Attributes:
        timestep: length of one tick [s], exact.

    Raises:
        GridError: the timestep cannot be read or is not positive.
    """

    timestep: Fraction
    _ratio: tuple[int, int] = field(compare=False, repr=False)

    def __init__(self, timestep: Seconds) -> None:
        exact = exact_seconds(timestep)
        if exact <= 0:
            raise GridError(f"a timestep must be longer than zero; found {timestep!r}")
        object.__setattr__(self, "timestep", exact)
        object.__setattr__(self, "_ratio", (exact.numerator, exact.denominator))

    def ticks(self, duration: Seconds, policy: Quantization = "next_boundary") -> int:
        """The least number of ticks that last at least ``duration`` [s].

        Raises:
            GridError: the duration cannot be read or is negative, the policy is unknown, or it is ``strict`` and
                the duration is not a whole number of timesteps.
        """
        exact = exact_seconds(duration)
        if exact < 0:
            raise GridError(f"a duration cannot be negative; found {duration!r}")
        _check_policy(policy)
        steps = exact / self.timestep
        if policy == "strict" and steps.denominator != 1:
            raise GridError(_off_grid("the duration", exact, self.timestep, [exact]))
        return math.ceil(steps)

    def time_s(self, tick: int) -> float:
        """The instant of a boundary [s]: the float nearest to ``tick * timestep``."""
        # Python rounds the quotient of two integers correctly, whatever their size.
        numerator, denominator = self._ratio
        return as_index(tick) * numerator / denominator


@dataclass(frozen=True, slots=True, init=False)
class GridSchedule:
    """Equally spaced samples on a grid, in exact integers.  Equality ignores the name.

    Attributes:
        grid: the physics grid.
        period: nominal time from one sample to the next [s], exact.
        phase: nominal time of sample 0 [s], exact, in [0, period).
        policy: ``next_boundary``, or ``strict``: period and phase must be whole numbers of timesteps.
        name: who it belongs to, for messages.
        lattice: (phase, period, denominator): sample k is nominally due ``(phase + k * period) / denominator``
            timesteps after zero.

    Raises:
        GridError: a value cannot be read, the period is shorter than the timestep, the phase is outside
            [0, period), the policy is unknown, or it is ``strict`` and a value is off the grid.
    """

    grid: Grid
    period: Fraction
    phase: Fraction
    policy: Quantization
    name: str = field(compare=False)
    lattice: tuple[int, int, int] = field(compare=False, repr=False)

    def __init__(
        self,
        grid: Grid,
        period: Seconds,
        phase: Seconds = 0,
        policy: Quantization = "next_boundary",
        name: str = "schedule",
    ) -> None:
        try:
            _check_policy(policy)
            is_plain = type(period) is float and type(phase) in (float, int)
            every, start, lattice = (_known_times if is_plain else _times)(grid, period, phase, policy)
        except GridError as error:
            raise GridError(f"{name}: {error.message}", error.path) from None
        values = {"grid": grid, "period": every, "phase": start, "policy": policy, "name": name, "lattice": lattice}
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    @property
    def first_index(self) -> int:
        """Index of the first sample: a zero phase first samples one whole period in."""
        return 0 if self.lattice[0] else 1

    def tick(self, k: int) -> int:
        """Tick of sample ``k``: the first boundary at or after its nominal instant."""
        phase, period, denominator = self.lattice
        return -(-(phase + as_index(k) * period) // denominator)

    def nominal_s(self, k: int) -> float:
        """Nominal instant of sample ``k`` [s], correctly rounded."""
        return float(self.phase + as_index(k) * self.period)

    def last_index_at(self, tick: int) -> int:
        """The largest index whose tick is not after ``tick``; ``first_index - 1`` if there is none."""
        phase, period, denominator = self.lattice
        return max((as_index(tick) * denominator - phase) // period, self.first_index - 1)

    def due(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All samples with ``start <= tick < stop``, none dropped or merged.

        Returns:
            Their indices and their ticks, both ``(samples,)``; Python integers (dtype object) past 64 bits.
        """
        first, last = self.last_index_at(as_index(start) - 1) + 1, self.last_index_at(as_index(stop) - 1)
        phase, period, denominator = self.lattice
        if phase + (last + 1) * period + denominator < _INT64_SAFE:
            indices = np.arange(first, last + 1, dtype=np.int64)
            if denominator == 1:  # on the grid
                return indices, phase + indices * period
            return indices, -(-(phase + indices * period) // denominator)
        wide = range(first, last + 1)
        return _integers(list(wide)), _integers([self.tick(k) for k in wide])


@dataclass(frozen=True, slots=True, order=True)
class EpisodeTime:
    """An instant of one episode and, for a sample, its identity: reset returns the tick to zero.

    Attributes:
        episode_index: number of the episode within its session.
        tick: boundary within the episode.
    """

    episode_index: int
    tick: int

    def time_s(self, grid: Grid) -> float:
        """Time since the episode began [s]."""
        return grid.time_s(self.tick)


@dataclass(frozen=True, slots=True, order=True)
class SessionTime:
    """An instant of a host's session: it only grows, through every reset.

    Attributes:
        tick: steps made since the session began.
    """

    tick: int = 0

    def advanced(self, ticks: int = 1) -> SessionTime:
        """The instant ``ticks`` steps later.

        Raises:
            GridError: ``ticks`` is negative.
        """
        if ticks < 0:
            raise GridError(f"session time only grows; found {ticks} ticks")
        return SessionTime(self.tick + ticks)

    def time_s(self, grid: Grid) -> float:
        """Time since the session began [s]."""
        return grid.time_s(self.tick)


def _times(grid: Grid, period: Seconds, phase: Seconds, policy: str) -> tuple[Fraction, Fraction, tuple[int, int, int]]:
    """Period, phase and lattice of a schedule."""
    every, start = _checked_times(grid, period, phase, policy)
    steps, offset = every / grid.timestep, start / grid.timestep
    denominator = math.lcm(steps.denominator, offset.denominator)
    return every, start, (_whole(offset, denominator), _whole(steps, denominator), denominator)


_known_times = functools.lru_cache(maxsize=2**12)(_times)
"""The same of floats: cells of a sweep have many schedules in common."""


def _whole(quotient: Fraction, denominator: int) -> int:
    """The numerator over a denominator that the quotient's own divides."""
    return quotient.numerator * (denominator // quotient.denominator)


def _check_policy(policy: str) -> None:
    if policy not in QUANTIZATIONS:
        raise GridError(f"unknown quantization policy {policy!r}; there is: {', '.join(QUANTIZATIONS)}")


def _checked_times(grid: Grid, period: Seconds, phase: Seconds, policy: str) -> tuple[Fraction, Fraction]:
    every, start = exact_seconds(period), exact_seconds(phase)
    if every < grid.timestep:
        raise GridError(
            f"the period {decimal_seconds(every)} is shorter than the timestep {decimal_seconds(grid.timestep)}, "
            "so samples would be merged"
        )
    if not 0 <= start < every:
        raise GridError(f"the phase must be in [0, period), below {decimal_seconds(every)}; found {phase!r}")
    for what, value in (("period", every), ("phase", start)):
        if policy == "strict" and value % grid.timestep:
            raise GridError(_off_grid(f"the {what}", value, grid.timestep, [every, start]))
    return every, start


def _off_grid(what: str, value: Fraction, timestep: Fraction, values: list[Fraction]) -> str:
    """Says that ``value`` is off the grid, its nearest neighbour on it, and the timestep that suits all ``values``."""
    nearest = math.floor(value / timestep + Fraction(1, 2)) * timestep
    common = timestep
    for other in values:
        common = _common_divisor(common, other)
    return (
        f"{what} {decimal_seconds(value)} is not a whole number of timesteps of {decimal_seconds(timestep)} (policy "
        f"strict): the nearest that is one is {decimal_seconds(nearest)}; a timestep of {decimal_seconds(common)} "
        "would work"
    )


def _common_divisor(a: Fraction, b: Fraction) -> Fraction:
    """The greatest rational of which both are whole multiples."""
    denominator = a.denominator * b.denominator
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), denominator)


def _integers(values: list[int]) -> NDArray[Any]:
    fits = all(abs(value) < 2**63 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)
