"""Every part of ``make bench`` runs, at a size at which its numbers mean nothing."""

from __future__ import annotations

import json
import statistics

import pytest

from sweep.config.load import load_spec
from sweep.execution.planning import plan_sweep
from sweep.runtime import InstanceBatch
from tests.bench import __main__ as command
from tests.bench import parts
from tests.bench.driver import driver_costs
from tests.bench.growth import lane_memory, queue_costs, run_times
from tests.bench.lanes import READERS, against_c, cells_of, plans_of, robots
from tests.bench.ledger import ledger_costs
from tests.bench.peers import job, rates
from tests.bench.peers.scripts.arm import episode
from tests.bench.planning import DESIGNS, planning_costs
from tests.bench.reading import WAYS, reading_costs
from tests.bench.start import starts
from tests.bench.traces import trace_costs
from tests.bench.travel import landings, weights
from tests.bench.whole import whole_sweeps

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_lanes_are_measured_against_c():
    for robot in robots():
        assert against_c(plans_of(robot, 2, 20), pairs=1, c_s=0).ratio > 0
        assert against_c(cells_of(robot, 2, 20), pairs=1, c_s=0).ratio > 0
    for more in READERS.values():
        assert against_c(plans_of(robots()[0], 2, 20, more), pairs=1, c_s=0).ratio > 0


def test_traces_are_measured():
    assert [cost.level for cost in trace_costs(robots()[0], lanes=2, ticks=20, repeats=1)] == ["events", "full"]


def test_planning_is_measured_for_each_design():
    costs = planning_costs(cells=40)
    assert [(cost.design, cost.cells) for cost in costs] == list(zip(DESIGNS, (36, 40, 40), strict=True))
    assert all(cost.cpu_s > 0 for cost in costs)
    assert all(cost.peak_mb > 10 for cost in costs)


def test_the_driver_is_measured_without_what_it_waits_for():
    (inline,) = driver_costs(runs=1000, executors=("inline",))
    assert inline.runs == 1000
    assert inline.worker_growth is None


def test_the_table_is_waited_for_and_its_time_shared_out():
    words = ("scene=cartpole", "manifest.runtime.duration_s=0.1", "seeds=2", "tracking=none")
    inline = starts(repeats=1, words=words, executors=("inline",))["inline"]
    assert inline.table_s > inline.steps_s["first run"] > 0
    assert inline.against_imports > 1
    assert set(inline.steps_s) > {"imports", "planning", "executor", "other runs"}


def test_a_whole_sweep_is_compared_with_what_c_needs():
    scene = ("scene=arm", "+latency=0.002,0.005", "manifest.runtime.duration_s=0.1", "executor=inline")
    sweep = whole_sweeps(seeds=2, repeats=1, scene=scene, ways={"no tracking": ("tracking=none",)})["no tracking"]
    assert sweep.runs == 4
    assert sweep.waited.end_s >= sweep.waited.table_s
    assert 0 < sweep.in_physics < sweep.in_runs < 1
    assert sweep.limit_s > 8


def test_ways_to_sweep_are_timed_in_turn():
    way = rates.Way("linear", lambda seeds: 3.0 + 0.5 * len(job.LATENCIES) * seeds, few=1, many=3)
    (linear,) = rates.rates(repeats=1, ways=[way])
    assert (linear.start_s, linear.run_s, linear.wall_s(10)) == (3.0, 0.5, 8.0)
    (mine,) = rates.rates(repeats=1, ways=[rates.ours(few=1, many=2, words=("executor=inline",))])
    assert mine.wall_s(2) > 0


def test_peers_are_given_the_same_job(tmp_path):
    job.write_job(tmp_path)
    runs = plan_sweep(load_spec([*job.WORDS, "seeds=3"])).runs
    records = InstanceBatch([run.plan for run in runs], [run.seed for run in runs]).run()
    for latency in map(float, job.LATENCIES):
        plain = [episode(str(tmp_path), latency, seed) for seed in range(3)]
        mine = [
            record.metrics["tracking_error_rms"]
            for record, run in zip(records, runs, strict=True)
            if run.plan.manifest.components["encoders"].latency_s == latency
        ]
        assert statistics.mean(plain) == pytest.approx(statistics.mean(mine), rel=0.03)


def test_the_ledger_is_measured_at_each_size():
    found = ledger_costs(counts=(10, 100))
    assert [costs.runs for costs in found] == [10, 100]
    assert all(cost.wall_us > 0 for costs in found for cost in costs.costs)
    assert found[0].bytes_a_run > found[1].bytes_a_run > 100, "what a file begins with is shared by its runs"


def test_reading_is_measured_each_way():
    found = reading_costs(sizes=((4, 2),))
    assert [(cost.way, cost.cells, cost.runs) for cost in found] == [(way, 4, 8) for way in WAYS]
    assert all(cost.cpu_s > 0 for cost in found)
    assert all(cost.peak_mb > 10 for cost in found)


def test_growth_is_measured_with_lanes_and_with_runs():
    (memory,) = lane_memory(robots=("arm",), traces=("full",), lanes=(1, 2, 40))
    assert memory.one_mb > 10
    assert memory.lane_kb > 1
    (queue,) = queue_costs(counts=(20,))
    assert queue.runs == 20
    assert queue.file_mb > 0
    (time,) = run_times(counts=(10, 20), executors=("inline",), repeats=1)
    assert (time.runs, time.executor) == (20, "inline")
    assert time.table_s > 0


def test_what_travels_is_weighed():
    found = weights(cells=40, duration_s=0.1)
    assert found.files["full"] > found.files["events"] > found.record > 0
    assert found.plan > 0
    (landing,) = landings(counts=(2,))
    assert landing.wall_ms > 0


def test_parts_are_named_and_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "ledger_costs", lambda: ledger_costs(counts=(10,)))
    command.main(["ledger", "some.json"])
    assert "records read" in capsys.readouterr().out
    assert list(json.loads((tmp_path / "some.json").read_text())) == ["ledger"]
    with pytest.raises(SystemExit, match="did you mean 'planning'"):
        command.main(["planing"])
