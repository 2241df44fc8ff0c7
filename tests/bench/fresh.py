"""Processes of their own, for what a process has only once: its peak of memory, and its imports."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.measures import UnmeasuredError

ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    """That of a process which finds this tree from any folder, and keeps compiled bytecode."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT)}


def printed(module: str, *words: object, folder: str) -> dict[str, Any]:
    """The JSON that a module of this package prints last when it runs in a folder, in a process of its own."""
    command = [sys.executable, "-m", f"{__package__}.{module}", *map(str, words)]
    done = subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@dataclass(frozen=True)
class Waiting:
    """What a person waited for, from the command on [s]: the table of a sweep, and the end of the process."""

    table_s: float
    end_s: float


def until_table(words: Sequence[str], folder: str) -> Waiting:
    """Run ``python -m sweep`` in a folder; the table is the first that it writes to stdout, progress goes to stderr.

    Raises:
        UnmeasuredError: it failed.
    """
    with tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        command = [sys.executable, "-m", "sweep", *words]
        with subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            assert process.stdout is not None
            has_table = bool(process.stdout.readline())
            table_s = time.perf_counter() - began
            process.communicate()
        end_s = time.perf_counter() - began
        if process.returncode or not has_table:
            errors.seek(0)
            raise UnmeasuredError(f"{' '.join(command)} printed no table: {errors.read()}")
    return Waiting(table_s, end_s)


def tell(found: Mapping[str, Any]) -> None:
    """Print what :func:`printed` reads."""
    print(json.dumps(found))


def cpu_s() -> float:
    """CPU time of this process so far, all its threads, user and system [s]."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_mb(pid: int | None = None) -> float:
    """The most memory that a process held in RAM so far, shared pages included [MB]; by default this one.

    Linux's ``VmHWM``, since ``ru_maxrss`` of a process begins with what its parent held.
    """
    lines = Path(f"/proc/{pid or 'self'}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def resident_bytes() -> int:
    """What this process holds in RAM now, shared pages included; what it holds without need is given back before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
