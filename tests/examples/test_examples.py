"""Each example beside this file runs as it is, and prints what its golden text says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = sorted(path for path in HERE.glob("*.py") if not path.name.startswith("test_"))

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_prints_what_it_printed(example, tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run([sys.executable, example], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == example.with_suffix(".txt").read_text()
    assert list(tmp_path.glob("sweeps/*/latency.html"))
