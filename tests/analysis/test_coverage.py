"""The published coverage table: its exact rows are remade, its simulated ones are what is known of these intervals."""

from __future__ import annotations

import re

import pytest

from tests.analysis.coverage import BEGIN, END, PAGE, newcombe_exact, percent, quantile_exact, row, span, wilson_exact

TABLE = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def cells(name: str, data: str) -> list[str]:
    (line,) = [line for line in TABLE.splitlines() if line.startswith(f"| {name}") and f"| {data} |" in line]
    return [cell.strip() for cell in line.split("|")[3:-1]]


def shares(name: str, data: str) -> list[float]:
    return [float(re.match(r"[0-9.]+", cell)[0]) / 100 for cell in cells(name, data)]


def test_exact_rows_are_remade():
    assert row("Wilson, proportion, mean over a grid", "enumerated", lambda n: span(wilson_exact(n))) in TABLE
    assert cells("Newcombe", "enumerated")[0] == span(newcombe_exact(8))
    assert quantile_exact(58) is None
    assert cells("order statistics", "any")[1] == f"n = 59: {percent(quantile_exact(59))}"


def test_t_is_nominal_on_normal_data_and_nothing_is_on_lognormal_data_with_8():
    assert shares("t, mean", "normal") == pytest.approx([0.95] * 3, abs=0.004)
    assert shares("Fieller", "normal") == pytest.approx([0.95] * 3, abs=0.004)
    assert shares("t, mean", "lognormal")[0] == pytest.approx(0.84, abs=0.015)
    assert shares("BCa", "normal")[0] == pytest.approx(0.88, abs=0.015)
    assert shares("t, mean", "lognormal") == sorted(shares("t, mean", "lognormal"))
