"""What docs/own-components.md shows, done: its files beside README's, its command, its contract test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from analysis import load, load_trace
from analysis.traces import signals

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def own(tmp_path):
    for page in (ROOT / "README.md", ROOT / "docs" / "own-components.md"):
        blocks = re.findall(r"^`([\w./-]+)`[^\n]*\n\n```\w+\n(.*?)^```", page.read_text(), flags=re.S | re.M)
        assert blocks
        for name, text in blocks:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
    return tmp_path


def test_the_woodpecker_pecks(own, sweep):
    answer = sweep("scene=pecked", "+pecks=2,4", "seeds=3", "tracking=none")
    assert answer.code == 0, answer.err
    frame = load(own / re.search(r"results: (\S+)", answer.err).group(1))
    assert frame.outcome.eq("ended").all()
    lasted = frame.groupby("pecks").lasted.mean()
    assert 0 < lasted[2] < lasted[4] < 5
    assert frame.work.gt(0).all()


def test_its_contract_holds(own):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_parts.py"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(own), str(ROOT)])}
    answer = subprocess.run(command, cwd=own, capture_output=True, text=True, env=env, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "7 passed" in answer.stdout


def test_the_live_robot_is_paced_and_told_of(own):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "live.py"]
    answer = subprocess.run(command, cwd=own, capture_output=True, text=True, env=env, check=False)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert len([line for line in lines if line.endswith("rad")]) == 10
    assert "completed" in lines[-2]
    assert lines[-1] == "over"


def test_a_trace_is_read_as_readme_says(own, sweep):
    answer = sweep("scene=pendulum", "+latency=0,0.02", "seeds=1", "tracking=none", "trace=full")
    assert answer.code == 0, answer.err
    folder = own / re.search(r"results: (\S+)", answer.err).group(1)
    trace = load_trace(folder, load(folder).run_id.iloc[0])
    samples = trace[trace.kind == "sample"]
    assert len(samples) == 1999  # acquired at ticks 1 .. 1999
    states = signals(trace, "boundary")
    assert "pivot" in str(states.columns)
