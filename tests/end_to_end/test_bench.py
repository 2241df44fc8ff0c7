"""Every part of ``make bench`` runs, at a size at which its numbers mean nothing."""

from __future__ import annotations

import json

import pytest

from tests.bench import __main__ as command
from tests.bench import parts
from tests.bench.derived import READERS, derived_costs
from tests.bench.driver import driver_costs
from tests.bench.first_run import first_runs
from tests.bench.lanes import measure, robots
from tests.bench.ledger import ledger_costs
from tests.bench.planning import DESIGNS, planning_costs
from tests.bench.share import physics_share
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


def test_planning_is_measured_for_each_design():
    costs = planning_costs(cells=40)
    assert [(cost.design, cost.cells) for cost in costs] == list(zip(DESIGNS, (36, 40), strict=True))
    assert all(cost.cpu_s > 0 for cost in costs)
    assert all(cost.peak_mb > 10 for cost in costs)


def test_the_driver_is_measured_without_what_it_waits_for():
    (inline,) = driver_costs(runs=100, executors=("inline",))
    assert inline.runs == 100
    assert inline.worker_growth is None


def test_the_first_run_is_waited_for():
    words = ("scene=cartpole", "manifest.runtime.duration_s=0.1", "seeds=1", "tracking=none")
    assert first_runs(repeats=1, words=words, executors=("inline",))["inline"] > 0


def test_a_sweep_is_shared_out():
    words = ("scene=arm", "+latency=0.002,0.005", "manifest.runtime.duration_s=0.1", "tracking=none", "executor=inline")
    share = physics_share(about_s=0.2, words=words)
    assert share.runs >= 2
    assert 0 < share.in_physics < share.in_runs < 1


def test_the_ledger_is_measured_at_each_size():
    costs = ledger_costs(counts=(10, 100))
    assert [cost.runs for cost in costs] == [10] * 4 + [100] * 4
    assert all(cost.wall_us > 0 for cost in costs)


def test_parts_are_named_and_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "ledger_costs", lambda: ledger_costs(counts=(10,)))
    command.main(["ledger", "some.json"])
    assert "records read" in capsys.readouterr().out
    assert list(json.loads((tmp_path / "some.json").read_text())) == ["ledger"]
    with pytest.raises(SystemExit, match="did you mean 'planning'"):
        command.main(["planing"])
