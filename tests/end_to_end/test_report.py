"""The report in a real browser: it draws without a network, in light and in dark, and prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis import report
from sweep.cli import main
from tests.browser import chromium

DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.main-svg'))"
INK = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
PAPER = "getComputedStyle(document.body).backgroundColor"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """The report of a sweep in which some runs fall."""
    words = ["+latency=0,0.05,0.1", "seeds=3", "manifest.runtime.duration_s=2", "canary=false"]
    output = tmp_path_factory.mktemp("sweeps")
    where = ["scene=cartpole", "tracking=none", "executor=inline", f"output={output}", "--quiet"]
    assert main([*words, *where]) == 0
    return report(next(output.glob("cartpole-*")))


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture
def opened(browser, path):
    """``opened("dark") -> page``, which must load and draw without a word on the console and without a request."""
    pages, trouble = [], []

    def call(scheme: str):
        page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or trouble.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_function(DRAWN)
        pages.append(page)
        return page

    yield call
    for page in pages:
        page.close()
    assert trouble == []


def test_the_first_screen_answers(opened):
    page = opened("light")
    first = page.locator("h1")
    assert first.bounding_box()["y"] < 100
    assert "latency" in first.inner_text()
    outcomes = page.get_by_role("region", name="Outcomes")
    assert outcomes.bounding_box()["y"] < 900
    assert "fell" in outcomes.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_light_and_dark_follow_the_system_figures_too(opened):
    page = opened("dark")
    dark = page.evaluate(INK), page.evaluate(PAPER)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"{INK} !== {dark[0]!r}")
    light = page.evaluate(INK), page.evaluate(PAPER)
    assert (dark, light) == (("rgb(230, 237, 243)", "rgb(15, 20, 25)"), ("rgb(31, 35, 40)", "rgb(255, 255, 255)"))


def test_figures_have_names_and_numbers_for_those_who_cannot_see_them(opened):
    page = opened("light")
    plots = page.locator(".plot")
    assert plots.count() >= 4
    for index in range(plots.count()):
        assert re.search(r"\d+ runs", plots.nth(index).get_attribute("aria-label"))
    details = page.locator("details").first
    details.locator("summary").click()
    assert details.get_by_role("table").is_visible()
    assert details.get_by_role("row").count() == 1 + 3


def test_it_prints_light_and_no_wider_than_the_paper(opened):
    page = opened("dark")
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.set_viewport_size({"width": 680, "height": 960})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(f"{INK} === 'rgb(31, 35, 40)'")
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(f"{INK} === 'rgb(230, 237, 243)'")


def test_the_verb(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = str(path.parent)
    assert main(["report", folder, "--baseline", "latency=0.1", "--to", "here.html"]) == 0
    assert capsys.readouterr().out == "report: here.html\n"
    assert "baseline, latency 100 ms" in Path("here.html").read_text()
    for words, expected in (
        (["nowhere"], "There is no ledger at nowhere"),
        ([folder, "--to", "nowhere/x.html"], "cannot be written: No such file"),
        ([folder, folder, "--baseline", "latency=0"], "goes with one sweep"),
    ):
        assert main(["report", *words]) == 2
        assert expected in capsys.readouterr().err
