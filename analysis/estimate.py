"""Interval estimates and tests of one sample or one set of pairs, each with its source.

All are two-sided.  ``low`` and ``high`` are None where the data cannot give an interval (a single value);
identical values give an interval of no width, which is what was seen, over the seeds given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis import moments
from analysis.interval import LEVEL as LEVEL
from analysis.interval import ROUNDING
from analysis.interval import Interval as Interval
from analysis.moments import Floats, Groups, PairedMoments, t_factor

Values = Sequence[float] | Floats

BOOTSTRAP_FROM = 32
"""Fewer pairs are not resampled: BCa limits of a few values are too narrow (docs/intervals.md has the coverage)."""

RESAMPLES = 9999
RESAMPLING_SEED = 20_260_101
"""Resampling is a calculation, not an experiment: the same pairs give the same limits, everywhere."""


def mean_t(values: Values, level: float = LEVEL) -> Interval | None:
    """Mean with Student's t interval, ``m ± t(1 - α/2; n - 1) s / √n``; None of no values.

    Source: "Student", The probable error of a mean, Biometrika 6 (1908) 1-25.
    """
    return moments.mean_t(np.asarray(values, dtype=float), Groups.single(len(values)), level)[0]


def paired_t(base: Values, other: Values, level: float = LEVEL) -> Interval | None:
    """Mean of the paired differences ``other - base`` with its t interval; the two go in the same order.

    Differences that are equal but for rounding count as equal.

    Source: as :func:`mean_t`, of the differences (Student's own example in the paper of 1908 is paired).
    """
    return paired_moments(base, other).difference_t(level)[0]


def ratio_fieller(base: Values, other: Values, level: float = LEVEL) -> Interval | None:
    """Relative change ``mean(other) / mean(base) - 1`` of paired data, signed by the base's magnitude.

    The interval holds every ratio θ for which the paired t interval of ``other - θ base`` holds 0.  None
    when the base's mean is not clearly away from 0: the set is then unbounded and a percentage means nothing.

    Source: E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954) 175-185.
    """
    return paired_moments(base, other).ratio_fieller(level)[0]


def paired_moments(base: Values, other: Values) -> PairedMoments:
    """Means, variances and covariance of one set of pairs; the two go in the same order."""
    x, y = np.asarray(base, dtype=float), np.asarray(other, dtype=float)
    return PairedMoments.of(x, y, Groups.single(len(x)))


def welch_t(base: Values, other: Values, level: float = LEVEL) -> Interval | None:
    """Difference of the means of independent samples, ``other - base``; ``n`` is the size of the smaller one.

    Source: B. L. Welch, The generalization of "Student's" problem when several different population variances are
    involved, Biometrika 34 (1947) 28-35; degrees of freedom of F. E. Satterthwaite, Biometrics Bull. 2 (1946) 110-114.
    """
    n = np.array([len(base), len(other)])
    if not n.all():
        return None
    difference = float(np.mean(other) - np.mean(base))
    if n.min() == 1:
        return Interval(difference, None, None, 1)
    errors = np.array([np.var(base, ddof=1), np.var(other, ddof=1)]) / n
    total = float(errors.sum())
    half = 0.0
    if total > 0.0:
        degrees = total**2 / float((errors**2 / (n - 1)).sum())
        half = float(t_factor(np.array([degrees + 1]), level)[0]) * math.sqrt(total)
    return Interval(difference, difference - half, difference + half, int(n.min()))


def bootstrap_bca(differences: Values, level: float = LEVEL) -> Interval | None:
    """Mean with the bias-corrected and accelerated bootstrap interval; None of fewer than 32 values.

    Source: B. Efron, Better bootstrap confidence intervals, J. Am. Stat. Assoc. 82 (1987) 171-185, by
    :func:`scipy.stats.bootstrap`, with 9999 resamples drawn from one fixed seed.
    """
    data = np.asarray(differences, dtype=float)
    if len(data) < BOOTSTRAP_FROM:
        return None
    mean = float(data.mean())
    if np.ptp(data) <= ROUNDING * float(np.abs(data).max()):
        return Interval(mean, mean, mean, len(data))
    return Interval(mean, *bca_limits(data, level), len(data))


def bca_limits(data: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The limits of :func:`bootstrap_bca`, of any number of values; the coverage study looks at few, too."""
    from scipy import stats

    found = stats.bootstrap(
        (data,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(RESAMPLING_SEED),
    ).confidence_interval
    return float(found.low), float(found.high)


def quantile_order(values: Values, probability: float, level: float = LEVEL) -> Interval | None:
    """A quantile, as an order statistic, with the shortest interval of order statistics that covers it; None of none.

    ``X(r)`` to ``X(s)`` holds the quantile with probability ``P(r <= B < s)``, ``B`` binomial, whatever the
    distribution.  Too few values have no such interval: a 95th percentile needs 59.

    Source: H. A. David and H. N. Nagaraja, Order Statistics (3rd ed., 2003), section 7.1.
    """
    data = np.sort(np.asarray(values, dtype=float))
    n = len(data)
    if n == 0:
        return None
    estimate = float(data[max(0, math.ceil(probability * n - 1e-9) - 1)])
    ranks = _quantile_ranks(n, probability, level)
    if ranks is None:
        return Interval(estimate, None, None, n)
    return Interval(estimate, float(data[ranks[0] - 1]), float(data[ranks[1] - 1]), n)


def _quantile_ranks(n: int, probability: float, level: float) -> tuple[int, int] | None:
    """The ranks ``r < s`` (from 1) closest together, then of most coverage."""
    from scipy.stats import binom

    below = binom.cdf(np.arange(n), n, probability)  # below[k - 1] = P(B < k)
    found = [
        (s - r, below[r - 1] - below[s - 1], r)
        for r in range(1, n)
        if (s := int(np.searchsorted(below, below[r - 1] + level)) + 1) <= n
    ]
    if not found:
        return None
    width, _, r = min(found)
    return r, r + width


def quantile_needs(probability: float, level: float = LEVEL) -> int:
    """The fewest values for which :func:`quantile_order` has an interval."""
    n = 1
    while _quantile_ranks(n, probability, level) is None:
        n += 1
    return n


@dataclass(frozen=True, slots=True)
class RankTest:
    """Wilcoxon's signed-rank test.

    Attributes:
        p: two-sided, exact.
        lean: rank-biserial correlation: 1 if every difference is positive, -1 if every one is negative
            (D. S. Kerby, Comprehensive Psychology 3 (2014) 11.IT.3.1).
    """

    p: float
    lean: float


def signed_rank_exact(differences: Values) -> RankTest:
    """Wilcoxon's signed-rank test by its exact distribution; zeros leave, ties share their rank.

    Infinite differences are allowed and rank last, tied: a failure against a value is the largest change.

    Source: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bull. 1 (1945) 80-83;
    exact distribution given the ties as in E. L. Lehmann, Nonparametrics (1975), section 3.2.
    """
    data = np.asarray(differences, dtype=float)
    data = data[data != 0.0]
    if data.size == 0:
        return RankTest(1.0, 0.0)
    _, where, count = np.unique(np.abs(data), return_inverse=True, return_counts=True)
    # Twice the mid-rank is an integer, so sums over sign patterns can be counted in whole steps.
    doubled = (2 * np.cumsum(count) - count + 1)[where]
    positive, total = int(doubled[data > 0].sum()), int(doubled.sum())
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()
        ways /= 2
    tail = ways[: min(positive, total - positive) + 1].sum()
    return RankTest(float(min(1.0, 2 * tail)), (2 * positive - total) / total)
