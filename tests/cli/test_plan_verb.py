"""What `plan` says, and the document that `plan --json` prints."""

from __future__ import annotations

import json
import re
import time
from io import StringIO

import pytest
from rich.console import Console

from sweep.cli.plan import describe, plan_document
from sweep.config.load import load_spec
from sweep.digest import canonical_json
from sweep.execution.calibration import WORTH_S, Calibration, calibrate, probe
from sweep.execution.findings import Findings
from sweep.execution.planning import plan_sweep
from sweep.execution.shards import LANES, MAX_LANES
from sweep.run import SweepRun
from sweep.runtime.batch import InstanceBatch

pytestmark = pytest.mark.slow

QUICK = ("scene=cartpole", "manifest.runtime.duration_s=0.05", "tracking=none")
SAMPLED = ("design=lhs", "design.n=8", "latency=tag(log,interval(1ms,20ms))", "mass_scale=1,1.2", "seeds=3")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def planned(*words, executor="inline", run_s=None):
    spec = load_spec([*QUICK, f"executor={executor}", *words])
    sweep = plan_sweep(spec)
    return sweep, spec, plan_document(sweep, spec, run_s)


def told(*words, executor="inline", run_s=None):
    sweep, spec, document = planned(*words, executor=executor, run_s=run_s)
    console = Console(width=200, file=StringIO())
    for part in describe(sweep, spec, document):
        console.print(part, markup=False, highlight=False)
    return console.file.getvalue()


def test_the_document_has_the_whole_design():
    sweep, _, document = planned(*SAMPLED, "exclude=latency > 10ms", run_s=0.5)
    assert json.loads(canonical_json(document)) == json.loads(json.dumps(document))
    assert document["version"] == 1
    assert document["design"] == {"kind": "lhs", "n": 8, "seed": 0, "digits": 6, "center": False}
    assert document["exclude"] == "latency > 10ms"
    assert list(document["swept"]) == ["latency", "mass_scale"]
    assert document["swept"]["latency"]["interval"] == {
        "low": 0.001,
        "high": 0.02,
        "is_log": True,
        "is_integer": False,
    }
    assert document["swept"]["mass_scale"]["values"] == (1.0, 1.2)
    assert document["axes"]["latency"] == {
        "unit": "s",
        "nominal": 0.0,
        "bindings": ("components.encoders.latency_s",),
    }
    assert len(document["cells"]) == 8 - document["excluded"] == len(sweep.cells)
    for cell, row in zip(document["cells"], sweep.cells, strict=True):
        assert cell["cell_id"] == row.cell_id
        assert cell["plan_id"] == row.plan_id
        assert cell["parameters"]["components.encoders.latency_s"] == cell["values"]["latency"] <= 0.01
        assert cell["values"]["noise_scale"] == 1.0
    assert document["baseline"] in {cell["cell_id"] for cell in document["cells"]}
    assert document["seeds"] == (0, 1, 2)
    assert document["runs"] == 3 * len(sweep.cells)
    assert (document["done"], document["pending"]) == (0, {"new": document["runs"]})
    assert document["estimate_s"] == 0.5 * document["runs"]


def test_the_canarys_measurement_makes_the_estimate():
    words = "latency=0,0.01", "seeds=4", "executor.workers=2"
    progress = "done already: 0; to run: 8 new; about {}, in batches of up to "
    assert progress.format("24 min in this process") in told(*words, run_s=180.0)
    assert progress.format("12 min on 2 workers") in told(*words, executor="ray", run_s=180.0)


def test_runs_are_timed_in_the_company_that_they_run_in():
    sweep, *_ = planned("latency=0,0.01", "+manifest.components.encoders.initial_acquisition=false,true", run_s=1.0)
    layouts = {run.plan.layout: None for run in sweep.runs}
    assert len(layouts) == 2
    assert {run.plan.layout for run in probe(sweep.runs)} == {next(iter(layouts))}
    assert len(probe(sweep.runs)) == len(sweep.runs) // 2 < MAX_LANES
    alone = Findings(max_lanes=1).applied(sweep)
    assert probe(alone.runs) == list(alone.runs[:1])
    assert (probe([]), calibrate([])) == ([], None)
    found = calibrate(alone.runs, threads=2)
    assert found is not None
    assert found.lanes == 1
    assert found.share_s > 0


@pytest.mark.slow
def test_lanes_and_threads_are_what_a_short_calibration_finds_best(monkeypatch):
    sweep, *_ = planned("latency=0,0.01", "seeds=100", run_s=1.0)
    times = {(16, 1): 1.0, (32, 1): 0.9, (64, 1): 0.8, (128, 1): 0.79, (200, 1): 0.795}

    def timed(runs, threads):
        return Calibration(len(runs), threads, times[len(runs), threads])

    assert calibrate(sweep.runs[:200]).share_s * 200 < WORTH_S
    assert calibrate(sweep.runs[:200], threads=2).lanes == LANES, "what is over soon is not worth more"
    monkeypatch.setattr("sweep.execution.calibration._timed", timed)
    assert calibrate(sweep.runs) == Calibration(16, 1, 1.0), "blocks of larger batches would take seconds"
    monkeypatch.setattr("sweep.execution.calibration.PATIENCE_S", 1e9)
    assert calibrate(sweep.runs) == Calibration(128, 1, 0.79)
    times[128, 2] = 0.78
    assert calibrate(sweep.runs, threads=2) == Calibration(128, 1, 0.79), "twice the cores must gain something"
    times[128, 2] = 0.5
    assert calibrate(sweep.runs, threads=2) == Calibration(128, 2, 0.5)


def test_what_short_runs_need_before_their_first_step_counts(monkeypatch):
    class Slow(InstanceBatch):
        def __init__(self, *given):
            time.sleep(0.02)
            super().__init__(*given)

    monkeypatch.setattr("sweep.execution.calibration.InstanceBatch", Slow)
    sweep, *_ = planned("latency=0,0.01", "seeds=100", run_s=1.0)
    for runs in (sweep.runs[:8], sweep.runs):
        assert calibrate(runs).share_s * min(16, len(runs)) > 0.02


def test_nobody_says_how_long_what_falls_at_once_would_take(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    code = "import os\nclass Crash:\n    def __init__(self, setup): os._exit(3)\n    def compute(self, step): ...\n"
    (tmp_path / "crash_at_start.py").write_text(code)
    sweep, spec, document = planned("manifest.controllers.balancer.class=crash_at_start:Crash", "seeds=1")
    assert document["estimate_s"] is None
    *_, progress, _ = describe(sweep, spec, document)
    assert progress.endswith("they do not get far enough to say how long it takes")


def test_people_see_axes_counts_and_what_is_left_out():
    answer = told(
        "latency=0,2ms,2ms,5ms,7ms,9ms,0.011,13ms",
        "mass_scale=1,1.5",
        "exclude=latency > 10ms and mass_scale > 1",
        run_s=1.0,
    )
    assert "cells × 16 seeds" in answer
    assert re.search(r"design: grid *\n", answer)
    assert "0, 0.002, 0.002, 0.005, ... 0.013 (8 values)  s     components.encoders.latency_s" in answer
    assert "1, 1.5" in answer
    assert "model.edits.pole_mass.scale" in answer
    assert "2 points left out by exclude=latency > 10ms and mass_scale > 1" in answer
    assert "2 points left out: an earlier one says the same" in answer
    assert "and 2 more (--json has them all)" in answer


def test_remarks_are_told():
    answer = told("latency=interval(0,10ms)", "design=sobol", "design.n=5", "seeds=1", "exclude=latency > 1", run_s=1.0)
    assert "design: sobol n=5 seed=0" in answer
    assert "interval(0,0.01)" in answer
    assert "design.n=5 is none, 4 and 8 are" in answer
    assert "exclude=latency > 1 leaves nothing out" in answer


def test_what_is_done_is_not_planned_again():
    words = ("latency=0,0.01", "seeds=2")
    spec = load_spec([*QUICK, *words])
    SweepRun(plan_sweep(spec), spec).finish()
    assert "done already: 4, nothing is left to run" in told(*words)
    _, _, document = planned("latency=0,0.01,0.02", "seeds=2", run_s=1.0)
    assert (document["done"], document["pending"]) == (4, {"new": 2})


def test_cells_of_one_plan_are_counted():
    # How long a block may be changes no bit, and so no Plan.
    answer = told("+manifest.runtime.max_block=4,8", "seeds=1", "canary=false", run_s=1.0)
    assert "1 cell with the Plan of another, whose runs count for both" in answer
    assert "2 cells × 1 seed = 1 run " in answer
