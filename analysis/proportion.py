"""Proportions of runs that ended well: one, and the difference of two on the same seeds."""

from __future__ import annotations

import math

from analysis.interval import LEVEL, Interval


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval | None:
    """Proportion with Wilson's score interval; None of no trials.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    J. Am. Stat. Assoc. 22 (1927) 209-212.
    """
    if n == 0:
        return None
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # The formula's limits are exact at the ends; rounding is kept from moving them past 0 and 1.
    low, high = (0.0 if successes == 0 else centre - half), (1.0 if successes == n else centre + half)
    return Interval(p, low, high, n)


def mcnemar_exact(only_base: int, only_other: int) -> float:
    """Two-sided p of McNemar's test by the binomial distribution of the discordant pairs (1 without any).

    Source: Q. McNemar, Psychometrika 12 (1947) 153-157; exact form in A. Agresti, Categorical Data
    Analysis, 3rd ed. (2013), section 11.1.
    """
    n, k = only_base + only_other, min(only_base, only_other)
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return min(1.0, float(2 * tail / 2**n))


def newcombe_paired(both: int, only_base: int, only_other: int, neither: int, level: float = LEVEL) -> Interval | None:
    """Difference of paired proportions, ``P(other) - P(base)``, by Newcombe's method 10; None of no pairs.

    Source: R. G. Newcombe, Improved confidence intervals for the difference between binomial proportions
    based on paired data, Stat. Med. 17 (1998) 2635-2650, method 10 (score intervals, corrected φ).
    """
    n = both + only_base + only_other + neither
    if n == 0:
        return None
    up_base, down_base = _arms(both + only_base, n, level)
    up_other, down_other = _arms(both + only_other, n, level)
    phi = _phi(both, only_base, only_other, neither)
    difference = (only_other - only_base) / n
    lower = math.sqrt(max(0.0, down_other**2 - 2 * phi * down_other * up_base + up_base**2))
    upper = math.sqrt(max(0.0, up_other**2 - 2 * phi * up_other * down_base + down_base**2))
    return Interval(difference, difference - lower, difference + upper, n)


def _arms(successes: int, n: int, level: float) -> tuple[float, float]:
    """How far the score interval reaches above and below the proportion."""
    found = wilson(successes, n, level)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.high - found.estimate, found.estimate - found.low


def _phi(e: int, f: int, g: int, h: int) -> float:
    """The correlation of a paired 2x2 table, shrunk towards 0 as method 10 asks."""
    product = (e + f) * (g + h) * (e + g) * (f + h)
    if product == 0:
        return 0.0
    excess = e * h - f * g
    if excess > 0:
        return max(excess - (e + f + g + h) / 2, 0.0) / math.sqrt(product)
    return excess / math.sqrt(product)
