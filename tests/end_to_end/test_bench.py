"""Every part of ``make bench`` runs, at a size at which its numbers mean nothing."""

from __future__ import annotations

import pytest

from tests.bench.derived import READERS, derived_costs
from tests.bench.lanes import measure, robots
from tests.bench.startup import split
from tests.bench.traces import trace_costs

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_lanes_are_measured_against_c():
    for robot in robots():
        assert measure(robot, 2, ticks=20, repeats=1).ratio > 0


def test_traces_and_derived_state_are_measured():
    humanoid = robots()[0]
    assert [cost.level for cost in trace_costs(humanoid, lanes=2, ticks=20, repeats=1)] == ["events", "full"]
    assert set(READERS) < set(derived_costs(humanoid, lanes=2, ticks=20, repeats=1))


def test_the_main_job_is_split():
    parts = split(repeats=1)
    assert parts["total"] >= parts["physics"] > 0
    assert parts["ledger"] > 0
