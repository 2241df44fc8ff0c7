"""Failures that hit the hard seeds must not make a parameter look good, wherever a reader looks."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from analysis import compare, render
from analysis.tables import contrasts_table
from sweep.results import MetricInfo
from tests.analysis.synthetic import build, fell, latencies, record

METRIC = "score"
CELLS = latencies(0.002, 0.005)
HARD = set(range(6, 16))


@pytest.fixture(scope="module", params=["lower", "higher"])
def found(request, tmp_path_factory):
    """The cell falls on every hard seed, and is a little better on the easy ones."""
    sign = 1.0 if request.param == "lower" else -1.0
    metrics = {METRIC: MetricInfo(unit="m", better=request.param, window="horizon")}

    def make(place, seed):
        if place is CELLS[1] and seed in HARD:
            return record(place, seed, outcome=fell(), metrics={METRIC: None})
        value = 5.0 + 0.1 * seed - (0.2 + 0.001 * seed) * place.ordinal
        return record(place, seed, metrics={METRIC: sign * value})

    return compare(build(tmp_path_factory.mktemp(request.param) / "s", CELLS, make=make, metrics=metrics))


def test_the_simulated_trap_is_one(found):
    cell = found.cells[1]
    sign = 1.0 if cell.contrast.metrics[METRIC].better == "lower" else -1.0
    assert sign * cell.contrast.metrics[METRIC].difference.high < 0  # clearly better, among those that survived


def test_the_headline_is_the_outcome_and_says_worse(found):
    assert found.headline.startswith("+3 ms latency: 6 of 16 completed, 16 of 16 at the baseline")
    assert f"Failures ranked worst, {METRIC} is worse over all pairs" in found.headline
    assert "better" not in found.headline


def test_the_table_withholds_what_flatters(found):
    out = StringIO()
    Console(file=out, width=80, force_terminal=True, color_system="standard").print(render(found))
    page = out.getvalue()
    assert "withheld †" in page
    assert "rank: worse" in page
    assert "0.20" not in page  # the difference among the survivors
    assert "(n=6)" in page
    assert "\x1b[32m" not in page  # no green


def test_the_values_say_so_too(found):
    contrast = found.cells[1].contrast.metrics[METRIC]
    assert contrast.percent is None
    assert contrast.withheld == "outcomes differ"
    assert contrast.misleads
    assert contrast.is_worse
    row = contrasts_table(found).iloc[0]
    assert np.isnan(row["percent"])
    assert row["withheld"] == "outcomes differ"
    assert row["rank_p"] < 0.05


def test_a_failed_run_ranks_worst_even_with_a_value(tmp_path):
    metrics = {METRIC: MetricInfo(unit="m", better="lower", window="until_end")}

    def make(place, seed):
        if place is CELLS[1] and seed in HARD:
            return record(place, seed, outcome=fell(), metrics={METRIC: 0.0})
        return record(place, seed, metrics={METRIC: 1.0 + 0.1 * seed})

    contrast = compare(build(tmp_path / "s", CELLS, make=make, metrics=metrics)).cells[1].contrast.metrics[METRIC]
    assert contrast.difference.estimate < 0
    assert contrast.rank_lean == 1.0
    assert contrast.misleads
