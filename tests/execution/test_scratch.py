"""The folder of Ray's session: gone with its driver, also where that was killed; nobody else's is touched."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sweep.execution import scratch
from sweep.execution.scratch import PREFIX, Scratch

HOLD = """
import sys, time
from pathlib import Path
from sweep.execution import scratch
scratch.PLACE = Path(sys.argv[1])
print(scratch.Scratch().path, flush=True)
time.sleep(60)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "PLACE", tmp_path)
    return tmp_path


def test_what_a_killed_driver_left_is_removed_by_the_next_one_and_what_a_living_one_has_is_not(place):
    with subprocess.Popen([sys.executable, "-c", HOLD, str(place)], stdout=subprocess.PIPE, text=True) as driver:
        try:
            theirs = place / driver.stdout.readline().strip()
            (theirs / "session").mkdir()
            mine = Scratch()
            assert theirs.is_dir()
            assert mine.path.parent == place
            mine.remove()
            assert not mine.path.exists()
            assert theirs.is_dir()
        finally:
            driver.kill()
    another = Scratch()
    assert not theirs.exists()
    another.remove()
    assert list(place.iterdir()) == []


def test_a_folder_of_that_name_that_no_driver_made_stays(place):
    (place / f"{PREFIX}photos").mkdir()
    Scratch().remove()
    assert [folder.name for folder in place.iterdir()] == [f"{PREFIX}photos"]
