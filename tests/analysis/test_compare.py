"""The comparison: outcomes first, no survivorship, and sensible words for every poor case."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from analysis import compare, load, render
from analysis.labels import Labels
from analysis.reporting.sources import receipts, streams
from sweep.errors import InvalidInputError, LedgerError
from sweep.results import MetricInfo, Outcome, Status
from tests.analysis.synthetic import (
    METRICS,
    build,
    cell,
    effects,
    faulted,
    fell,
    latencies,
    recompute,
    record,
)

TWO = latencies(0.002, 0.005)
METRIC = "tracking_error_rms"
VALUES = {METRIC: 0.1, "effort_rms": 0.3}


def text(comparison, width=80) -> str:
    out = StringIO()
    Console(file=out, width=width, color_system=None).print(render(comparison, width=width))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in out.getvalue()
    assert "nan" not in out.getvalue().lower().replace("nano", "")
    assert all(unicodedata.category(c) != "Cc" for line in lines for c in line)
    return "\n".join(line.rstrip() for line in lines)


def test_a_known_effect_is_found(tmp_path):
    found = compare(build(tmp_path / "s", TWO), recompute=recompute)
    base, other = found.cells
    assert base.contrast is None
    assert other.contrast.change == "+3 ms latency"
    contrast = other.contrast.metrics[METRIC]
    assert not contrast.difference.excludes(0.71 * 0.003)
    assert contrast.difference.n == contrast.pairs_used == contrast.pairs_total == 16
    x, y = ([effects(c.values, s)[METRIC] for s in range(16)] for c in TWO)
    assert contrast.difference.estimate == pytest.approx(np.mean(np.subtract(y, x)))
    assert contrast.percent.estimate == pytest.approx(100 * (np.mean(y) / np.mean(x) - 1))
    assert contrast.clear
    assert other.age_at_use_s == {"tracker": pytest.approx(0.0055)}
    assert found.headline == (
        "+3 ms latency raises tracking_error_rms by 3.99 % [3.87, 4.11], 16 of 16 pairs, identical noise, "
        "over these seeds"
    )
    assert "16 completed" in text(found)


def test_the_headline_is_the_largest_clear_change_not_the_one_with_the_narrowest_interval(tmp_path):
    def make(place, seed):
        factor = {0.002: 1.0, 0.005: 1.01, 0.008: 1.5 + 0.02 * (seed % 5)}[place.values["latency"]]
        return record(place, seed, metrics={METRIC: factor * (1 + 0.01 * seed), "effort_rms": 1.0 + factor**0.01})

    found = compare(build(tmp_path / "s", latencies(0.002, 0.005, 0.008), make=make), recompute=recompute)
    assert found.headline.startswith("+6 ms latency raises tracking_error_rms by 53.8 %")


def test_no_survivorship(tmp_path):
    """Latency makes the hard seeds fall: the survivors look better, and the table must not say so in percent."""
    hardness = {s: effects(TWO[0].values, s)[METRIC] for s in range(16)}
    hard = sorted(hardness, key=hardness.get)[-6:]
    make = lambda c, s: record(c, s, outcome=fell()) if c is TWO[1] and s in hard else record(c, s)  # noqa: E731
    found = compare(build(tmp_path / "s", TWO, make=make), recompute=recompute)
    base, other = found.cells
    assert other.means[METRIC].estimate < base.means[METRIC].estimate  # the trap
    contrast = other.contrast.metrics[METRIC]
    assert contrast.percent is None
    assert contrast.withheld == "outcomes differ"
    assert (contrast.pairs_used, contrast.pairs_total) == (10, 16)
    assert contrast.difference.estimate > 0  # within pairs the truth shows
    assert contrast.rank_p < 0.001
    outcome = other.contrast.outcome
    assert (outcome.both, outcome.only_base, outcome.only_cell, outcome.neither) == (10, 6, 0, 0)
    assert outcome.p == pytest.approx(2 / 64)
    assert found.headline.startswith("+3 ms latency: 10 of 16 completed, 16 of 16 at the baseline (−38 [−61, −10]")
    assert "percentages are withheld" in found.headline
    page = text(found)
    assert "6 fell" in page
    assert "10/16" in page
    assert "%" not in page.split("withheld.", 1)[1].replace("95 %", "").replace("Δ %", "")


def test_equal_counts_of_failures_on_other_seeds_still_withhold(tmp_path):
    make = lambda c, s: record(c, s, outcome=fell()) if s == c.ordinal else record(c, s)  # noqa: E731
    contrast = compare(build(tmp_path / "s", TWO, make=make)).cells[1].contrast
    assert contrast.outcome.differs
    assert contrast.metrics[METRIC].withheld == "outcomes differ"


def test_failures_on_the_same_seeds_do_not(tmp_path):
    make = lambda c, s: record(c, s, outcome=faulted()) if s < 2 else record(c, s)  # noqa: E731
    contrast = compare(build(tmp_path / "s", TWO, make=make)).cells[1].contrast
    assert contrast.metrics[METRIC].percent is not None
    assert contrast.metrics[METRIC].pairs_used == 14


@pytest.mark.parametrize("status", [Status.LOST, Status.TIMED_OUT, Status.CANCELLED])
def test_runs_without_an_answer_are_left_out_and_counted(tmp_path, status):
    bad = Outcome(status=status)
    make = lambda c, s: record(c, s, outcome=bad) if c is TWO[1] and s == 3 else record(c, s)  # noqa: E731
    other = compare(build(tmp_path / "s", TWO, make=make)).cells[1]
    assert other.outcomes == {"completed": 15, status.value: 1}
    assert other.contrast.outcome.excluded == 1
    assert not other.contrast.outcome.differs
    assert other.contrast.metrics[METRIC].percent is not None


def test_metrics_of_a_faulted_run_never_enter(tmp_path):
    lies = {METRIC: 1e9, "effort_rms": 1e9}
    make = lambda c, s: record(c, s, outcome=faulted(), metrics=lies) if s == 0 else record(c, s)  # noqa: E731
    found = compare(build(tmp_path / "s", TWO, make=make))
    assert all(c.means[METRIC].estimate < 1 for c in found.cells)


POOR = {
    "one seed": {"seeds": [0]},
    "constant": {"make": lambda c, s: record(c, s, metrics={METRIC: 0.25, "effort_rms": 0.0})},
    "constant but different": {"make": lambda c, s: record(c, s, metrics={METRIC: c.values["latency"]})},
    "all failed": {"make": lambda c, s: record(c, s, outcome=faulted())},
    "one cell failed": {"make": lambda c, s: record(c, s, outcome=faulted()) if c.ordinal else record(c, s)},
    "baseline failed": {"make": lambda c, s: record(c, s) if c.ordinal else record(c, s, outcome=faulted())},
    "nothing yet": {"make": lambda c, s: None},
    "half done": {"make": lambda c, s: record(c, s) if s < 5 else None},
    "no metrics": {"metrics": {}},
    "huge and tiny": {"make": lambda c, s: record(c, s, metrics={METRIC: 1e-12 * (s + 1), "effort_rms": -1e9 - s})},
    "no seeds": {"seeds": []},
}


@pytest.mark.parametrize("name", POOR)
def test_poor_cases_are_said_in_words(tmp_path, name):
    found = compare(build(tmp_path / "s", TWO, **POOR[name]))
    assert found.headline
    assert text(found)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["headline"] == found.headline
    assert len(found.frame()) == 2


@pytest.mark.slow
def test_words_of_poor_cases(tmp_path):
    said = {name: compare(build(tmp_path / name, TWO, **case)).headline for name, case in POOR.items()}
    assert said["one seed"].startswith("One pair only, so no interval: +3 ms latency changes")
    assert "to the last bit" in said["constant"]
    assert said["constant but different"] == (
        "+3 ms latency raises tracking_error_rms by 150 %, seeds make no difference here"
    )
    assert said["all failed"] == "No pair of runs has values to compare: 32 faulted in all."
    assert said["one cell failed"].startswith("+3 ms latency: 0 of 16 completed, 16 of 16 at the baseline")
    assert said["nothing yet"] == "No run has a record yet."


@pytest.mark.parametrize("metrics", [1, 2, 4])
@pytest.mark.parametrize("cells", [1, 2, 6])
@pytest.mark.parametrize("width", [80, 120])
def test_it_fits(tmp_path, metrics, cells, width):
    names = [*METRICS, "settling_time", "energy_total"][:metrics]
    infos = {n: METRICS.get(n, MetricInfo(unit="J", better="higher", window="at_end")) for n in names}
    grid = [cell(i, latency=0.002 + 0.003 * (i // 2), mass_scale=1.0 + 0.2 * (i % 2)) for i in range(cells)]
    make = lambda c, s: record(c, s, metrics={**dict.fromkeys(names, 0.4 + s), **effects(c.values, s)})  # noqa: E731
    page = text(compare(build(tmp_path / "s", grid, metrics=infos, make=make)), width)
    assert page.count("completed") >= cells


def test_baseline_is_asked_for_or_nominal_or_first(tmp_path):
    cells = latencies(0.001, 0.002, 0.005)
    folder = build(tmp_path / "nominal", cells)
    assert compare(folder).baseline == "latency=0.002"
    assert compare(folder, baseline=cells[2].cell_id[:6]).baseline == "latency=0.005"
    assert compare(folder, baseline="latency=0.001").baseline == "latency=0.001"
    with pytest.raises(InvalidInputError, match=r"called 'latency=3ms'; latency has 0\.001, 0\.002, 0\.005 s"):
        compare(folder, baseline="latency=3ms")
    with pytest.raises(InvalidInputError, match="--baseline: is empty; it takes a cell's id"):
        compare(folder, baseline=[""])
    assert compare(build(tmp_path / "first", cells[::2])).baseline == "latency=0.001"
    chosen = build(tmp_path / "header", cells, baseline=cells[2].cell_id)
    assert compare(chosen).baseline == "latency=0.005"


def test_a_baseline_of_several_axes_in_any_unit(tmp_path):
    grid = [cell(2 * i + j, latency=0.002 + 0.003 * i, mass_scale=1.0 + 0.2 * j) for i in range(2) for j in range(2)]
    folder = build(tmp_path / "s", grid, range(2))
    for words in (["latency=5ms", "mass_scale=1.2"], ["+latency=0.005 mass_scale=120%"], "latency=5e-3,mass_scale=1.2"):
        assert compare(folder, baseline=words).baseline == grid[3].label
    assert compare(folder, baseline="latency=5 ms".replace(" ", "")).baseline == grid[2].label  # the others nominal
    assert compare(folder, baseline=["mass_scale=1.2"]).baseline == grid[1].label
    with pytest.raises(InvalidInputError, match=r"unknown axis 'latncy'; did you mean 'latency'"):
        compare(folder, baseline=["latncy=5ms"])
    with pytest.raises(InvalidInputError, match=r"no cell is called 'latency=5kg'"):
        compare(folder, baseline=["latency=5kg"])


def test_long_tables_show_what_says_most_and_count_the_rest(tmp_path):
    cells = latencies(*(0.002 + 0.0001 * i for i in range(45)))
    falls = lambda c, s: record(c, s, outcome=fell()) if c.ordinal == 7 and s < 3 else record(c, s)  # noqa: E731
    found = compare(build(tmp_path / "s", cells, range(6), falls))
    page = text(found)
    assert "14 of 45 cells are not shown, those that differ least; compare --all and --csv have them." in " ".join(
        page.split()
    )
    assert "3 fell" in page  # outcomes first
    assert "exact McNemar p = 0.25, the smallest of 44 p values)" in " ".join(page.split())
    assert page.count("6 completed") == 30 + 1  # and once in the headline
    whole = StringIO()
    Console(file=whole, width=80, color_system=None).print(render(found, is_whole=True))
    assert "not shown" not in whole.getvalue()
    assert whole.getvalue().count(" completed") == 45 + 1  # and once in the headline


def test_many_cells_take_a_line_each(tmp_path):
    page = text(compare(build(tmp_path / "s", latencies(*(0.002 + 0.001 * i for i in range(9))), range(16))))
    assert "All 9 cells: 16 of 16 runs completed." in page
    assert len(page.splitlines()) <= 2 * 9 + 20


def test_colour_is_by_the_simultaneous_interval_and_only_on_a_terminal(tmp_path):
    """An effect whose own interval is clear of 0, while the one for all 20 comparisons is not."""
    deviations = np.array([-1.0, 1.0] * 4)

    def make(place, seed):
        size = 50.0 if place.ordinal == 1 else 1.2 if place.ordinal == 2 else 0.0
        shift = size + deviations[seed] if place.ordinal else 0.0
        return record(place, seed, metrics={METRIC: 100.0 + seed + shift, "effort_rms": 1.0})

    found = compare(build(tmp_path / "s", latencies(*(0.002 + 0.001 * i for i in range(21))), range(8), make))
    weak = found.cells[2].contrast.metrics[METRIC]
    assert weak.difference.excludes(0.0)
    assert not weak.clear
    assert found.cells[1].contrast.metrics[METRIC].clear
    expected = stats.t.interval(1 - 0.05 / 20, 7, loc=1.2, scale=stats.sem(1.2 + deviations))
    assert (weak.simultaneous.low, weak.simultaneous.high) == pytest.approx(expected)
    terminal, plain = StringIO(), StringIO()
    Console(file=terminal, width=80, force_terminal=True, color_system="standard").print(render(found))
    Console(file=plain, width=80).print(render(found))
    assert terminal.getvalue().count("\x1b[31m") == 2  # its Δ and Δ %
    assert "\x1b" not in plain.getvalue()


def test_extras_come_on_request(tmp_path):
    found = compare(build(tmp_path / "s", TWO, range(64)), bootstrap=True, quantile=0.95)
    contrast = found.cells[1].contrast.metrics[METRIC]
    assert contrast.bootstrap.low < contrast.difference.estimate < contrast.bootstrap.high
    assert found.cells[0].quantiles[METRIC].low is not None
    page = text(found)
    assert "BCa" in page
    assert "95th percentile of the runs of each cell" in page
    few = compare(build(tmp_path / "few", TWO, range(16)), bootstrap=True, quantile=0.95)
    assert few.cells[1].contrast.metrics[METRIC].bootstrap is None
    assert few.cells[0].quantiles[METRIC].low is None
    assert "bootstrap intervals are given from 32 pairs on; with fewer they are too narrow" in few.notes
    assert "an interval for the 95th percentile needs 59 runs that have a value" in few.notes
    assert text(few)


def test_two_sweeps_pair_by_cell_and_seed(tmp_path):
    better = lambda c, s: record(  # noqa: E731
        c, s, code_id="new", metrics={k: 0.9 * v for k, v in effects(c.values, s).items()}
    )
    a = build(tmp_path / "a", latencies(0.002, 0.005, 0.010))
    b = build(tmp_path / "b", latencies(0.005, 0.002, 0.020), range(4, 20), better, name="arm-new")
    found = compare(a, b, recompute=recompute)
    assert found.title == "arm-new against arm-1a2b3c4d"
    assert [(c.sweep, c.values["latency"]) for c in found.cells] == [
        ("arm-1a2b3c4d", 0.002),
        ("arm-new", 0.002),
        ("arm-1a2b3c4d", 0.005),
        ("arm-new", 0.005),
    ]
    contrast = found.cells[1].contrast
    assert contrast.metrics[METRIC].percent.estimate == pytest.approx(-10)
    assert contrast.metrics[METRIC].pairs_total == 12
    assert "1 of 3 cells are only in arm-new: latency=0.02" in found.notes
    assert "4 seeds are only in arm-1a2b3c4d" in found.notes
    assert "arm-new instead of arm-1a2b3c4d" in found.headline
    assert text(found)


def test_failures_of_both_cells_come_first(tmp_path):
    """Equally many runs failed, so that no outcome differs: the metrics alone would read as if nothing was wrong."""
    falls = lambda c, s: record(c, s, outcome=fell(), metrics=effects(c.values, s))  # noqa: E731
    found = compare(build(tmp_path / "all", TWO, range(4), falls))
    assert found.headline.startswith("In both cells 4 of 4 runs fell; metrics are until then. +3 ms latency raises")
    three = compare(build(tmp_path / "three", latencies(0.002, 0.005, 0.008), range(4), falls))
    assert three.headline.startswith("In all 3 cells 4 of 4 runs fell; metrics are until then. +6 ms latency raises")
    some = lambda c, s: record(c, s, outcome=faulted() if s else fell()) if s < 2 else record(c, s)  # noqa: E731
    found = compare(build(tmp_path / "some", TWO, range(6), some))
    assert found.headline.startswith("In both cells 2 of 6 runs failed. +3 ms latency raises")


def test_no_test_is_named_where_it_says_nothing(tmp_path):
    one = lambda c, s: record(c, s, outcome=fell()) if s == 0 and c.ordinal else record(c, s)  # noqa: E731
    for seeds in (1, 8):
        headline = compare(build(tmp_path / str(seeds), TWO, range(seeds), one)).headline
        assert headline.startswith(
            f"+3 ms latency: {seeds - 1} of {seeds} completed, {seeds} of {seeds} at the baseline"
        )
        assert "McNemar" not in headline
        assert ("percentage points" in headline) == (seeds > 1)


def test_the_least_that_pairing_was_worth_is_the_least(tmp_path):
    """One metric pairs well, the other badly: the note says so, and nothing promises a least beside it."""

    def make(place, seed):
        sign = -1 if place.ordinal else 1
        values = effects(place.values, seed)
        return record(place, seed, metrics={**values, "effort_rms": 1.0 + sign * 0.1 * np.sin(seed)})

    page = " ".join(text(compare(build(tmp_path / "s", TWO, range(12), make))).split())
    assert "effort_rms: pairing did not help: 12 pairs were worth" in page
    assert "at least" not in page
    well = " ".join(text(compare(build(tmp_path / "well", TWO, range(12)))).split())
    assert "Pairing: 12 pairs were worth at least" in well


def test_seeds_that_make_no_difference_are_said_to(tmp_path):
    make = lambda c, s: record(c, s, metrics={k: v * (1.1 if c.ordinal else 1) for k, v in VALUES.items()})  # noqa: E731
    found = compare(build(tmp_path / "s", TWO, range(8), make))
    assert found.headline == "+3 ms latency raises tracking_error_rms by 10 %, seeds make no difference here"
    assert "seeds make no difference here: all runs of a cell give the same values" in found.notes
    assert not any("few" in note for note in found.notes)


def test_nothing_is_said_of_seeds_or_noise_where_nothing_was_measured(tmp_path):
    sweep = build(tmp_path / "s", TWO, range(4), lambda c, s: record(c, s, outcome=faulted()))
    found = compare(sweep)
    assert not any("few" in note for note in found.notes)
    assert streams(found) == "no pair has values"
    assert "no noise is left" not in str(receipts(Labels(found)).rows)


def test_out_of_step_noise_is_a_note_and_in_the_headline(tmp_path):
    make = lambda c, s: record(c, s, receipts=record(c, s + c.ordinal).receipts)  # noqa: E731
    found = compare(build(tmp_path / "s", TWO, make=make))
    assert "encoders/noise out of step in 16 of 16 pairs" in found.headline
    assert any("not between equal noise" in note for note in found.notes)


def test_load_has_stable_columns(tmp_path):
    folder = build(tmp_path / "s", TWO, make=lambda c, s: record(c, s, outcome=fell()) if s == 1 else record(c, s))
    table = load(folder)
    assert list(table.columns) == [
        "run_id",
        "cell_id",
        "seed",
        "outcome",
        "reason",
        "trace_digest",
        "latency",
        "mass_scale",
        "tracking_error_rms",
        "effort_rms",
        "encoders/delivered",
        "tracker/age_at_use_s",
    ]
    assert len(table) == 32
    assert table.loc[table.outcome == "ended", METRIC].isna().all()
    assert set(table.reason.dropna()) == {"fell"}
    assert table[METRIC].dtype == float
    assert load(str(folder / "ledger.sqlite")).equals(table)
    with pytest.raises(LedgerError, match="There is no ledger"):
        load(tmp_path)


def test_load_keeps_names_apart(tmp_path):
    table = load(build(tmp_path / "s", TWO, metrics={"seed": METRICS[METRIC], "latency": METRICS[METRIC]}))
    assert {"seed", "metric/seed", "latency", "metric/latency"} <= set(table.columns)


def test_importing_analysis_is_light():
    code = (
        "import sys, analysis; print([m for m in ('pandas', 'scipy', 'ray', 'mlflow', 'mujoco') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
