"""How often the 95 % intervals hold the truth: ``python -m tests.analysis.coverage`` writes it into docs/intervals.md.

Exact where the outcomes can be enumerated, simulated where they cannot; the seed is fixed, so the table is the same
each time.  It takes minutes, nearly all of them resampling.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from scipy import stats

from analysis import moments
from analysis.estimate import bca_limits, quantile_order, welch_t
from analysis.moments import Groups, PairedMoments
from analysis.proportion import newcombe_paired, wilson

PAGE = Path(__file__).parents[2] / "docs" / "intervals.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
SIZES = (8, 16, 32)
SETS = 40_000
"""Simulated data sets; the standard error of a coverage near 95 % is 0.1 points."""
RESAMPLED = 4_000
"""Simulated data sets that are resampled; the standard error is 0.3 points."""

DRAWS = {
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0),
    "lognormal": (lambda rng, shape: rng.lognormal(size=shape), float(np.exp(0.5))),
}


def rng_for(*words: object) -> np.random.Generator:
    return np.random.default_rng([2026, *"".join(map(str, words)).encode()])


def groups(sets: int, n: int) -> Groups:
    return Groups(np.repeat(np.arange(sets), n), sets)


def share(intervals, truth: float) -> float:
    """Of the intervals that were given; Fieller's is not, where the baseline's mean may be 0."""
    return float(np.mean([not found.excludes(truth) for found in intervals if found is not None]))


def t(data: str, n: int) -> float:
    draw, mean = DRAWS[data]
    return share(moments.mean_t(draw(rng_for("t", data, n), SETS * n), groups(SETS, n)), mean)


def bca(data: str, n: int) -> float:
    draw, mean = DRAWS[data]
    rows = draw(rng_for("bca", data, n), (RESAMPLED, n))
    limits = [bca_limits(row) for row in rows]
    return float(np.mean([low <= mean <= high for low, high in limits]))


def fieller(data: str, n: int) -> float:
    """A ratio of 1.1; the baseline's standard deviation is a tenth of its mean, a pair's noise a third of that."""
    rng = rng_for("fieller", data, n)
    draw, mean = DRAWS[data]
    base = 10 + (draw(rng, SETS * n) - mean)
    other = 1.1 * base + 0.3 * (draw(rng, SETS * n) - mean)
    return share(PairedMoments.of(base, other, groups(SETS, n)).ratio_fieller(), 0.1)


def welch(data: str, n: int) -> float:
    """Independent samples of one distribution, the second spread twice as wide."""
    rng = rng_for("welch", data, n)
    draw, mean = DRAWS[data]
    sets = SETS // 10
    x, y = draw(rng, (sets, n)) - mean, 2 * (draw(rng, (sets, n)) - mean)
    return share((welch_t(a, b) for a, b in zip(x, y, strict=True)), 0.0)


def wilson_exact(n: int) -> np.ndarray:
    """Coverage of Wilson's interval for each proportion of a grid, by enumeration."""
    grid = np.linspace(0.005, 0.995, 199)
    holds = np.array([[not wilson(k, n).excludes(p) for k in range(n + 1)] for p in grid])
    return (holds * stats.binom.pmf(np.arange(n + 1), n, grid[:, None])).sum(axis=1)


def newcombe_exact(n: int) -> np.ndarray:
    """Coverage of Newcombe's interval over a grid of two proportions and their correlation, by enumeration."""
    tables = np.array([(a, b, c, n - a - b - c) for a, b, c in product(range(n + 1), repeat=3) if a + b + c <= n])
    found = [newcombe_paired(*table) for table in tables.tolist()]
    low, high = np.array([[f.low, f.high] for f in found]).T
    coverages = []
    for p, q, phi in product(np.arange(0.1, 0.91, 0.1), np.arange(0.1, 0.91, 0.1), (0.0, 0.3, 0.6, 0.9)):
        both = p * q + phi * np.sqrt(p * (1 - p) * q * (1 - q))
        chances = np.array([both, p - both, q - both, 1 - p - q + both])
        if chances.min() < -1e-12:
            continue
        weights = stats.multinomial.pmf(tables, n, np.clip(chances, 0, 1) / np.clip(chances, 0, 1).sum())
        truth = q - p
        coverages.append(weights[(low <= truth + 1e-12) & (truth - 1e-12 <= high)].sum())
    return np.array(coverages)


def quantile_exact(n: int, probability: float = 0.95) -> float | None:
    """Coverage of the interval of order statistics, which no distribution changes: ranks stand for values."""
    found = quantile_order(np.arange(1, n + 1), probability)
    if found.low is None:
        return None
    below = stats.binom.cdf([found.low - 1, found.high - 1], n, probability)
    return float(below[1] - below[0])


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def span(coverages: np.ndarray) -> str:
    return f"{percent(coverages.mean())} (least {percent(coverages.min())})"


def exact_rows() -> Iterator[str]:
    for name, coverages in {"Wilson, proportion": wilson_exact, "Newcombe, paired proportions": newcombe_exact}.items():
        yield row(f"{name}, mean over a grid", "enumerated", lambda n, f=coverages: span(f(n)))
    sizes = (58, 59, 100)
    cells = [percent(c) if (c := quantile_exact(n)) is not None else "none" for n in sizes]
    yield row(
        "order statistics, 95th percentile", "any", lambda n: f"n = {sizes[SIZES.index(n)]}: {cells[SIZES.index(n)]}"
    )


def simulated_rows() -> Iterator[str]:
    estimators: dict[str, Callable[[str, int], float]] = {
        "t, mean or paired difference": t,
        "BCa bootstrap, the same": bca,
        "Fieller, ratio of paired means": fieller,
        "Welch's t, unpaired difference": welch,
    }
    for name, measured in estimators.items():
        for data in DRAWS:
            yield row(name, data, lambda n, f=measured, d=data: percent(f(d, n)))


def row(name: str, data: str, cell: Callable[[int], str]) -> str:
    return f"| {name} | {data} | {' | '.join(cell(n) for n in SIZES)} |"


def table() -> str:
    heads = [f"n = {n}" for n in SIZES]
    lines = [f"| 95 % interval | data | {' | '.join(heads)} |", "|---|---|" + "---|" * len(SIZES)]
    return "\n".join([*lines, *simulated_rows(), *exact_rows()]) + "\n"


def main() -> int:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
