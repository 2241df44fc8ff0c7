"""How long it takes from the command to the first committed run: wall time, what a person waits.

``python -m sweep +latency=0.002,0.005`` as a fresh process whose bytecode is compiled, in an empty folder, without
MLflow.  The clock stops when another process can read a record in the ledger; it looks every :data:`LOOK_S`.  The
command then runs to its end.  Median of a few.
"""

from __future__ import annotations

import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tests.bench.fresh import environment

LOOK_S = 0.01
WORDS = ("+latency=0.002,0.005", "seeds=2", "tracking=none")


def first_runs(
    *, repeats: int = 3, words: tuple[str, ...] = WORDS, executors: Sequence[str] = ("inline", "ray")
) -> Mapping[str, float]:
    """Executor -> seconds until a run is committed [s]."""
    _once([*words, "executor=inline"])  # compiles what is not, and fills the disk's cache
    return {
        executor: statistics.median(_once([*words, f"executor={executor}"]) for _ in range(repeats))
        for executor in executors
    }


def _once(words: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [sys.executable, "-m", "sweep", *words]
        with subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
            while not _has_record(Path(folder)) and process.poll() is None:
                time.sleep(LOOK_S)
            spent = time.perf_counter() - began
            _, told = process.communicate()
        if process.returncode != 0 or not _has_record(Path(folder)):
            raise RuntimeError(f"{' '.join(command)} left no run: {told}")
        return spent


def _has_record(folder: Path) -> bool:
    for ledger in folder.glob("sweeps/*/ledger.sqlite"):
        with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, timeout=LOOK_S)) as connection:
            try:
                return connection.execute("SELECT 1 FROM records LIMIT 1").fetchone() is not None
            except sqlite3.OperationalError:  # it is being written
                return False
    return False
