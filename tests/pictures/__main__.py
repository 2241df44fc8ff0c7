"""``python -m tests.pictures``: run the sweeps that README shows, and make its pictures and its table anew."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.browser import CHROMIUM, chromium
from tests.pictures.mlflow import parallel_coordinates
from tests.pictures.pairing import write_table
from tests.pictures.report import figure, first_screen
from tests.pictures.sweeps import CURVE, GRID, SCENES, Workshop
from tests.pictures.terminal import terminal_picture

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def make(workshop: Workshop) -> None:
    """Everything; each picture is of a sweep that ran in the workshop."""
    PICTURES.mkdir(exist_ok=True)
    scenes = {scene: workshop.main_job(scene) for scene in SCENES}
    curve, grid = workshop.run("curve", *CURVE), workshop.run("tour", *GRID, tracking="mlflow")
    terminal_picture(scenes["arm"], PICTURES / "terminal.svg")
    with chromium() as browser:
        first_screen(browser, scenes["arm"], PICTURES / "report.png")
        figure(browser, curve, "angle_rms along latency", PICTURES / "curves.png")
        figure(browser, grid, "angle_rms over mass_scale and latency", PICTURES / "heat_map.png")
        parallel_coordinates(browser, workshop.output, PICTURES / "mlflow.png")
    write_table(ROOT / "README.md", scenes)
    for path in sorted(PICTURES.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} kB")


def main() -> None:
    """In a folder for once: what is shown is what runs now."""
    if CHROMIUM is None:
        sys.exit("pictures are taken with chromium, which this machine does not have: install it first")
    with tempfile.TemporaryDirectory(prefix="pictures-") as folder:
        make(Workshop(Path(folder)))


if __name__ == "__main__":
    main()
