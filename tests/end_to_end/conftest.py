"""Running the command as a person does: in an empty folder, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def sweep(tmp_path):
    """``sweep("+latency=0,0.01", ...) -> Answer``, run in ``tmp_path``."""

    def call(*words: str, cwd: Path = tmp_path, timeout: float = 300, **environment: str) -> Answer:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", **environment}
        for name in ("PYTHONDONTWRITEBYTECODE", "MLFLOW_TRACKING_URI", "RAY_ADDRESS"):
            env.pop(name, None)
        env.update(environment)
        command = [sys.executable, "-m", "sweep", *words]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, check=False)
        return Answer(done.returncode, done.stdout, done.stderr)

    return call


QUICK = ("scene=cartpole", "manifest.runtime.duration_s=0.5", "tracking=none", "executor=inline")
"""Half a simulated second of the cart, in this process, without MLflow."""
