"""Every estimator against SciPy or a published number, and its coverage where that can be known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from analysis.estimate import (
    bootstrap_bca,
    mean_t,
    paired_t,
    quantile_needs,
    quantile_order,
    ratio_fieller,
    signed_rank_exact,
    welch_t,
)
from analysis.moments import Groups, PairedMoments
from analysis.moments import mean_t as means_t
from analysis.proportion import mcnemar_exact, newcombe_paired, wilson

SLEEP_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_student_1908_sleep():
    """The paper's own data; R's t.test(extra ~ group, paired = TRUE) prints 0.7001142 and 2.4598858."""
    found = paired_t(SLEEP_1, SLEEP_2)
    assert (found.estimate, found.low, found.high) == pytest.approx((1.58, 0.7001142, 2.4598858), abs=5e-8)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20).filter(lambda v: np.std(v) > 1e-3))
def test_t_is_scipy(values):
    found = mean_t(values)
    expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_t_of_little():
    assert mean_t([]) is None
    one = mean_t([3.0])
    assert (one.estimate, one.low, one.n) == (3.0, None, 1)
    same = mean_t([0.1] * 7)
    assert (same.estimate, same.low, same.high) == (0.1, 0.1, 0.1)


def test_t_is_nominal_on_normal_data():
    rng = np.random.default_rng(20260101)
    hits = sum(not mean_t(row).excludes(0.0) for row in rng.normal(size=(4000, 8)))
    assert hits / 4000 == pytest.approx(0.95, abs=3.3 * math.sqrt(0.95 * 0.05 / 4000))


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_newcombe_1998_table_1(successes, n, low, high):
    """R. G. Newcombe, Stat. Med. 17 (1998) 857-872, table I, method 3."""
    found = wilson(successes, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 200), st.data())
def test_wilson_is_scipy(n, data):
    k = data.draw(st.integers(0, n))
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert (wilson(k, n).low, wilson(k, n).high) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("n", [8, 16, 20, 50])
def test_wilson_coverage_enumerated(n):
    """Exact coverage over p: near nominal on average, and never below what is known of it (0.83 near the ends)."""
    grid = np.linspace(0.005, 0.995, 397)
    holds = np.array([[not wilson(k, n).excludes(p) for k in range(n + 1)] for p in grid])
    coverage = (holds * stats.binom.pmf(np.arange(n + 1), n, grid[:, None])).sum(axis=1)
    assert coverage.mean() == pytest.approx(0.953, abs=0.006)
    assert coverage.min() > 0.83


def test_mcnemar_published_and_scipy():
    """Bentur et al. 2009 as in Fagerland, Lydersen and Laake, Stat. Med. 33 (2014) 2850-2875: exact p = 0.070."""
    assert mcnemar_exact(1, 7) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_exact(0, 0) == 1.0
    for b, c in [(3, 3), (0, 6), (5, 11), (40, 61)]:
        assert mcnemar_exact(b, c) == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("table", "difference", "low", "high"),
    [
        # Newcombe, Stat. Med. 17 (1998) 2635-2650, first example of table II, method 10.
        ((36, 2, 12, 0), 0.2, 0.0569, 0.3404),
        # Fagerland, Lydersen and Laake (2014), airway hyper-responsiveness: -0.507 to -0.026.
        ((1, 7, 1, 12), -0.286, -0.507, -0.026),
    ],
)
def test_newcombe_published(table, difference, low, high):
    found = newcombe_paired(*table)
    assert (found.estimate, found.low, found.high) == pytest.approx((difference, low, high), abs=6e-4)


def test_newcombe_of_little():
    assert newcombe_paired(0, 0, 0, 0) is None
    same = newcombe_paired(16, 0, 0, 0)
    assert same.estimate == 0.0
    assert same.low < 0.0 < same.high


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_newcombe_stays_in_range_and_mirrors(e, f, g, h):
    found, mirrored = newcombe_paired(e, f, g, h), newcombe_paired(e, g, f, h)
    if found is not None:
        assert -1 - 1e-9 <= found.low <= found.estimate <= found.high <= 1 + 1e-9
        assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-12)


def test_fieller_is_the_set_of_ratios_that_t_does_not_refuse():
    rng = np.random.default_rng(5)
    for sign in (1.0, -1.0):
        base = sign * rng.normal(10.0, 1.0, 12)
        other = 1.1 * base + rng.normal(0.0, 0.3, 12)
        found = ratio_fieller(list(base), list(other))
        for limit in (found.low, found.high):
            theta = 1 + sign * limit
            edge = mean_t(list(other - theta * base))
            assert min(abs(edge.low), abs(edge.high)) < 1e-9
        assert found.estimate == pytest.approx(sign * (other.mean() / base.mean() - 1))


def test_fieller_declines_a_base_near_zero():
    assert ratio_fieller([1.0, -1.0, 0.5], [2.0, 1.0, 3.0]) is None
    assert ratio_fieller([0.0, 0.0], [1.0, 1.0]) is None
    assert ratio_fieller([], []) is None
    assert ratio_fieller([2.0], [3.0]).estimate == pytest.approx(0.5)
    constant = ratio_fieller([2.0] * 4, [3.0] * 4)
    assert (constant.low, constant.high) == pytest.approx((0.5, 0.5))


def test_signed_rank_is_scipy_without_ties():
    rng = np.random.default_rng(9)
    for n in (3, 8, 20, 40):
        d = rng.normal(0.4, 1.0, n)
        assert signed_rank_exact(d).p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-9)


def test_signed_rank_with_failures_and_ties():
    assert signed_rank_exact([]).p == 1.0
    assert signed_rank_exact([0.0, 0.0]).p == 1.0
    assert signed_rank_exact([math.inf] * 5).p == pytest.approx(2 / 32)
    # Ranks 1 and 2 against 3.5 and 3.5: sums of 3 or less are {}, {1}, {2}, {1, 2}.
    assert signed_rank_exact([-0.1, -0.2, math.inf, math.inf]).p == pytest.approx(2 * 4 / 16)


def test_a_rank_leans_where_the_larger_changes_are():
    assert signed_rank_exact([1.0, 2.0, 3.0]).lean == 1.0
    assert signed_rank_exact([-1.0, 2.0]).lean == pytest.approx(1 / 3)
    assert signed_rank_exact([]).lean == 0.0


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9), st.lists(st.floats(-100, 100), min_size=2, max_size=9))
def test_welch_is_scipy(x, y):
    if np.var(x) < 1e-6 or np.var(y) < 1e-6:
        return
    found, expected = welch_t(x, y), stats.ttest_ind(y, x, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6, abs=1e-6)


@given(st.lists(st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 1.0, 2.0, 2.5, math.inf]), min_size=1, max_size=9))
def test_signed_rank_is_the_count_over_all_patterns_of_signs(changes):
    size = np.abs([change for change in changes if change != 0.0])
    if not size.size:
        assert signed_rank_exact(changes).p == 1.0
        return
    ranks = stats.rankdata(size)
    patterns = np.array(list(itertools.product((0, 1), repeat=len(size)))) @ ranks
    seen = ranks[np.array([change > 0 for change in changes if change != 0.0], dtype=bool)].sum()
    least = min(seen, ranks.sum() - seen)
    assert signed_rank_exact(changes).p == pytest.approx(min(1.0, 2 * np.mean(patterns <= least + 1e-9)))


def test_mcnemar_is_statsmodels():
    for b, c in [(0, 6), (3, 3), (5, 11)]:
        assert mcnemar_exact(b, c) == pytest.approx(mcnemar([[4, b], [c, 2]], exact=True).pvalue)


def test_welch_of_little():
    assert welch_t([], [1.0]) is None
    assert welch_t([1.0], [2.0, 3.0]).low is None
    constant = welch_t([1.0, 1.0], [3.0, 3.0])
    assert (constant.estimate, constant.low, constant.high) == (2.0, 2.0, 2.0)


def test_bca_is_scipy_deterministic_and_declines_few():
    data = np.random.default_rng(1).lognormal(size=40)
    found = bootstrap_bca(data)
    expected = stats.bootstrap((data,), np.mean, method="BCa", rng=np.random.default_rng(11)).confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=0.02)
    assert bootstrap_bca(data) == found
    assert bootstrap_bca(data[:31]) is None
    same = bootstrap_bca(np.full(32, 0.1))
    assert (same.low, same.high) == pytest.approx((0.1, 0.1))


def test_a_95th_percentile_has_an_interval_from_59():
    assert quantile_needs(0.95) == 59
    assert quantile_needs(0.5) == 6
    few, enough = (quantile_order(np.arange(n, dtype=float), 0.95) for n in (58, 59))
    assert (few.estimate, few.low, few.high) == (55.0, None, None)
    assert enough.low <= enough.estimate <= enough.high == 58.0
    assert quantile_order([], 0.95) is None


@given(st.integers(6, 120), st.sampled_from([0.1, 0.5, 0.9, 0.95]))
def test_order_statistics_cover_what_they_say(n, probability):
    """The median of 10: ranks 2 and 9 with 97.9 %, as in Conover's Practical Nonparametric Statistics, table A3."""
    found = quantile_order(np.arange(1, n + 1), probability)
    if found.low is None:
        return
    below = stats.binom.cdf([found.low - 1, found.high - 1], n, probability)
    assert below[1] - below[0] >= 0.95
    median = quantile_order(np.arange(1, 11), 0.5)
    assert (median.low, median.high) == (2.0, 9.0)


def test_many_groups_at_once_are_each_by_itself():
    rng = np.random.default_rng(8)
    sizes = [0, 1, 2, 7, 0, 12]
    index = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(10.0, 1.0, index.size)
    y = x + rng.normal(0.5, 0.2, index.size)
    groups = Groups(index, len(sizes))
    moments = PairedMoments.of(x, y, groups)
    sides = [(x[index == i], y[index == i]) for i in range(len(sizes))]
    assert means_t(x, groups) == [mean_t(a) for a, _ in sides]
    assert moments.difference_t() == [paired_t(a, b) for a, b in sides]
    assert moments.ratio_fieller() == [ratio_fieller(a, b) for a, b in sides]
