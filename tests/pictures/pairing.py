"""What pairing was worth on the shipped scenes, as a table in README."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from analysis import compare
from analysis.format import bracketed, grouped
from analysis.pairing import PairingReceipt
from sweep.run import recompute
from tests.pictures.sweeps import Shown

BEGIN, END = "<!-- made by make pictures -->\n", "<!-- end -->"
HEAD = """\
| scene | metric | +3 ms latency changes it by | correlation | variance, paired / unpaired | 16 pairs are worth |
|---|---|---|---|---|---|"""


def write_table(page: Path, scenes: Mapping[str, Shown]) -> None:
    """The table, between its two marks."""
    rows = [row for scene, shown in scenes.items() for row in rows_of(scene, shown.folder)]
    table = "\n".join([HEAD, *rows])
    text = page.read_text(encoding="utf-8")
    page.write_text(
        re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{table}\n\n{END}", text, flags=re.DOTALL), encoding="utf-8"
    )
    print(table)


def rows_of(scene: str, folder: Path) -> Iterator[str]:
    """A row per metric of a sweep with two cells."""
    comparison = compare(folder, recompute=recompute)
    contrast = next(cell.contrast for cell in comparison.cells if cell.contrast is not None)
    for metric, found in contrast.metrics.items():
        change = bracketed(found.percent, 1.0, " %") if found.percent else found.withheld
        yield f"| {scene} | {metric} | {change} | {_worth(found.receipt)} |"


def _worth(receipt: PairingReceipt) -> str:
    """Three columns."""
    if receipt.correlation is None or receipt.variance_ratio is None or receipt.worth is None:
        return "no spread | |"
    return f"{receipt.correlation:.3f} | {1 / receipt.variance_ratio:.2g} | {grouped(receipt.worth)}"
