"""The stages that turn a command into what the hardware is asked for; see :mod:`sweep.plan.drivers` for their order.

A stage works on whole blocks, ``(lanes, ticks, width)``; what it remembers is carried from block to block, so that
the length of blocks is no matter.  A lane or control whose parameter is neutral passes a stage bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.plan.drivers import DriverSpec
from sweep.plan.imperfection import exp_of
from sweep.plan.units import exact_seconds, simplest_rational

Floats = NDArray[np.float64]

_REACHED = 1e-9
"""What is left of a slewed way below this part of a tick's step counts as rounding, so that k steps take k ticks."""


def control_numbers(specs: Sequence[Any], read: Callable[[Any], float | tuple[float, ...]], width: int) -> Floats:
    """A parameter of every lane and control, ``(lanes, width)``; one number serves all controls of its lane."""
    return np.array([np.broadcast_to(np.asarray(read(spec), np.float64), (width,)) for spec in specs])


class Stage(ABC):
    """One stage of all lanes.

    Args:
        parameter: ``(lanes, width)``; where it equals ``neutral``, values pass unchanged.
        neutral: what has no effect.

    Attributes:
        active: whether it does anything at all.
    """

    def __init__(self, parameter: Floats, neutral: float) -> None:
        works = parameter != neutral
        self.active = bool(works.any())
        self._only = None if works.all() else works[:, None]

    def __call__(self, values: Floats) -> Floats:
        """The values of a block after this stage; the values given stay as they are."""
        converted = self.convert(values)
        return converted if self._only is None else np.where(self._only, converted, values)

    @abstractmethod
    def convert(self, values: Floats) -> Floats:
        """The same for lanes and controls that are not neutral; of the others anything."""


def active_stages(stages: Iterable[Stage]) -> list[Stage]:
    """The stages that do anything, in their order."""
    return [stage for stage in stages if stage.active]


class DeadBand(Stage):
    """Small values act as zero.

    Args:
        half_width: ``(lanes, width)`` the magnitude up to which they do.
        jump: whether a larger value acts in full, instead of by what it exceeds the band.
    """

    def __init__(self, half_width: Floats, *, jump: bool) -> None:
        super().__init__(half_width, 0.0)
        self._jump = jump
        self._high = half_width[:, None]
        self._low = -self._high

    def convert(self, values: Floats) -> Floats:
        """See :meth:`Stage.convert`."""
        if self._jump:
            return np.where(np.abs(values) <= self._high, 0.0, values)
        held: Floats = np.minimum(np.maximum(values, self._low), self._high)
        return values - held


class Resolution(Stage):
    """Values become the nearest multiple of a step, of two that are equally near the even one.

    Args:
        step: ``(lanes, width)``.
    """

    def __init__(self, step: Floats) -> None:
        super().__init__(step, 0.0)
        self._step = np.where(step > 0, step, 1.0)[:, None]

    def convert(self, values: Floats) -> Floats:
        """See :meth:`Stage.convert`."""
        rounded: Floats = np.rint(values / self._step) * self._step
        return rounded


class SlewLimit(Stage):
    """Values follow as fast as they may.

    Args:
        rise: ``(lanes, width)`` most that they rise in a tick; infinite is no limit.
        fall: the same downwards.
        initial: ``(lanes, width)`` the value before the first tick.
    """

    def __init__(self, rise: Floats, fall: Floats, initial: Floats) -> None:
        slower = np.minimum(rise, fall)
        super().__init__(slower, np.inf)
        self._rise, self._fall, self._rest = rise, fall, _REACHED * slower
        self._value = initial

    def convert(self, values: Floats) -> Floats:
        """See :meth:`Stage.convert`."""
        before = np.concatenate([self._value[:, None], values[:, :-1]], axis=1)
        rise, fall = self._rise[:, None], self._fall[:, None]
        if ((values <= before + rise) & (values >= before - fall)).all():
            self._value = values[:, -1].copy()
            return values
        return self._followed(values)

    def _followed(self, values: Floats) -> Floats:
        followed = np.empty_like(values)
        for tick in range(values.shape[1]):
            target = values[:, tick]
            value = np.minimum(np.maximum(target, self._value - self._fall), self._value + self._rise)
            self._value = np.where(np.abs(target - value) <= self._rest, target, value)
            followed[:, tick] = self._value
        return followed


class Lag(Stage):
    """A first-order lag of values that are held for a tick: exact, as it stands at the tick's end.

    Args:
        follows: ``(lanes, width)`` the part of what is left that it follows in a tick, ``1 - exp(-timestep / lag)``.
        initial: ``(lanes, width)`` its value before the first tick.
    """

    def __init__(self, follows: Floats, initial: Floats) -> None:
        super().__init__(follows, 1.0)
        self._follows = follows
        self._value = initial

    def convert(self, values: Floats) -> Floats:
        """See :meth:`Stage.convert`."""
        lagged = np.empty_like(values)
        for tick in range(values.shape[1]):
            self._value = self._value + self._follows * (values[:, tick] - self._value)
            lagged[:, tick] = self._value
        return lagged


class Factor(Stage):
    """Values are multiplied.

    Args:
        factor: ``(lanes, width)``.
    """

    def __init__(self, factor: Floats) -> None:
        super().__init__(factor, 1.0)
        self._only = None  # a factor of 1 changes no bit
        self._factor = factor[:, None]

    def convert(self, values: Floats) -> Floats:
        """See :meth:`Stage.convert`."""
        return values * self._factor


def dead_band(specs: Sequence[Any], width: int) -> list[Stage]:
    """The stage of ``dead_band`` and ``dead_band_jump`` of specs that have them, if it does anything."""
    return active_stages([DeadBand(control_numbers(specs, lambda s: s.dead_band, width), jump=specs[0].dead_band_jump)])


def resolution(specs: Sequence[DriverSpec], width: int) -> Resolution:
    """The stage of the field of the same name."""
    return Resolution(control_numbers(specs, lambda s: s.resolution, width))


def slew_limit(specs: Sequence[DriverSpec], initial: Floats, timestep: Fraction) -> SlewLimit:
    """The stage of ``slew_per_s``, ``slew_up_per_s`` and ``slew_down_per_s``."""

    def steps(rates: tuple[float, ...] | None) -> float | tuple[float, ...]:
        return np.inf if rates is None else tuple(float(simplest_rational(rate) * timestep) for rate in rates)

    width = initial.shape[1]
    rise = control_numbers(specs, lambda s: steps(s.slew_per_s or s.slew_up_per_s), width)
    fall = control_numbers(specs, lambda s: steps(s.slew_per_s or s.slew_down_per_s), width)
    return SlewLimit(rise, fall, initial)


def lag(specs: Sequence[DriverSpec], initial: Floats, timestep: Fraction) -> Lag:
    """The stage of ``lag_s``."""

    def follows(spec: DriverSpec) -> float:
        return float(1 - exp_of(-timestep / exact_seconds(spec.lag_s))) if spec.lag_s else 1.0

    return Lag(control_numbers(specs, follows, initial.shape[1]), initial)
