"""README's pictures are there and small, and show nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

from tests.pictures.pairing import BEGIN, END
from tests.pictures.sweeps import SCENES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_what_readme_shows_is_there_and_nothing_else():
    shown = set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", README))
    kept = {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "pictures").iterdir()}
    assert shown == kept
    assert sum((ROOT / name).stat().st_size for name in kept) < 1_000_000


def test_the_terminal_is_drawn_with_fonts_that_are_there():
    drawn = (ROOT / "docs" / "pictures" / "terminal.svg").read_text(encoding="utf-8")
    assert "lower" in drawn
    assert "url(http" not in drawn
    assert "@font-face" not in drawn


def test_the_table_has_every_shipped_scene():
    assert {path.stem for path in (ROOT / "conf" / "scene").glob("*.yaml")} == set(SCENES)
    table = README[README.index(BEGIN) : README.index(END)]
    for scene in SCENES:
        assert re.search(rf"^\| {scene} \| \w+ \| [^|]+% \[[^|]+\| 0\.\d+ \| [\d.]+ \| [\d ]+ \|$", table, flags=re.M)
