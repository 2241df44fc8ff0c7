"""How messages travel: the samples of a device, the commands to a driver.

A message is sent at a boundary and asked to arrive ``latency + jitter`` later; it arrives at the first boundary at or
after that instant, unless it is lost.  What happens to a message is drawn from two noise streams of the component,
addressed by the message's draw index: ``latency`` (one word) and ``dropout`` (two words).  A stream exists where the
specification asks for it, whatever the numbers are, so that a probability of 0 draws what its neighbour of 0.1 draws.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from sweep.plan.component import ComponentSpec
from sweep.plan.fields import NonNegative, Numbers, Seconds, Section, one_or_many

Probability = Annotated[NonNegative, Field(le=1)]
"""A number from 0 to 1."""

ManySeconds = Annotated[tuple[Seconds, ...], BeforeValidator(one_or_many), Field(min_length=1)]
"""One duration or a list of them [s]."""

TRANSPORT_STREAMS = ("latency", "dropout")
"""Noise streams that every component with a transport may draw from."""

S = TypeVar("S")


class UniformJitter(Section):
    """Every delay of an interval is equally likely.

    Attributes:
        low_s: shortest additional delay [s].
        high_s: longest additional delay [s], itself excluded.
    """

    type: Literal["uniform"]
    low_s: Seconds = 0.0
    high_s: Seconds

    @model_validator(mode="after")
    def _ordered(self) -> UniformJitter:
        return _rising(self, "low_s", "high_s")

    @property
    def bounds_s(self) -> tuple[float, float]:
        """Shortest and longest additional delay [s]."""
        return self.low_s, self.high_s


class TriangularJitter(Section):
    """A density that rises linearly to the mode and falls linearly after it.

    Attributes:
        low_s: shortest additional delay [s].
        mode_s: most likely one [s].
        high_s: longest one [s].
    """

    type: Literal["triangular"]
    low_s: Seconds = 0.0
    mode_s: Seconds
    high_s: Seconds

    @model_validator(mode="after")
    def _ordered(self) -> TriangularJitter:
        return _rising(self, "low_s", "mode_s", "high_s")

    @property
    def bounds_s(self) -> tuple[float, float]:
        """Shortest and longest additional delay [s]."""
        return self.low_s, self.high_s


class TruncatedNormalJitter(Section):
    """A normal distribution given that it lies between two bounds.

    Attributes:
        mean_s: mean of the normal distribution before it is cut [s]; it lies between the bounds.
        std_s: its standard deviation before it is cut [s].
        low_s: shortest additional delay [s].
        high_s: longest one [s].
    """

    type: Literal["truncated_normal"]
    mean_s: Seconds
    std_s: Seconds
    low_s: Seconds = 0.0
    high_s: Seconds

    @model_validator(mode="after")
    def _ordered(self) -> TruncatedNormalJitter:
        return _rising(self, "low_s", "mean_s", "high_s")

    @property
    def bounds_s(self) -> tuple[float, float]:
        """Shortest and longest additional delay [s]."""
        return (self.low_s, self.high_s) if self.std_s else (self.mean_s, self.mean_s)


class LognormalJitter(Section):
    """A delay whose logarithm is normal, given that it stays below a bound: the long tail of networks.

    Attributes:
        median_s: median before it is cut [s].
        sigma: standard deviation of the logarithm.
        high_s: longest additional delay [s], at least the median.
    """

    type: Literal["lognormal"]
    median_s: Seconds
    sigma: NonNegative
    high_s: Seconds

    @model_validator(mode="after")
    def _ordered(self) -> LognormalJitter:
        return _rising(self, "median_s", "high_s")

    @property
    def bounds_s(self) -> tuple[float, float]:
        """Shortest and longest additional delay [s]."""
        return (0.0, self.high_s) if self.sigma else (self.median_s, self.median_s)


class DiscreteJitter(Section):
    """One of a few delays.

    Attributes:
        values_s: the additional delays [s].
        weights: how likely each is, relative to the others; equally likely if not given.
    """

    type: Literal["discrete"]
    values_s: ManySeconds
    weights: Numbers | None = None

    @model_validator(mode="after")
    def _weighted(self) -> DiscreteJitter:
        if self.weights is None:
            return self
        if len(self.weights) != len(self.values_s):
            raise ValueError(f"{len(self.weights)} weights for {len(self.values_s)} values_s; there is one each")
        if min(self.weights) < 0 or not sum(self.weights) > 0:
            raise ValueError("weights are at least 0, and one is above 0")
        return self

    @property
    def bounds_s(self) -> tuple[float, float]:
        """Shortest and longest additional delay [s]."""
        return min(self.values_s), max(self.values_s)


JitterSpec = UniformJitter | TriangularJitter | TruncatedNormalJitter | LognormalJitter | DiscreteJitter
"""A distribution of additional delay, told apart by its ``type``."""


class BurstLoss(Section):
    """Loss in bursts: a link that is good or bad (Gilbert-Elliott).

    The link is good before the first message; each message first moves the link, then may be lost in it.  In the long
    run it is bad for ``p_good_to_bad / (p_good_to_bad + p_bad_to_good)`` of the messages, for
    ``1 / p_bad_to_good`` messages at a time on average.

    Sources: E. N. Gilbert, Bell System Technical Journal 39 (1960), 1253-1265; E. O. Elliott, same journal 42 (1963),
    1977-1997.

    Attributes:
        p_good_to_bad: probability that a message turns a good link bad.
        p_bad_to_good: probability that a message turns a bad link good.
        loss_good: probability that a message is lost in a good link.
        loss_bad: probability that a message is lost in a bad link.
    """

    p_good_to_bad: Probability
    p_bad_to_good: Probability
    loss_good: Probability = 0.0
    loss_bad: Probability = 1.0


class TransportSpec(ComponentSpec):
    """A component whose messages travel: what the Manifest says of their way, beside the latency.

    Attributes:
        jitter: additional delay of each message, drawn when it is sent.
        drop_probability: how likely a message is lost, each by itself.
        burst_loss: loss in bursts, instead.
        ordering: ``fifo``: a message never arrives before an earlier one; ``overtaking``: it may, and the last arrival
            wins (of two at once, the one sent later).
    """

    varying: ClassVar[frozenset[str]] = frozenset({"jitter", "drop_probability", "burst_loss"})

    jitter: Annotated[JitterSpec | None, Field(discriminator="type")] = None
    drop_probability: Probability | None = None
    burst_loss: BurstLoss | None = None
    ordering: Literal["fifo", "overtaking"] = "fifo"

    @model_validator(mode="after")
    def _one_loss(self) -> TransportSpec:
        if self.drop_probability is not None and self.burst_loss is not None:
            raise ValueError("give either drop_probability or burst_loss, whose loss_good loses single messages too")
        return self

    @property
    def transport_streams(self) -> tuple[str, ...]:
        """The noise streams that its transport draws from."""
        lossy = self.drop_probability is not None or self.burst_loss is not None
        return ("latency",) * (self.jitter is not None) + ("dropout",) * lossy

    def structure(self) -> dict[str, Any]:
        """See :meth:`ComponentSpec.structure`: which imperfections there are, not how strong they are."""
        jitter = None if self.jitter is None else self.jitter.type
        choices = len(self.jitter.values_s) if isinstance(self.jitter, DiscreteJitter) else 0
        losses = [self.drop_probability is not None, self.burst_loss is not None]
        return super().structure() | {"transport": [jitter, choices, *losses]}


def _rising(spec: S, *fields: str) -> S:
    """The same, once its bounds are known to be in order."""
    values = [getattr(spec, field) for field in fields]
    if values != sorted(values):
        found = ", ".join(f"{field} = {value:g}" for field, value in zip(fields, values, strict=True))
        raise ValueError(f"needs {' <= '.join(fields)}; found {found}")
    return spec
