"""Figures draw what the comparison says: the same numbers, in units for people, and no more than a screen shows."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import compare, figures
from analysis.figures import style
from analysis.labels import Labels, evenly, outcome_words, short
from analysis.shape import curves, factorial, planes
from analysis.source import read
from analysis.survival import survival
from tests.analysis.synthetic import build, cell, fell, latencies, recompute, record

METRIC = "tracking_error_rms"
FIVE = (0.0, 0.002, 0.005, 0.01, 0.02)
GRID = [(latency, mass) for latency in FIVE for mass in (0.8, 1.0, 1.2)]


@pytest.fixture(scope="module")
def curve(tmp_path_factory):
    folder = build(tmp_path_factory.mktemp("curve"), latencies(*FIVE), range(8))
    return compare(folder, recompute=recompute), read(folder)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    cells = [cell(i, latency=latency, mass_scale=mass) for i, (latency, mass) in enumerate(GRID)]
    folder = build(tmp_path_factory.mktemp("grid"), cells, range(6))
    return compare(folder, recompute=recompute), read(folder)


def drawn(figure, **wanted):
    """The traces that have these properties."""
    plain = figure.to_plotly_json()["data"]
    return [trace for trace in plain if all(trace.get(name) == value for name, value in wanted.items())]


def test_a_response_curve_is_means_and_paired_differences_with_their_bands(curve):
    comparison, sweep = curve
    (line,) = curves(comparison, "latency")
    seeds = [figures.values_of(sweep, row.cell_id, METRIC) for row in line.cells]
    figure = figures.response(comparison, line, METRIC, seeds)
    means, differences = (trace for trace in drawn(figure, mode="lines+markers"))
    assert means["x"] == differences["x"] == [0.0, 2.0, 5.0, 10.0, 20.0]
    assert means["y"] == pytest.approx([1e3 * row.means[METRIC].estimate for row in line.cells], rel=1e-4)
    expected = [row.contrast.metrics[METRIC].difference if row.contrast else None for row in line.cells]
    assert differences["y"] == pytest.approx([1e3 * d.estimate if d else 0.0 for d in expected], rel=1e-4)
    wide, narrow = drawn(figure, fill="toself")
    for band, intervals in ((wide, [row.means[METRIC] for row in line.cells]), (narrow, expected)):
        highs = [1e3 * i.high if i else 0.0 for i in intervals]
        assert band["y"][:5] == pytest.approx(highs, rel=1e-4, abs=1e-9)
    (threads,) = (trace for trace in drawn(figure, mode="lines") if trace["line"]["width"] == 1)
    assert sum(value is not None for value in threads["y"]) == 8 * 5
    assert figure.layout.yaxis.title.text == "tracking_error_rms [mrad]"
    assert figure.layout.xaxis.title.text == "latency [ms]"
    assert "8 seeds per cell" in figure.layout.title.subtitle.text
    assert "all 40 runs completed" in figure.layout.title.subtitle.text


def test_a_heat_map_has_every_cell_where_it_belongs(grid):
    comparison, _ = grid
    (plane,) = planes(comparison, "mass_scale", "latency")
    (trace,) = drawn(figures.heat_map(comparison, plane, METRIC))
    assert (trace["x"], trace["y"]) == (["0.8", "1", "1.2"], ["0", "2", "5", "10", "20"])
    by_values = {(c.values["latency"], c.values["mass_scale"]): c.means[METRIC].estimate for c in comparison.cells}
    expected = np.array([by_values[pair] for pair in GRID]).reshape(5, 3)
    assert np.array(trace["z"]) == pytest.approx(1e3 * expected, rel=1e-4)


def test_a_cell_of_which_runs_fell_says_so(tmp_path):
    cells = [cell(i, latency=latency, mass_scale=mass) for i, (latency, mass) in enumerate(GRID)]
    late = lambda c, s: record(c, s, outcome=fell()) if c.values["latency"] == 0.02 and s < 4 else record(c, s)  # noqa: E731
    comparison = compare(build(tmp_path, cells, range(6), late))
    (plane,) = planes(comparison, "mass_scale", "latency")
    (trace,) = drawn(figures.heat_map(comparison, plane, METRIC))
    assert all(text.endswith("<br>2 of 6") for text in trace["text"][-1])
    (shares,) = drawn(figures.success_map(comparison, plane))
    assert shares["z"][-1] == pytest.approx([1 / 3] * 3)
    assert shares["text"][0] == ["6 of 6"] * 3
    bars = drawn(figures.outcomes(comparison))
    assert {bar["name"]: sum(bar["x"]) for bar in bars} == {"completed": 78, "fell": 12}


def test_small_multiples_share_the_nominal_curve(grid):
    comparison, _ = grid
    found = curves(comparison, "latency")
    figure = figures.multiples(comparison, found, METRIC)
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["mass_scale 0.8", "mass_scale 1", "mass_scale 1.2"]
    assert "dotted: mass_scale 1;" in figure.layout.title.subtitle.text
    dotted = [trace for trace in drawn(figure, mode="lines") if trace["line"].get("dash") == "dot"]
    assert len(dotted) == 2
    nominal = [1e3 * row.means[METRIC].estimate for row in found[0].cells]
    assert dotted[0]["y"] == pytest.approx(nominal, rel=1e-4)


def test_effects_are_those_of_the_factorial(grid):
    comparison, sweep = grid
    found = factorial(sweep, METRIC)
    (bars,) = drawn(figures.shares(comparison, found))
    assert bars["y"][0] == "latency"
    assert bars["x"] == pytest.approx([100 * share for share in sorted(found.shares.values(), reverse=True)], rel=1e-3)
    latency, mass = drawn(figures.main_effects(comparison, found), mode="lines+markers")
    assert latency["x"] == [0.0, 2.0, 5.0, 10.0, 20.0]
    assert mass["x"] == [0.8, 1.0, 1.2]
    assert sum(latency["y"]) == pytest.approx(0.0, abs=1e-3 * max(latency["y"]))
    (together,) = drawn(figures.interaction(comparison, found, "mass_scale", "latency"))
    assert np.array(together["z"]).sum(axis=0) == pytest.approx([0.0] * 3, abs=1e-2 * np.abs(together["z"]).max())


def test_pairs_are_lines_and_their_differences(curve):
    comparison, sweep = curve
    row = comparison.cells[-1]
    pairs = figures.pairs_of(comparison, row, METRIC, sweep)
    assert pairs.seeds == tuple(range(8))
    figure = figures.paired(comparison, pairs)
    (lines,) = (trace for trace in drawn(figure, mode="lines+markers"))
    assert len(lines["x"]) == 3 * 8
    found = row.contrast.metrics[METRIC].difference
    diamond = drawn(figure, mode="markers")[-1]
    assert diamond["y"][0] == pytest.approx(1e3 * found.estimate, rel=1e-4)
    assert diamond["error_y"]["array"][0] == pytest.approx(1e3 * found.half_width)
    assert figures.pairs_of(comparison, comparison.cells[1], METRIC, sweep) is None
    several = [figures.pairs_of(comparison, c, METRIC, sweep) for c in comparison.cells if c.contrast]
    figure = figures.differences(comparison, METRIC, several)
    assert figure.layout.yaxis.ticktext == ("latency 0 ms", "latency 5 ms", "latency 10 ms", "latency 20 ms")
    assert "8 of 8 pairs; all 40 runs completed" in figure.layout.title.subtitle.text


def test_survival_is_a_staircase_to_the_horizon(tmp_path):
    late = lambda c, s: record(c, s, outcome=fell(1.0 + s)) if c.ordinal and s < 3 else record(c, s)  # noqa: E731
    folder = build(tmp_path, latencies(0.002, 0.005), range(4), late)
    figure = figures.running(compare(folder), survival(read(folder)), 5.0)
    base, other = (trace for trace in drawn(figure) if trace.get("name"))
    assert (base["x"], base["y"]) == ([0.0, 5.0], [100.0, 100.0])
    assert (other["x"], other["y"]) == ([0.0, 1.0, 2.0, 3.0, 5.0], [100.0, 75.0, 50.0, 25.0, 25.0])
    assert [note.text for note in figure.layout.annotations] == ["latency 2 ms", "latency 5 ms"]


def test_many_cells_are_thinned_and_said_to_be(tmp_path):
    cells = [cell(i, latency=1e-5 * i, mass_scale=1 + 1e-3 * (i * 37 % 1000), gain=i) for i in range(1000)]
    comparison = compare(build(tmp_path, cells, range(1)))
    figure = figures.parallel(comparison, METRIC)
    lines = sum(trace["x"].count(None) for trace in drawn(figure))
    assert lines <= 400
    assert f"{lines} of 1\N{NARROW NO-BREAK SPACE}000 drawn" in figure.layout.title.subtitle.text
    dots = drawn(figures.scatter(comparison, METRIC))
    assert [len(trace["x"]) for trace in dots] == [1000] * 3


def test_what_colour_blind_readers_see_apart_stands_out_from_either_page():
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    def contrast(a: str, b: str) -> float:
        high, low = sorted((luminance(a), luminance(b)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for colour in (style.BLUE, style.VERMILLION, style.GREEN, style.GREY):
        assert contrast(colour, "#ffffff") >= 3
        assert contrast(colour, "#0f1419") >= 3
    for dark, page in ((False, "#ffffff"), (True, "#0f1419")):
        assert contrast(style.template(dark=dark)["layout"]["font"]["color"], page) >= 7


def test_labels_are_for_people(curve):
    comparison, _ = curve
    label = Labels(comparison)
    assert label.cell_name(comparison.cells[0]) == "latency 0 ms"
    assert label.baseline_name == "latency 2 ms"
    assert label.axis_heads() == ["latency [ms]"]
    assert outcome_words(comparison.cells) == "all 40 runs completed"
    assert evenly([10.0, 9.761, None]) == ["10.000", "9.761", ""]
    assert short("manifest.components.encoders.latency_s") == "encoders.latency_s"
