"""Means, variances and their intervals for many groups of values at once: ten thousand cells in one pass.

The formulas stand here once, on columns; :mod:`analysis.estimate` has the same for a single group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.interval import LEVEL, ROUNDING, Interval

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Groups:
    """Which group each value of a column belongs to.

    Args:
        index: of each value, ascending.
        count: how many groups; some may be empty.

    Attributes:
        index: of each value.
        n: values in each group.
    """

    def __init__(self, index: Ints, count: int) -> None:
        self.index = index
        self.n: Ints = np.bincount(index, minlength=count)
        self._filled = np.flatnonzero(self.n)
        self._starts = np.searchsorted(index, self._filled)

    @classmethod
    def single(cls, size: int) -> Groups:
        """One group of ``size`` values."""
        return cls(np.zeros(size, dtype=np.intp), 1)

    def total(self, values: Floats) -> Floats:
        """Sum by group."""
        total: Floats = np.bincount(self.index, weights=values, minlength=len(self.n)).astype(float)
        return total

    def mean(self, values: Floats) -> Floats:
        """Mean by group, NaN of an empty one; that of equal values is that value, without rounding."""
        low = self.lowest(values)
        mean = self.total(values) / np.maximum(self.n, 1)
        return np.where(low == self.highest(values), low, np.where(self.n > 0, mean, np.nan))

    def lowest(self, values: Floats) -> Floats:
        """Least value by group, NaN of an empty one."""
        return self._reduced(np.minimum, values)

    def highest(self, values: Floats) -> Floats:
        """Largest value by group, NaN of an empty one."""
        return self._reduced(np.maximum, values)

    def _reduced(self, function: np.ufunc, values: Floats) -> Floats:
        result = np.full(len(self.n), np.nan)
        if self._filled.size:
            result[self._filled] = function.reduceat(values, self._starts)
        return result

    def covariance(self, x: Floats, y: Floats) -> Floats:
        """Covariance by group with ``n - 1`` in the denominator; NaN of fewer than two values."""
        products = self.total((x - self.mean(x)[self.index]) * (y - self.mean(y)[self.index]))
        return np.where(self.n > 1, products / np.maximum(self.n - 1, 1), np.nan)


def intervals(estimate: Floats, low: Floats, high: Floats, n: Ints) -> list[Interval | None]:
    """Columns as values: no interval where a limit is NaN, nothing where the estimate is."""
    columns = (estimate.tolist(), low.tolist(), high.tolist(), n.tolist())
    return [
        None if e != e else Interval(e, None, None, k) if lo != lo or hi != hi else Interval(e, lo, hi, k)
        for e, lo, hi, k in zip(*columns, strict=True)
    ]


def t_factor(n: Ints | Floats, level: float) -> Floats:
    """Quantile of Student's t for a two-sided interval from ``n`` values; NaN of fewer than two."""
    from scipy.special import stdtrit

    return np.where(n > 1, stdtrit(np.maximum(n - 1, 1), (1 + level) / 2), np.nan)


def mean_t(values: Floats, groups: Groups, level: float = LEVEL) -> list[Interval | None]:
    """See :func:`analysis.estimate.mean_t`."""
    mean = groups.mean(values)
    half = t_factor(groups.n, level) * np.sqrt(groups.covariance(values, values) / np.maximum(groups.n, 1))
    return intervals(mean, mean - half, mean + half, groups.n)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairedMoments:
    """First and second moments of paired values, by group.

    Attributes:
        n: pairs.
        base: mean of the baseline's values.
        other: mean of the other's.
        difference: mean of ``other - base``.
        var_base: variance of the baseline's values.
        var_other: variance of the other's.
        var_difference: variance of the differences; 0 where they are equal but for rounding.
        covariance: of the two.
        largest: largest magnitude of any value.
    """

    n: Ints
    base: Floats
    other: Floats
    difference: Floats
    var_base: Floats
    var_other: Floats
    var_difference: Floats
    covariance: Floats
    largest: Floats

    @classmethod
    def of(cls, base: Floats, other: Floats, groups: Groups) -> PairedMoments:
        """The moments of two columns that go in the same order."""
        d = other - base
        largest = groups.highest(np.maximum(np.abs(base), np.abs(other)))
        equal = groups.highest(d) - groups.lowest(d) <= ROUNDING * largest
        return cls(
            n=groups.n,
            base=groups.mean(base),
            other=groups.mean(other),
            difference=groups.mean(d),
            var_base=groups.covariance(base, base),
            var_other=groups.covariance(other, other),
            var_difference=np.where(equal & (groups.n > 1), 0.0, groups.covariance(d, d)),
            covariance=groups.covariance(base, other),
            largest=largest,
        )

    def difference_t(self, level: float = LEVEL) -> list[Interval | None]:
        """See :func:`analysis.estimate.paired_t`."""
        half = t_factor(self.n, level) * np.sqrt(self.var_difference / np.maximum(self.n, 1))
        return intervals(self.difference, self.difference - half, self.difference + half, self.n)

    def ratio_fieller(self, level: float = LEVEL) -> list[Interval | None]:
        """See :func:`analysis.estimate.ratio_fieller`."""
        with np.errstate(divide="ignore", invalid="ignore"):  # what is not finite here is no answer below
            scale = t_factor(self.n, level) ** 2 / self.n
            sign = np.sign(self.base)
            change = sign * (self.other / self.base - 1)
            a = self.base**2 - scale * self.var_base
            b = self.base * self.other - scale * self.covariance
            c = self.other**2 - scale * self.var_other
            spread = b**2 - a * c
            # Of proportional data, what is left of the discriminant is rounding.
            root = np.where(spread <= 100 * ROUNDING * b**2, 0.0, np.sqrt(np.maximum(spread, 0.0)))
            limits = np.sort(np.stack([(b - root) / a - 1, (b + root) / a - 1]) * sign, axis=0)
            limits = np.where(root == 0.0, change, limits)
        bounded = (self.n == 1) | (a > 1e-12 * self.base**2)
        estimate = np.where(bounded & (self.base != 0.0), change, np.nan)
        limits = np.where(self.n > 1, limits, np.nan)
        return intervals(estimate, limits[0], limits[1], self.n)
