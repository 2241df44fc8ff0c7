"""``python -m tests.soak``: a sweep under a hundred kills, and whether it comes out as if there had been none.

``SOAK_SEED`` chooses who is killed when (another one each time otherwise), ``SOAK_KILLS`` how many, ``SOAK_RUNS`` in
how many runs, a multiple of 20.  If something is wrong the exit code is 1, and the folder with ledgers and logs stays.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from tests.soak.report import table
from tests.soak.stage import Settings, soak


def main() -> int:
    """Soak; 0 if all is well."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # whoever ends it ends all that it started
    seed = int(os.environ.get("SOAK_SEED") or random.SystemRandom().randrange(10**6))
    kills, runs = int(os.environ.get("SOAK_KILLS", "100")), int(os.environ.get("SOAK_RUNS", "2000"))
    console = Console(highlight=False)
    console.print(f"SOAK_SEED={seed}: {kills} kills in {runs} runs")
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    began = time.monotonic()
    found = soak(
        Settings(seed=seed, kills=kills, runs=runs),
        folder,
        lambda line: console.print(f"{time.monotonic() - began:5.0f} s  {line}"),
    )
    console.print(table(found))
    for complaint in found.complaints:
        console.print(complaint, soft_wrap=True)
    if found.complaints:
        console.print(f"SOAK_SEED={seed} failed; what is left of it: {folder}", soft_wrap=True)
        return 1
    shutil.rmtree(folder)
    console.print("records, ledger and MLflow are those of an undisturbed sweep, bit for bit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
