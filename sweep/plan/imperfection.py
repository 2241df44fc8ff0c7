"""What is wrong with a measurement: the sources of error of a three-axis quantity, and their numbers per sample.

Every sensor's truth, taken at its actual acquisition in the frame it is mounted in, goes through the same steps:

    scale -> misalignment -> bias -> drift -> white noise -> bandwidth -> clamp -> quantization -> wrap

and then to the transport.  A source that is not given does not exist: nothing is drawn or computed for it.  A register
that wraps counts steps, so wrapping comes after quantization: a turn has exactly its number of counts.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from sweep.plan.fields import NonNegative, Number, PositiveSeconds, Section, one_or_many
from sweep.plan.units import UNITS, exact_seconds, quantity

Positive = Annotated[Number, Field(gt=0)]
"""A finite number above zero."""

Axes = Annotated[tuple[Number, ...], BeforeValidator(one_or_many), Field(min_length=1, max_length=3)]
"""One number for all three axes, or one each."""

Rounding = Literal["nearest", "floor"]


def in_unit(unit: str) -> BeforeValidator:
    """Reads texts such as ``"5 mm"`` in an SI unit; numbers are in it already."""
    return BeforeValidator(lambda value: quantity(value, unit) if isinstance(value, str) else value)


def _rows(value: Any) -> Any:
    return tuple(one_or_many(row) for row in value) if isinstance(value, list) else value


_Row = tuple[Number, Number, Number]
Matrix = Annotated[tuple[_Row, _Row, _Row], BeforeValidator(_rows)]
"""A 3 x 3 matrix, by rows."""

SOURCES = ("white", "random_walk", "bias_instability")
"""Noise streams that an :class:`Imperfection` may draw from, one draw per acquisition."""

EPISODE_SOURCES = ("bias",)
"""Those with one draw per episode."""


def stream_names(sources: tuple[str, ...], *parts: str) -> tuple[str, ...]:
    """Stream names of the parts of a device, for example ``gyro_white``."""
    return tuple(f"{part}_{source}" for part in parts for source in sources)


class Range(Section):
    """The values that a device can show.

    Attributes:
        low: the lowest [u].
        high: the highest [u].
        mode: ``clamp`` stays at the limits, ``wrap`` starts over at ``low`` when it reaches ``high``.
    """

    low: Number
    high: Number
    mode: Literal["clamp", "wrap"] = "clamp"

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if self.low >= self.high:
            raise ValueError(f"low must be below high, found {self.low:g} and {self.high:g}")
        return self


class Imperfection(Section):
    """Imperfections of a three-axis quantity of unit u; what is not given does not exist.

    Attributes:
        scale_error: relative error of the scale, one for all axes or one each; 0.01 shows 1 % too much [-].
        misalignment: 3 x 3 matrix, by rows, that turns the axes of the mount into those of the device: near the
            identity, its other entries are the small angles between axes [rad] and cross-axis sensitivity [-].
        bias: constant offset, one for all axes or one each [u].
        bias_std: standard deviation of a further offset that is drawn once an episode: turn-on bias [u].
        random_walk: density of a bias that wanders freely, from 0 at time 0 [u/sqrt(s)].
        bias_instability: standard deviation that a wandering bias reaches, from 0 at time 0 (first-order Gauss-Markov:
            a driving density s [u/sqrt(s)] reaches ``s sqrt(correlation_time_s / 2)``) [u].
        correlation_time_s: over which that bias forgets [s].
        white_std: standard deviation of white noise of each sample, whatever the rate [u]; or
        white_density: density of white noise, so that each sample has ``white_density / sqrt(period_s)``: an ideal
            low-pass at half the rate is meant [u/sqrt(Hz)].
        bandwidth_hz: corner of a first-order low-pass that runs at the device's own rate [Hz].
        range: ``{low, high, mode}``: the values that it can show [u]; mode ``clamp`` or ``wrap``.
        resolution: step of its values [u].
        rounding: ``nearest`` step (ties to even) or ``floor``.
    """

    scale_error: Axes | None = None
    misalignment: Matrix | None = None
    bias: Axes | None = None
    bias_std: NonNegative | None = None
    random_walk: NonNegative | None = None
    bias_instability: NonNegative | None = None
    correlation_time_s: PositiveSeconds | None = None
    white_std: NonNegative | None = None
    white_density: NonNegative | None = None
    bandwidth_hz: Annotated[float, in_unit("Hz"), Field(gt=0)] | None = None
    range: Range | None = None
    resolution: Positive | None = None
    rounding: Rounding = "nearest"

    @model_validator(mode="after")
    def _consistent(self) -> Imperfection:
        if self.white_std is not None and self.white_density is not None:
            raise ValueError("give white_std (per sample) or white_density (per root hertz), not both")
        if (self.bias_instability is None) != (self.correlation_time_s is None):
            raise ValueError("bias_instability and correlation_time_s go together")
        for name in ("scale_error", "bias"):
            if len(getattr(self, name) or (0.0,)) == 2:
                raise ValueError(f"{name} takes one number, or one for each of three axes")
        return self

    def structure(self) -> dict[str, Any]:
        """What lanes of one batch must share: which sources there are, not their numbers."""
        given = sorted(name for name in type(self).model_fields if getattr(self, name) is not None)
        return {"given": given, "rounding": self.rounding, "range": self.range and self.range.mode}

    def limits(self, mode: str) -> tuple[float, float] | None:
        """Lowest and highest value, if they are limited in this mode [u]."""
        return None if self.range is None or self.range.mode != mode else (self.range.low, self.range.high)

    def white_std_at(self, period_s: float) -> float | None:
        """White noise per sample at an acquisition period [s]: ``density / sqrt(period)`` [u] (Kalibr's model)."""
        if self.white_density is not None:
            return self.white_density / math.sqrt(period_s)
        return self.white_std

    def random_walk_at(self, period_s: float) -> float | None:
        """Standard deviation of the random walk's increment per sample: ``density sqrt(period)`` [u]."""
        return None if self.random_walk is None else self.random_walk * math.sqrt(period_s)

    def bias_instability_at(self, period_s: float) -> tuple[float, float] | None:
        """The Gauss-Markov bias, sampled: ``b(n) = decay b(n - 1) + step w(n)`` with standard normal ``w``.

        Returns:
            ``decay = exp(-period / tau)`` and ``step = std sqrt(1 - decay**2)``, which is
            ``sqrt(s**2 (tau / 2) (1 - exp(-2 period / tau)))`` of a driving density ``s = std sqrt(2 / tau)``.
        """
        if self.bias_instability is None or self.correlation_time_s is None:
            return None
        time = exact_seconds(period_s) / exact_seconds(self.correlation_time_s)
        forgotten = 1 - exp_of(-2 * time)
        with localcontext(prec=_DIGITS):
            return float(exp_of(-time)), float(forgotten.sqrt() * Decimal(self.bias_instability))

    def low_pass_at(self, period_s: float) -> float | None:
        """What the low-pass keeps of its last output after a period: ``exp(-2 pi bandwidth period)``."""
        if self.bandwidth_hz is None:
            return None
        return float(exp_of(-UNITS["rad"]["rev"] * Fraction(self.bandwidth_hz) * exact_seconds(period_s)))


_DIGITS = 40


def exp_of(exponent: Fraction) -> Decimal:
    """The exponential to 40 digits: decimal arithmetic has the same digits on every machine, a C library need not."""
    with localcontext(prec=_DIGITS):
        return (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
