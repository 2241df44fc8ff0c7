"""Estimate: what a run costs, from the first moments of a few that execute as the canary found they must."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from sweep.design.run import Run
from sweep.execution.apart import DiedError, call_apart
from sweep.execution.canary import LIMIT_S
from sweep.execution.lane_check import own_classes
from sweep.runtime.batch import InstanceBatch

PROBE = 16
"""Runs that are timed side by side, if so many may be ..."""

PROBE_S = 0.5
"""... for so long [s]."""


def share_s(runs: Sequence[Run]) -> float | None:
    """Wall time of one run among those that it executes with, on one worker [s]; nothing is kept of it.

    Args:
        runs: what is to be run, as it is to be executed (:meth:`sweep.execution.findings.Findings.applied`).

    Returns:
        0 without runs; None where the user's own code does not get through the first moments, in a process of its own.
    """
    probed = probe(runs)
    if not any(own_classes(run.plan) for run in probed):
        return _timed(probed)
    try:
        return call_apart(partial(_timed, probed), LIMIT_S)
    except DiedError:
        return None


def probe(runs: Sequence[Run]) -> list[Run]:
    """The first runs that may execute in one call, a few of them."""
    plans = [run.plan for run in runs[:1]]
    most = min([PROBE, *(plan.manifest.runtime.max_lanes or PROBE for plan in plans)])
    return [run for run in runs if run.plan.layout == plans[0].layout][:most]


def _timed(runs: Sequence[Run]) -> float:
    if not runs:
        return 0.0
    batch = InstanceBatch([run.plan for run in runs], [run.seed for run in runs])
    started = time.perf_counter()
    while time.perf_counter() - started < PROBE_S and batch.advance_block():
        pass
    spent = time.perf_counter() - started
    return spent * batch.horizon / max(1, batch.tick) / len(runs)
