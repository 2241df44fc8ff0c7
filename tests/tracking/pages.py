"""MLflow's pages of a sweep, in a browser."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from tests.tracking.stores import Store

SIZE = {"width": 1400, "height": 900}
PATIENCE_MS = 60_000
"""How long a page may take on a busy machine [ms]."""

SETTLED = """
if (window === top)
  for (const [name, value] of [["mlflow.assistant.fab.autoOpenedOnFirstLoad_v1", "true"],
                               ["mlflow.workflowType_v1", JSON.stringify("machine_learning")]])
    localStorage.setItem(name, value);
"""
"""As of somebody who has closed MLflow's assistant, and trains models rather than prompts."""

PLOT = "[...document.querySelectorAll('.js-plotly-plot')].find((plot) => plot.offsetParent && plot.data?.[0])"


class Pages:
    """One page of the browser, led through what MLflow shows of one sweep.

    Attributes:
        page: the page.
        trouble: errors that it had.
    """

    def __init__(self, browser: Any, url: str, store: Store) -> None:
        self._url = url
        self._experiment = store.client.get_experiment_by_name(store.destination.experiment).experiment_id
        self.parent, self.children = store.runs()
        self.trouble: list[str] = []
        context = browser.new_context(viewport=SIZE)
        context.add_init_script(SETTLED)
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))

    def compare(self) -> None:
        """All cells side by side."""
        runs = [run.info.run_id for run in self.children.values()]
        self._open(f"compare-runs?runs={_json(runs)}&experiments={_json([self._experiment])}")

    def plot(self, tab: str, kind: str, *chosen: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Traces and layout of a plot of the comparison, with axes chosen from its lists, once it is drawn."""
        self.page.get_by_role("tab", name=tab).click()
        for place, name in enumerate(chosen):
            self.page.get_by_role("tabpanel").get_by_role("combobox").nth(place).click()
            self.page.get_by_role("option", name=name, exact=True).click()
        self.page.wait_for_function(f"{PLOT}?.data[0].type.startsWith('{kind}')")
        return self.page.evaluate(f"(({{data, layout}}) => JSON.parse(JSON.stringify([data, layout])))({PLOT})")

    def text(self) -> str:
        """What can be read on the page."""
        return self.page.inner_text("body").replace("\n: ", ": ")

    def sweeps(self) -> None:
        """The experiment's list of runs."""
        self._open(f"experiments/{self._experiment}/runs")
        self._name_of_sweep.wait_for()

    def unfold(self) -> None:
        """In that list, the sweep's cells."""
        self.page.get_by_role("gridcell").filter(has=self._name_of_sweep).get_by_role("button").click()

    @property
    def _name_of_sweep(self) -> Any:
        return self.page.get_by_role("link", name=self.parent.info.run_name)

    def run(self, run: Any, place: str = "") -> None:
        """A run's own page."""
        self._open(f"experiments/{self._experiment}/runs/{run.info.run_id}{place}")
        self.page.get_by_text("About this run" if not place else run.info.run_name).first.wait_for()

    def _open(self, place: str) -> None:
        self.page.goto(f"{self._url}/#/{place}", timeout=PATIENCE_MS)


def _json(value: Any) -> str:
    return quote(json.dumps(value))
