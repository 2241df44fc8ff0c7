"""Calibration: how many lanes and threads suit a sweep on this machine, and what a run costs with them.

Bits do not depend on either, so they are chosen by time alone: the first moments of some runs, in batches of a few
sizes, as the look ahead found that they must be executed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import attrgetter

from sweep.design.run import Run
from sweep.execution.apart import DiedError, call_apart
from sweep.execution.canary import LIMIT_S
from sweep.execution.lane_check import own_classes
from sweep.execution.shards import LANES, MAX_LANES
from sweep.execution.words import counted
from sweep.plan.plan import Plan
from sweep.runtime.batch import InstanceBatch

SIZES = (16, 32, 64, 128, MAX_LANES)
"""Lanes that are tried, from few to many."""

TRIAL_S = 0.06
"""How long each batch is timed, once its first block is over; short runs are, whole, for as long [s]."""

TRIAL_TICKS = 64
"""Longest block of a trial: nothing else would cut that of a robot without a controller."""

PATIENCE_S = 0.5
"""A batch whose blocks might take longer than this is not tried [s]."""

GAIN = 0.97
"""More threads must take less than this part of the time, since they take cores.

Of lanes the cheapest are the best, by however little: how late records come is what a shard's time decides.
"""

WORTH_S = 5.0
"""Less work than this is not calibrated further than its first trial [s]."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How runs are to be executed.

    Attributes:
        lanes: most runs of one batch.
        threads: threads that the physics of a batch runs on.
        share_s: wall time of one run among so many [s].
    """

    lanes: int
    threads: int
    share_s: float


def calibrate(runs: Sequence[Run], threads: int = 1) -> Calibration | None:
    """Find out how runs are best executed; nothing is kept of those that are timed.

    Args:
        runs: what is to be run, as it is to be executed (:meth:`sweep.execution.findings.Findings.applied`).
        threads: the most threads that a batch may have.

    Returns:
        None without runs, and where they do not get through the first moments; the user's own code is tried in a
        process of its own.
    """
    probed = probe(runs)
    if not probed:
        return None
    find = partial(_calibrated, probed, len(runs), threads)
    try:
        return call_apart(find, LIMIT_S) if any(own_classes(run.plan) for run in probed) else find()
    except DiedError:
        return None
    except (Exception, SystemExit):  # noqa: BLE001 - what raises here raises in the runs, which tell of it
        return None


def in_words(lanes: int, threads: int) -> str:
    """For people: ``up to 64 lanes on 2 threads``."""
    return f"up to {counted(lanes, 'lane')}" + (f" on {counted(threads, 'thread')}" if threads > 1 else "")


def probe(runs: Sequence[Run]) -> list[Run]:
    """The first runs that may execute in one call."""
    if not runs:
        return []
    plan = runs[0].plan
    return list(islice((run for run in runs if run.plan.layout == plan.layout), _most(plan)))


def _calibrated(runs: Sequence[Run], count: int, threads: int) -> Calibration:
    most = _most(runs[0].plan)
    sizes = [*(size for size in SIZES if size < len(runs)), len(runs)]
    best = _timed(runs[: sizes[0]], threads=1)
    horizon = runs[0].plan.horizon
    if best.share_s * count < WORTH_S:
        return replace(best, lanes=min(LANES, most), threads=threads)
    for size in sizes[1:]:
        if size * best.share_s * min(TRIAL_TICKS, horizon) / horizon > PATIENCE_S:
            break
        best = min(best, _timed(runs[:size], threads=1), key=attrgetter("share_s"))
    if threads > 1:
        tried = _timed(runs[: best.lanes], threads=threads)
        best = tried if tried.share_s < GAIN * best.share_s else best
    # A batch of all the runs there are says nothing of larger ones.
    return replace(best, lanes=most) if best.lanes == len(runs) else best


def _most(plan: Plan) -> int:
    return min(plan.manifest.runtime.max_lanes or MAX_LANES, MAX_LANES)


def _timed(runs: Sequence[Run], threads: int) -> Calibration:
    """What a batch takes."""

    def begun() -> InstanceBatch:
        return InstanceBatch([run.plan for run in runs], [run.seed for run in runs], TRIAL_TICKS, threads)

    batch = begun()
    batch.advance_block()  # it warms up: on a new machine the first of all waits for the compiler
    started, before = time.perf_counter(), batch.tick
    while time.perf_counter() - started < TRIAL_S and batch.advance_block():
        pass
    if batch.is_over:  # of so short a run the set-up may be most: it is timed whole, as often as there is time
        share = _mean_s(lambda: begun().run())
    else:
        share = (time.perf_counter() - started) * batch.horizon / (batch.tick - before)
    return Calibration(len(runs), threads, share / len(runs))


def _mean_s(call: Callable[[], object]) -> float:
    """What a call takes, the mean of as many as fit into a trial [s]."""
    started, calls = time.perf_counter(), 0
    while not calls or time.perf_counter() - started < TRIAL_S:
        call()
        calls += 1
    return (time.perf_counter() - started) / calls
