"""Interval estimates and tests: few, each with its source, none of them cleverer than the data.

All are two-sided.  ``low`` and ``high`` are None where the data cannot give an interval (a single value);
identical values give an interval of no width, which is what was seen, over the seeds given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95
ROUNDING = 1e-14
"""Relative size of what floating-point subtraction leaves of equal differences."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its confidence interval.

    Attributes:
        estimate: the point estimate.
        low: lower limit; None if there is none.
        high: upper limit; None if there is none.
        n: values, pairs or trials it rests on.
    """

    estimate: float
    low: float | None
    high: float | None
    n: int

    @property
    def half_width(self) -> float | None:
        """Half of the interval's width; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """Whether the interval exists and does not hold ``value``."""
        return self.low is not None and self.high is not None and not self.low <= value <= self.high


def t_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t with ``degrees`` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def mean_t(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Mean with Student's t interval, ``m ± t(1 - α/2; n - 1) s / √n``; None of no values.

    Source: "Student", The probable error of a mean, Biometrika 6 (1908) 1-25.
    """
    n = len(values)
    if n == 0:
        return None
    data = np.asarray(values, dtype=float)
    if np.ptp(data) == 0.0:  # the mean of equal numbers is that number, without rounding
        only = float(data[0])
        return Interval(only, None, None, n) if n == 1 else Interval(only, only, only, n)
    mean = float(data.mean())
    half = t_quantile((1 + level) / 2, n - 1) * float(data.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def paired_t(base: Sequence[float], other: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Mean of the paired differences ``other - base`` with its t interval; the two go in the same order.

    Differences that are equal but for rounding count as equal.

    Source: as :func:`mean_t`, of the differences (Student's own example in the paper of 1908 is paired).
    """
    differences = [y - x for x, y in zip(base, other, strict=True)]
    if len(differences) > 1:
        size = max(map(abs, (*base, *other)))
        if max(differences) - min(differences) <= ROUNDING * size:
            differences = [math.fsum(differences) / len(differences)] * len(differences)
    return mean_t(differences, level)


def ratio_fieller(base: Sequence[float], other: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Relative change ``mean(other) / mean(base) - 1`` of paired data, signed by the base's magnitude.

    The interval holds every ratio θ for which the paired t interval of ``other - θ base`` holds 0.  None
    when the base's mean is not clearly away from 0: the set is then unbounded and a percentage means nothing.

    Source: E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954) 175-185.
    """
    n = len(base)
    x, y = np.asarray(base, dtype=float), np.asarray(other, dtype=float)
    mx, my = (float(x.mean()), float(y.mean())) if n else (0.0, 0.0)
    if mx == 0.0:
        return None
    sign = math.copysign(1.0, mx)
    ratio = my / mx
    if n == 1:
        return Interval(sign * (ratio - 1), None, None, n)
    (sxx, sxy), (_, syy) = np.cov(x, y) * (t_quantile((1 + level) / 2, n - 1) ** 2 / n)
    a, b, c = mx * mx - sxx, mx * my - sxy, my * my - syy
    if a <= 1e-12 * mx * mx:
        return None
    spread = b * b - a * c
    if spread <= 100 * ROUNDING * b * b:  # proportional data: what is left of the discriminant is rounding
        return Interval(sign * (ratio - 1), sign * (ratio - 1), sign * (ratio - 1), n)
    root = math.sqrt(spread)
    limits = sorted((sign * ((b - root) / a - 1), sign * ((b + root) / a - 1)))
    return Interval(sign * (ratio - 1), limits[0], limits[1], n)


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval | None:
    """Proportion with Wilson's score interval; None of no trials.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference,
    J. Am. Stat. Assoc. 22 (1927) 209-212.
    """
    if n == 0:
        return None
    z = normal_quantile((1 + level) / 2)
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
    base, other = wilson(both + only_base, n, level), wilson(both + only_other, n, level)
    if (
        base is None
        or other is None
        or base.low is None
        or base.high is None
        or other.low is None
        or other.high is None
    ):
        return None
    phi = _phi(both, only_base, only_other, neither)
    down_other, up_base = other.estimate - other.low, base.high - base.estimate
    up_other, down_base = other.high - other.estimate, base.estimate - base.low
    difference = (only_other - only_base) / n
    lower = math.sqrt(max(0.0, down_other**2 - 2 * phi * down_other * up_base + up_base**2))
    upper = math.sqrt(max(0.0, up_other**2 - 2 * phi * up_other * down_base + down_base**2))
    return Interval(difference, difference - lower, difference + upper, n)


def _phi(e: int, f: int, g: int, h: int) -> float:
    """The correlation of a paired 2x2 table, shrunk towards 0 as method 10 asks."""
    product = (e + f) * (g + h) * (e + g) * (f + h)
    if product == 0:
        return 0.0
    excess = e * h - f * g
    if excess > 0:
        return max(excess - (e + f + g + h) / 2, 0.0) / math.sqrt(product)
    return excess / math.sqrt(product)


def signed_rank_exact(differences: Sequence[float]) -> float:
    """Two-sided p of Wilcoxon's signed-rank test by its exact distribution; zeros leave, ties share their rank.

    Infinite differences are allowed and rank last, tied: a failure against a value is the largest change.

    Source: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bull. 1 (1945) 80-83;
    exact distribution given the ties as in E. L. Lehmann, Nonparametrics (1975), section 3.2.
    """
    data = np.asarray([d for d in differences if d != 0.0], dtype=float)
    if data.size == 0:
        return 1.0
    size = np.abs(data)
    # Twice the mid-rank is an integer, so sums over sign patterns can be counted in whole steps.
    doubled = np.array([(size < s).sum() * 2 + (size == s).sum() + 1 for s in size], dtype=int)
    ways = np.ones(1)
    for rank in doubled:
        ways = (np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))) / 2
    positive, total = int(doubled[data > 0].sum()), int(doubled.sum())
    tail = ways[: min(positive, total - positive) + 1].sum()
    return float(min(1.0, 2 * tail))
