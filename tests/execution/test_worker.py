"""execute_shard: records equal whatever the company, and no exception leaves it."""

from __future__ import annotations

import pickle

import pytest

from sweep.execution.deadline import Overdue
from sweep.execution.planning import plan_sweep
from sweep.execution.worker import execute_shard

WORKER_CTL = """
class Strict:
    def __init__(self, setup):
        bad = setup.parameters["bad"]
        if (bad == 1).any():
            raise ValueError("no such luck")
        if (bad == 2).any():
            raise SystemExit(3)
        if (bad == 3).any():
            raise KeyboardInterrupt
    def compute(self, step):
        return 0 * step.inputs["enc"].values[:, :1]
"""


@pytest.fixture
def strict(scene):
    (scene.folder / "worker_ctl.py").write_text(WORKER_CTL)

    def plan(*bad):
        manifest = scene.document("worker_ctl:Strict", {"bad": 0.0})
        return plan_sweep(scene.spec(manifest=manifest, swept={"manifest.controllers.fb.parameters.bad": bad})).runs

    return plan


def test_a_record_does_not_depend_on_the_shard(scene):
    runs = plan_sweep(scene.spec(seeds=range(4))).runs
    together = execute_shard(runs, threads=2)
    assert [r.run_id for r in together] == [run.run_id for run in runs]
    assert [execute_shard([run])[0] for run in runs] == together
    assert execute_shard(runs[::-1])[::-1] == together
    assert {r.outcome.status for r in together} == {"completed"}
    assert all(r.code_id and r.node["bit_class"] and r.wall_s > 0 for r in together)


def test_layouts_may_be_mixed(scene):
    swept = {"manifest.controllers.fb.period_s": (0.01, 0.012)}
    runs = plan_sweep(scene.spec(swept=swept)).runs
    assert len({run.plan.layout for run in runs}) == 2
    assert [r.run_id for r in execute_shard(runs)] == [run.run_id for run in runs]


def test_whoever_raises_faults_alone(strict):
    runs = strict(0.0, 1.0, 2.0)
    records = {
        run.plan.manifest.controllers["fb"].parameters["bad"]: r
        for run, r in zip(runs, execute_shard(runs), strict=True)
    }
    assert records[0.0].outcome.status == "completed"
    assert records[1.0].outcome.status == records[2.0].outcome.status == "faulted"
    assert records[1.0].outcome.kind == "component"
    assert records[1.0].outcome.message == "ValueError: no such luck"
    assert records[1.0].metrics == {"a": None}
    assert records[1.0].code_id == records[0.0].code_id


def test_ctrl_c_is_not_a_fault(strict):
    with pytest.raises(KeyboardInterrupt):
        execute_shard(strict(3.0))


def test_a_deadline_ends_what_has_something_left_to_do_and_says_how_far_it_came(scene):
    runs = plan_sweep(scene.spec()).runs
    assert execute_shard(runs, timeout_s=3600.0) == execute_shard(runs, timeout_s=None) == execute_shard(runs)
    overdue = execute_shard(runs, timeout_s=1e-9)
    assert isinstance(overdue, Overdue)
    assert (overdue.limit_s, overdue.is_hang) == (1e-9, False)
    assert 0 < overdue.time_s < 0.05
    assert overdue.wall_s > 0
    assert pickle.loads(pickle.dumps(overdue)) == overdue
    # What is done with its last block is done, however late.
    short = plan_sweep(scene.spec(manifest=scene.document(duration_s=0.005))).runs
    assert execute_shard(short, timeout_s=1e-9) == execute_shard(short)


def test_a_deadline_is_for_all_of_a_shard_whoever_raises(strict):
    assert isinstance(execute_shard(strict(0.0, 1.0, 2.0), timeout_s=1e-9), Overdue)
