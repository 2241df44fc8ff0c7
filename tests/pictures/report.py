"""The report as a browser shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from analysis import report
from tests.pictures.photo import photograph
from tests.pictures.sweeps import Shown

SIZE = {"width": 1280, "height": 900}
DRAWN = "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.main-svg'))"


def first_screen(browser: Any, shown: Shown, path: Path) -> None:
    """What is seen of a sweep's report when it is opened."""
    page = _opened(browser, shown)
    photograph(page, path)
    page.close()


def figure(browser: Any, shown: Shown, title: str, path: Path) -> None:
    """The figure of a sweep's report with this title."""
    page = _opened(browser, shown)
    page.add_style_tag(content="figure { padding: 12px }")
    photograph(page.locator("figure", has=page.get_by_role("heading", name=title)).first, path)
    page.close()


def _opened(browser: Any, shown: Shown) -> Any:
    path = report(shown.folder)
    page = browser.new_page(viewport=SIZE, color_scheme="light")
    page.goto(path.as_uri())
    page.wait_for_function(DRAWN)
    return page
