"""Traces from the command line to a notebook."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from analysis import load, load_trace
from analysis.traces import signals
from sweep.errors import InvalidInputError
from tests.end_to_end.conftest import QUICK

pytestmark = pytest.mark.slow


def folder_of(answer, tmp_path):
    return tmp_path / re.search(r"results: (\S+)", answer.err).group(1)


def test_a_trace_is_asked_for_in_one_word_and_read_with_pandas(sweep, tmp_path):
    answer = sweep("+latency=0,0.01", "seeds=2", "trace=events", *QUICK)
    assert answer.code == 0, answer.err
    folder = folder_of(answer, tmp_path)
    runs = load(folder)
    assert sorted(path.stem for path in (folder / "traces").iterdir()) == sorted(runs.run_id)
    late = runs[(runs.latency == 0.01) & (runs.seed == 1)].iloc[0]
    plain = pd.read_parquet(folder / "traces" / f"{late.run_id}.parquet")
    samples = plain[(plain.kind == "sample") & (plain.component == "encoders")]
    assert len(samples) == late["encoders/acquired"]
    travelled = samples.actual_delivery_s - samples.actual_acquisition_s
    assert np.allclose(travelled, 0.01, rtol=1e-12)
    assert not (plain.kind == "boundary").any()
    again = sweep("+latency=0,0.01", "seeds=2", "trace=summary", *QUICK)
    assert "0 runs in" in again.err
    assert folder_of(again, tmp_path) == folder
    more = sweep("+latency=0,0.01", "seeds=2", "trace=full", *QUICK)
    assert "4 runs in" in more.err
    assert load(folder).equals(runs), "the records are what they were"


def test_a_run_is_replayed_for_its_trace(sweep, tmp_path):
    folder = folder_of(sweep("seeds=1", *QUICK), tmp_path)
    run = load(folder).iloc[0]
    with pytest.raises(InvalidInputError, match=f"replay {run.run_id} --trace"):
        load_trace(folder, run.run_id)
    answer = sweep("replay", run.run_id[:10], "--dir", str(folder), "--trace", "full")
    assert answer.code == 0, answer.err
    assert f"{run.run_id}.parquet" in answer.out
    trace = load_trace(folder, run.run_id[:6])
    assert trace.attrs["trace"] == "full"
    assert trace.attrs["run_id"] == run.run_id
    states = signals(trace, "boundary")
    assert list(states.columns) == ["qpos/slider", "qpos/hinge", "qvel/slider", "qvel/hinge"]
    assert list(states.index) == [tick / 1000 for tick in range(501)]
    hinge = states["qpos/hinge"].iloc[1:]
    assert np.sqrt(np.mean(hinge**2)) == pytest.approx(run["angle_rms"], rel=1e-12)
    applied = signals(trace, "application", "motor")
    assert set(applied["motor"]) == set(signals(trace, "control")["motor"])
    assert trace["index"].dtype == "Int64"
    with pytest.raises(InvalidInputError, match="sample of 'encoders'"):
        signals(trace, "samples", "encoders")


def test_a_level_that_does_not_exist_is_refused(sweep, tmp_path):
    answer = sweep("trace=event", *QUICK)
    assert answer.code == 2
    assert "trace=event" in answer.err
    assert "did you mean 'events'" in answer.err
    answer = sweep("trace=events,full", *QUICK)
    assert answer.code == 2
    assert "cannot be swept" in answer.err
    assert not list(tmp_path.iterdir())


def test_plan_counts_the_runs_that_a_trace_needs(sweep):
    assert sweep("seeds=2", *QUICK).code == 0
    done = {level: json.loads(sweep("plan", "--json", "seeds=2", f"trace={level}", *QUICK).out)["done"]
            for level in ("summary", "events")}  # fmt: skip
    assert done == {"summary": 2, "events": 0}
