"""MLflow's comparison of a sweep's cells, as a browser shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sweep.tracking.server import LocalServer
from tests.pictures.photo import photograph
from tests.tracking.pages import Pages
from tests.tracking.stores import Store, free_port

DRAWING_MS = 1500
"""How long plotly goes on drawing lines after it has its data [ms]."""


def parallel_coordinates(browser: Any, output: Path, path: Path) -> None:
    """The cells of the only sweep that MLflow was told of."""
    store = Store(output, experiment="cartpole")
    with LocalServer(store.destination, free_port()) as server:
        server.wait_until_up()
        pages = Pages(browser, server.url, store)
        pages.compare()
        pages.plot("Parallel Coordinates", "parcoords")
        pages.page.wait_for_timeout(DRAWING_MS)
        photograph(pages.page, path, clip={"x": 190, "y": 0, "width": 1210, "height": 640})
