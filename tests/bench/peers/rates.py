"""Runs per second of whole sweeps, ours and those of what a user would do instead, of the same job on the same cores.

The job is the arm for two seconds with latencies of 2 and 5 ms and some seeds.  Ours is ``python -m sweep`` on Ray,
one worker a core, until its table is printed; a peer is its whole process, a script in ``scripts``, in the virtual
environment of :mod:`tests.bench.peers.venv`.  A peer's job is the plain one: a scalar loop around ``mj_step``, the same
model, step, devices, controller and metric, and nothing is kept but one number.  Nobody mirrors to MLflow.

Each is timed with few and with many seeds, all of them in turn and several times.  The difference over the difference
in runs is what a further run costs; what is left of the time with few is the start.  Medians.  1,000 runs are
extrapolated from both.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sweep.execution.executor import cores
from tests.bench.fresh import until_table
from tests.bench.measures import UnmeasuredError
from tests.bench.peers import venv
from tests.bench.peers.job import LATENCIES, WORDS, write_job

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Rate:
    """One way to sweep: wall time of its start and of a further run [s]."""

    name: str
    start_s: float
    run_s: float

    def wall_s(self, runs: int) -> float:
        """Of so many runs [s]."""
        return self.start_s + runs * self.run_s


@dataclass(frozen=True)
class Way:
    """One way to sweep: how long so many seeds take [s], and how many are few and many."""

    name: str
    wall_s: Callable[[int], float]
    few: int
    many: int


def rates(*, repeats: int = 5, ways: Sequence[Way] | None = None) -> list[Rate]:
    """The rate of each way, ours first."""
    with tempfile.TemporaryDirectory() as folder:
        ways = ways or [ours(), *peers(Path(folder))]
        walls = [[(way.wall_s(way.few), way.wall_s(way.many)) for way in ways] for _ in range(repeats)]
    return [_rate(way, [row[index] for row in walls]) for index, way in enumerate(ways)]


def _rate(way: Way, walls: Sequence[tuple[float, float]]) -> Rate:
    few, many = len(LATENCIES) * way.few, len(LATENCIES) * way.many
    run_s = statistics.median((b - a) / (many - few) for a, b in walls)
    return Rate(way.name, statistics.median(a for a, _ in walls) - few * run_s, run_s)


def ours(*, few: int = 20, many: int = 120, words: Sequence[str] = ("executor=ray",)) -> Way:
    """This project."""

    def wall_s(seeds: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            return until_table([*WORDS, f"seeds={seeds}", *words], folder).table_s

    return Way("python -m sweep", wall_s, few, many)


def peers(folder: Path) -> list[Way]:
    """What a user would do instead; the job is left in a folder."""
    write_job(folder)
    python, words = venv.python(), [str(folder)]

    def script(name: str, few: int, many: int, file: str) -> Way:
        return Way(name, lambda seeds: _wall_s([python, SCRIPTS / file, *words, seeds, cores(), *LATENCIES]), few, many)

    def hydra(name: str, few: int, many: int, *launcher: str) -> Way:
        command = [
            python,
            SCRIPTS / "hydra_job.py",
            "--multirun",
            f"+folder={folder}",
            f"+latency={','.join(LATENCIES)}",
        ]
        return Way(name, lambda seeds: _wall_s([*command, f"+seed=range({seeds})", *launcher]), few, many)

    on_ray = ("hydra/launcher=ray", f"+hydra.launcher.ray.init.num_cpus={cores()}")
    return [
        script("multiprocessing pool", 10, 50, "pool.py"),
        script("Ray Tune", 2, 8, "tune.py"),
        hydra("Hydra, basic launcher", 2, 12),
        hydra("Hydra, hydra-ray-launcher", 3, 18, *on_ray),
    ]


def _wall_s(command: Sequence[object]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        words = list(map(str, command))
        done = subprocess.run(words, cwd=folder, env=venv.environment(), capture_output=True, text=True)
        spent = time.perf_counter() - began
    if done.returncode:
        raise UnmeasuredError(f"{' '.join(words)} failed: {done.stderr}")
    return spent
