"""Pairs of runs by seed: the proof that they saw the same noise, and what pairing was worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from analysis.format import grouped
from analysis.moments import PairedMoments
from sweep.results import StreamReceipt

Recompute = Callable[[str, int, int, int], str]
"""``recompute(key, first, count, width) -> digest`` of those raw words; the runtime's generator, wired by the cli."""

MOST_WORTH = 100_000
"""Independent runs that are counted one by one; what is left of the noise beyond them is mostly rounding."""

Pair = tuple[int, str, str]
"""A seed, and the receipts of its two runs as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCheck:
    """Whether the runs of each pair drew the same noise.

    Attributes:
        pairs: pairs looked at.
        streams: streams that both runs of some pair drew from.
        out_of_step: ``component/stream`` to the seeds where the two differ.
        unproved: streams of which the two drew different amounts, equal in key, not recomputed.
    """

    pairs: int
    streams: int
    out_of_step: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    unproved: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether every common prefix is proved equal."""
        return not self.out_of_step and not self.unproved

    @property
    def words(self) -> str:
        """The finding, in a few words."""
        if self.pairs == 0:
            return "no pairs"
        if self.out_of_step:
            name, seeds = next(iter(self.out_of_step.items()))
            more = f" and {len(self.out_of_step) - 1} more" if len(self.out_of_step) > 1 else ""
            return f"{name}{more} out of step in {len(seeds)} of {self.pairs} pairs"
        if self.unproved:
            return "same noise keys"
        return "identical noise" if self.streams else "no noise"


def check_streams(pairs: Iterable[Pair], recompute: Recompute | None = None) -> StreamCheck:
    """Compare the noise receipts of paired runs on their common prefix.

    A stream that only one run drew from has an empty common prefix and is fine.

    Args:
        pairs: the seed of each pair, and both runs' receipts as the JSON text of the ledger.
        recompute: gives the digest of a prefix, so that receipts of different length can be proved too.
    """
    count = 0
    names: set[str] = set()
    apart: dict[str, list[int]] = {}
    unproved: set[str] = set()
    for seed, base, other in pairs:
        count += 1
        if base == other:
            names = names or set(_names(base))  # the Plan decides which streams there are: one pair names them all
            continue
        x, y = receipts_of(base), receipts_of(other)
        for name in x.keys() & y.keys():
            names.add(name)
            verdict = _same(x[name], y[name], recompute)
            if verdict is None:
                unproved.add(name)
            elif not verdict:
                apart.setdefault(name, []).append(seed)
    return StreamCheck(
        pairs=count,
        streams=len(names),
        out_of_step={name: tuple(seeds) for name, seeds in sorted(apart.items())},
        unproved=tuple(sorted(unproved - set(apart))),
    )


@lru_cache(maxsize=256)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))  # that of a baseline's run is looked at for every cell


def receipts_of(text: str) -> dict[str, StreamReceipt]:
    """Receipts from their JSON text."""
    return {name: StreamReceipt(**receipt) for name, receipt in json.loads(text).items()}


def _same(a: StreamReceipt, b: StreamReceipt, recompute: Recompute | None) -> bool | None:
    if (a.key, a.first, a.width) != (b.key, b.first, b.width):
        return False
    short, long = sorted((a, b), key=lambda receipt: receipt.count)
    if short.count == long.count:
        return a.digest == b.digest
    if recompute is None:
        return None if short.count else True
    # Both digests must be what the key gives: then one is a prefix of the other.
    return all(recompute(r.key, r.first, r.count, r.width) == r.digest for r in (long, short) if r.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingReceipt:
    """What pairing was worth for one metric.

    Attributes:
        pairs: pairs that have both values.
        correlation: Pearson's, between the two cells over seeds; None when one of them does not vary.
        variance_ratio: variance of a difference of unpaired runs over that of paired ones; None when
            the paired differences do not vary (no noise is left) or fewer than 3 pairs exist.
    """

    pairs: int
    correlation: float | None
    variance_ratio: float | None

    @property
    def worth(self) -> int | None:
        """Independent runs per cell that would give the same standard error."""
        return None if self.variance_ratio is None else round(self.pairs * self.variance_ratio)

    @property
    def hurts(self) -> bool:
        """Whether independent runs would have been better."""
        return self.variance_ratio is not None and self.variance_ratio < 1.0

    @property
    def words(self) -> str:
        """One clause for people."""
        if self.worth is None:
            return ""
        if self.hurts:
            return f"pairing did not help: {self.pairs} pairs were worth {self.worth} independent runs"
        return f"{self.pairs} pairs were worth {'more than ' if self.worth > MOST_WORTH else ''}{self._worth}"

    @property
    def at_least(self) -> str:
        """The same clause about the least of several."""
        return f"{self.pairs} pairs were worth at least {self._worth}" if self.worth is not None else ""

    @property
    def _worth(self) -> str:
        worth = self.worth or 0
        return f"{grouped(min(worth, MOST_WORTH))} independent runs"


def pairing_receipts(moments: PairedMoments) -> list[PairingReceipt]:
    """How much the pairing narrowed each difference.

    With n pairs the variance of the mean difference is ``var(d)/n``; with n independent runs per cell it is
    ``(var(x) + var(y))/n``.  Their ratio is what one pair is worth in independent runs per cell.

    Source: P. Glasserman, Monte Carlo Methods in Financial Engineering (2004), section 4.2 on common
    random numbers; the ratio is 1/(1 - ρ) when both variances are equal.
    """
    both = moments.var_base + moments.var_other
    # Below this the differences are rounding of equal numbers, and the ratio would be a random large one.
    noisy = moments.var_difference > 1e-24 * (2 * moments.largest) ** 2
    enough = moments.n >= 3
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = moments.covariance / np.sqrt(moments.var_base * moments.var_other)
        ratio = np.where(enough & noisy & (both > 0), both / moments.var_difference, np.nan)
    correlation = np.where(enough & np.isfinite(correlation), np.clip(correlation, -1.0, 1.0), np.nan)
    columns = (moments.n.tolist(), correlation.tolist(), ratio.tolist())
    return [
        PairingReceipt(pairs=n, correlation=c if c == c else None, variance_ratio=r if r == r else None)
        for n, c, r in zip(*columns, strict=True)
    ]
