"""Curves, planes and effects: the design's own rows, and a decomposition that adds up."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api
from statsmodels.formula.api import ols

from analysis import compare, load
from analysis.shape import curves, factorial, planes
from analysis.source import read
from tests.analysis.synthetic import build, cell, faulted, latencies, record

METRIC = "tracking_error_rms"
GRID = [
    cell(3 * i + j, latency=lat, mass_scale=1.0 + 0.1 * j) for i, lat in enumerate((0.010, 0.002)) for j in range(3)
]


def value(place, seed: int) -> float:
    own = np.random.default_rng([seed, place.ordinal]).normal()
    latency, mass = place.values["latency"], place.values["mass_scale"]
    return 1.0 + 3.0 * seed + 100 * latency + 2.0 * mass + 50 * latency * mass + 0.1 * own


def make(place, seed):
    return record(place, seed, metrics={METRIC: value(place, seed), "effort_rms": 1.0})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("grid") / "s", GRID, range(6), make)


def test_curves_run_up_the_axis_and_the_nominal_one_comes_first(folder):
    found = curves(compare(folder), "latency")
    assert [curve.held for curve in found] == [{"mass_scale": 1.0}, {"mass_scale": 1.1}, {"mass_scale": 1.2}]
    assert [curve.is_nominal for curve in found] == [True, False, False]
    assert all(curve.values == (0.002, 0.010) for curve in found)
    assert found[0].cells[0].contrast is None


def test_two_sweeps_have_curves_each(folder, tmp_path):
    other = build(tmp_path / "b", GRID, range(6), make, name="new")
    found = [curve for curve in curves(compare(folder, other), "latency") if curve.held == {"mass_scale": 1.0}]
    assert {curve.sweep for curve in found} == {"arm-1a2b3c4d", "new"}


def test_a_plane_has_a_place_for_every_cell(folder, tmp_path):
    (plane,) = planes(compare(folder), "latency", "mass_scale")
    assert plane.xs == (0.002, 0.010)
    assert plane.ys == pytest.approx((1.0, 1.1, 1.2))
    assert all(row[j].values["latency"] == plane.xs[j] for row in plane.cells for j in range(2))
    (holed,) = planes(compare(build(tmp_path / "s", GRID[:-1], range(2), make)), "latency", "mass_scale")
    assert sum(row is None for line in holed.cells for row in line) == 1


def test_effects_are_those_of_an_analysis_of_variance(folder):
    """Sums of squares of statsmodels' balanced two-way layout with seeds as blocks give the same shares."""
    found = factorial(read(folder), METRIC)
    table = load(folder).rename(columns={METRIC: "y"})
    model = ols("y ~ C(seed) + C(latency) * C(mass_scale)", table).fit()
    squares = statsmodels.api.stats.anova_lm(model, typ=1)["sum_sq"]
    rows = {"latency": "C(latency)", "mass_scale": "C(mass_scale)", "latency × mass_scale": "C(latency):C(mass_scale)"}
    between = sum(squares[row] for row in rows.values())
    assert found.shares == pytest.approx({name: squares[row] / between for name, row in rows.items()})
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert sum(effect.size.estimate for effect in found.main if "latency" in effect.levels) == pytest.approx(0.0)
    assert len(found.interactions) == 6
    # Seeds move every cell alike by far more than the axes do; within seeds that cancels.
    assert max(effect.size.half_width for effect in found.main) < 0.2 < found.grand.half_width


def test_effects_are_withheld_in_words(tmp_path):
    fails = lambda c, s: record(c, s, outcome=faulted()) if s == c.ordinal else make(c, s)  # noqa: E731
    some = factorial(read(build(tmp_path / "some", GRID, range(8), fails)), METRIC)
    assert (some.seeds_used, some.seeds_total, some.withheld) == (2, 8, "")
    none = factorial(read(build(tmp_path / "none", GRID, range(6), fails)), METRIC)
    assert none.withheld == "there is no seed for which every cell has a value"
    holed = factorial(read(build(tmp_path / "holed", GRID[:-1], range(2), make)), METRIC)
    assert holed.withheld == "the cells are no complete grid of the swept axes"
    one = factorial(read(build(tmp_path / "one", latencies(0.002), range(2))), METRIC)
    assert one.withheld == "no axis is swept"
