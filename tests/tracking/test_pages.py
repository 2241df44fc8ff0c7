"""What a person sees of a sweep in MLflow, in a real browser: two axes, thirty cells."""

from __future__ import annotations

import pytest

from sweep.cli import main
from tests.browser import chromium
from tests.tracking.pages import Pages
from tests.tracking.stores import Store

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

AXES = ("latency=0,5ms,10ms,20ms,40ms", "mass_scale=0.8,0.9,1,1.1,1.2,1.5")
WORDS = ("scene=cartpole", "seeds=2", "manifest.runtime.duration_s=0.3", "executor=inline", "canary=false", "--quiet")
CELLS = [(latency, scale) for latency in (0, 0.005, 0.01, 0.02, 0.04) for scale in (0.8, 0.9, 1.0, 1.1, 1.2, 1.5)]
FIRST = "Lower_is_better/angle_rms_rad"


@pytest.fixture(scope="module")
def pages(request, tmp_path_factory):
    """The sweep's pages, after the command has sent it to a server."""
    output = tmp_path_factory.mktemp("sweeps")
    with chromium() as browser:
        url = request.getfixturevalue("server").url
        where = (f"output={output}", f"tracking.uri={url}", "tracking.experiment=pages")
        assert main([*AXES, *WORDS, *where]) == 0
        yield Pages(browser, url, Store(output, url, "pages"))


@pytest.fixture(autouse=True)
def _without_trouble(pages):
    yield
    assert pages.trouble == []


def test_the_list_has_the_sweep_and_in_it_its_cells(pages):
    pages.sweeps()
    cells = pages.page.get_by_role("link", name="latency=")
    assert cells.count() == 0
    pages.unfold()
    cells.first.wait_for()
    text = pages.text()
    for words in ("Sweeps of the scene cartpole: open one with [+]", "angle_rms [rad], lower is better", "31 matching"):
        assert words in text


def test_parallel_coordinates_have_a_line_per_cell_and_name_axes_and_metric(pages):
    pages.compare()
    (drawn, *_), _ = pages.plot("Parallel Coordinates", "parcoords")
    assert [dimension["label"] for dimension in drawn["dimensions"]] == ["latency", "mass_scale", FIRST]
    latency, scale, metric = ([float(v) for v in dimension["values"]] for dimension in drawn["dimensions"])
    assert sorted(zip(latency, scale, strict=True)) == CELLS
    means = {(float(p["latency"]), float(p["mass_scale"])): m["angle_rms/mean"] for p, m in _said(pages)}
    assert metric == [means[at] for at in zip(latency, scale, strict=True)]
    text = pages.text()
    for name in ("angle_rms/mean", "drift/delta_vs_baseline", "effort_rms/ci_low", "balancer/age_at_use_s"):
        assert name in text


def _said(pages):
    return [(run.data.params, run.data.metrics) for run in pages.children.values()]


def test_the_other_plots_begin_with_the_axes_and_the_first_metric(pages):
    pages.compare()
    (drawn, *_), layout = pages.plot("Scatter Plot", "scatter")
    assert len(drawn["x"]) == 30
    assert _titles(layout) == ["latency", FIRST]
    _, layout = pages.plot("Contour Plot", "contour")
    assert _titles(layout) == ["latency", "mass_scale"]
    assert FIRST in pages.text()
    boxes, layout = pages.plot("Box Plot", "box", "latency", "drift/delta_vs_baseline")
    assert _titles(layout) == ["latency", "drift/delta_vs_baseline"]
    assert sorted(float(box["name"]) for box in boxes) == [0, 0.005, 0.01, 0.02, 0.04]
    assert {len(box["y"]) for box in boxes} == {6}


def _titles(layout):
    return [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")]


def test_a_sweep_and_a_cell_say_what_they_are(pages):
    pages.run(pages.parent)
    text = pages.text()
    for words in ("over these seeds", "swept over latency × mass_scale: 30 cells, 60 runs", "sweep.axes: latency [s]",
                  "latency: 0, 5, 10, 20, 40 ms", "angle_rms [rad], lower is better"):  # fmt: skip
        assert words in text
    cell = next(run for run in pages.children.values() if run.data.params == {"latency": "0.04", "mass_scale": "1.5"})
    pages.run(cell)
    text = pages.text()
    for words in ("against latency=0 mass_scale=1: +40 ms latency", "angle_rms [mrad], lower is better", "Parent run",
                  "sweep.baseline: latency=0 mass_scale=1", FIRST):  # fmt: skip
        assert words in text


def test_the_sweep_carries_its_report(pages):
    pages.run(pages.parent, "/artifacts/report.html")
    report = pages.page.frame_locator("iframe")
    report.locator("h1").wait_for()
    assert "over these seeds" in report.locator("body").inner_text()
    for name in ("plan", "cells.parquet", "runs.parquet", "comparison.txt", "provenance.json"):
        assert pages.page.get_by_text(name, exact=True).count()
