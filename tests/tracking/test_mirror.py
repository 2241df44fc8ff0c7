"""What the mirror says, in a real MLflow database."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from unittest.mock import ANY

import numpy as np
import pandas
import pyarrow.parquet
import pytest

from analysis import load
from analysis.source import read
from sweep.errors import TrackingError
from sweep.results import Ledger, Outcome, Status
from sweep.tracking import mirror
from sweep.tracking.store import FINGERPRINT
from tests.analysis.synthetic import build, cell, effects, faulted, fell, fill, header, latencies, receipt, record
from tests.tracking.stores import dump, said

pytestmark = [
    pytest.mark.slow,
    # MLflow's libraries warn about each other; none of it is ours to fix.
    pytest.mark.filterwarnings("ignore"),
]
TWO = latencies(0.002, 0.005)
METRIC = "tracking_error_rms"
MEANS = [f"{METRIC}/{part}" for part in ("mean", "ci_low", "ci_high", "delta_vs_baseline")]


def test_what_a_cell_and_its_parent_say(store, tmp_path):
    folder = build(tmp_path / "s", TWO, make=lambda c, s: record(c, s, outcome=fell()) if s == 3 else record(c, s))
    report = store.sync(folder)
    assert (report.created, report.updated, report.unchanged, report.waiting) == (3, 0, 0, 0)
    assert report.state == "FINISHED"
    parent, children = store.runs()
    base, other = (children[c.cell_id] for c in TWO)
    assert other.data.params == {"latency": "0.005"}
    assert other.info.run_name == "latency=0.005"
    x, y = ([effects(c.values, s)[METRIC] for s in range(16) if s != 3] for c in TWO)
    metrics = other.data.metrics
    assert metrics[f"{METRIC}/mean"] == pytest.approx(np.mean(y))
    assert metrics[f"{METRIC}/ci_low"] < metrics[f"{METRIC}/mean"] < metrics[f"{METRIC}/ci_high"]
    assert metrics[f"{METRIC}/delta_vs_baseline"] == pytest.approx(np.mean(np.subtract(y, x)))
    assert base.data.metrics[f"{METRIC}/delta_vs_baseline"] == 0.0
    outcomes = {"completed": 15, "ended": 1, "faulted": 0, "timed_out": 0, "lost": 0, "cancelled": 0}
    assert {s.value: metrics[f"outcomes/{s.value}"] for s in Status} == outcomes
    assert metrics["tracker/age_at_use_s"] == pytest.approx(0.0055)
    assert metrics["encoders/delivered"] == 5000
    assert all(len(n) <= 40 and "-" not in n for n in [*metrics, *other.data.params])
    commits = read(folder).commits
    (first, last), (_, base_last) = commits[TWO[1].cell_id], commits[TWO[0].cell_id]
    point = store.client.get_metric_history(other.info.run_id, f"{METRIC}/mean")
    assert [(p.step, p.timestamp) for p in point] == [(0, max(last, base_last))]
    assert (other.info.start_time, other.info.end_time) == (first, max(last, base_last))
    assert parent.data.params == parent.data.metrics == {}
    assert parent.info.status == other.info.status == "FINISHED"


def test_tags_and_descriptions(store, tmp_path):
    """What the last session said about itself goes before what the first one said."""
    git = {"commit": "abc", "branch": "main", "dirty": True, "diff": "+x"}
    provenance = {"command": "a former one", "user": "ada", "git": git, "created": "now"}
    make = lambda c, s: record(c, s, outcome=fell(), attempt=2) if s == 3 else record(c, s)  # noqa: E731
    store.sync(build(tmp_path / "s", TWO, make=make, provenance=provenance))
    parent, children = store.runs()
    base, other = (children[c.cell_id].data.tags for c in TWO)
    assert other["sweep.seeds"] == "0-15"
    assert json.loads(other["sweep.streams"])["encoders/noise"]["0"].startswith("k" + receipt(0).key[:8])
    assert json.loads(other["sweep.status_reason"]) == {"fell": 1}
    assert json.loads(other["sweep.attempts"]) == {"3": 2}
    assert (base["sweep.role"], other["sweep.role"]) == ("baseline", "cell")
    for tags in (base, other, parent.data.tags):
        assert tags["mlflow.user"] == "ada"
        assert tags["mlflow.source.type"] == "LOCAL"
        assert tags["mlflow.source.name"].startswith("python -m sweep +latency=")
        assert (tags["mlflow.source.git.commit"], tags["mlflow.source.git.dirty"]) == ("abc", "true")
        assert all(name.startswith(("mlflow.", "sweep.")) for name in tags)
    note = other["mlflow.note.content"]
    for words in ("latency=0.005", "against `latency=0.002`", "16 of 16 runs", "1 fell", "| tracking_error_rms [mrad]",
                  "15 of 16", "python -m sweep replay"):  # fmt: skip
        assert words in note
    note = parent.data.tags["mlflow.note.content"]
    for words in ("+3 ms latency", "swept over `latency`: 2 cells, 32 runs", "lower is better", "paired by seed",
                  "`latency=0.002`", "python -m sweep +latency=0.002,0.005"):  # fmt: skip
        assert words in note
    experiment = store.client.get_experiment_by_name("arm").tags
    assert experiment["mlflow.experiment.primaryMetric.name"] == f"{METRIC}/mean"
    assert "one setting of what was swept" in experiment["mlflow.note.content"]


def test_artifacts(store, tmp_path):
    node = {"cpu": "x", "mujoco": "4"}
    folder = build(tmp_path / "s", TWO, make=lambda c, s: record(c, s, node=node))
    store.sync(folder)
    parent, children = store.runs()
    plan = {"plan/header.json", "plan/manifest.json", "plan/cells.json"}
    texts = {"comparison.txt", "comparison.json", "report.html", "provenance.json"}
    assert store.artifacts(parent) == {"runs.parquet", "cells.parquet"} | texts | plan
    kept = lambda run, name: (tmp_path / "mlartifacts" / run.info.run_id / "artifacts" / name).read_bytes()  # noqa: E731
    table = pandas.read_parquet(io.BytesIO(kept(children[TWO[1].cell_id], "replicates.parquet")))
    assert table.seed.tolist() == list(range(16))
    assert set(table.cell_id) == {TWO[1].cell_id}
    runs = pandas.read_parquet(io.BytesIO(kept(parent, "runs.parquet")))
    pandas.testing.assert_frame_equal(runs, load(folder), check_dtype=False)
    cells = pandas.read_parquet(io.BytesIO(kept(parent, "cells.parquet")))
    assert cells[f"{METRIC}/mean"].tolist() == [
        c.data.metrics[f"{METRIC}/mean"] for c in map(children.get, cells.cell_id)
    ]
    assert b"raises tracking_error_rms" in kept(parent, "report.html")
    assert json.loads(kept(parent, "plan/manifest.json")) == header().manifest
    assert [c["parameters"] for c in json.loads(kept(parent, "plan/cells.json"))] == [c.parameters for c in TWO]
    provenance = json.loads(kept(parent, "provenance.json"))
    assert provenance["nodes"] == [{"runs": 32, **node}]
    footer = pyarrow.parquet.read_schema(io.BytesIO(kept(parent, "runs.parquet"))).metadata
    assert json.loads(footer[b"sweep.provenance"]) == provenance


def test_twice_changes_nothing_and_more_seeds_change_it(store, tmp_path):
    folder = build(tmp_path / "s", TWO, range(4))
    store.sync(folder)
    before = dump(tmp_path / "mlflow.db", tmp_path / "mlartifacts")
    report = store.sync(folder)
    assert (report.created, report.updated, report.unchanged) == (0, 0, 3)
    assert dump(tmp_path / "mlflow.db", tmp_path / "mlartifacts") == before
    with Ledger.open(folder) as ledger:
        ledger.begin({})
        fill(ledger, [*TWO, cell(2, latency=0.010)], range(8))
        ledger.finish()
    report = store.sync(folder)
    assert (report.created, report.updated) == (1, 3)
    _, children = store.runs()
    found = children[TWO[0].cell_id].data
    assert found.metrics["outcomes/completed"] == 8
    expected = np.mean([effects(TWO[0].values, s)[METRIC] for s in range(8)])
    assert found.metrics[f"{METRIC}/mean"] == pytest.approx(expected)
    assert found.tags["sweep.seeds"] == "0-7"
    run_id = children[TWO[0].cell_id].info.run_id
    history = store.client.get_metric_history(run_id, f"{METRIC}/mean")
    last = read(folder).commits[TWO[0].cell_id][1]
    assert len(history) == 2
    assert history[-1].timestamp == last > history[0].timestamp


def test_an_extended_sweep_says_what_one_made_at_once_says(store, template, tmp_path):
    """Another axis and a nominal cell arrive late: names, params and the baseline follow."""
    late = [cell(0, latency=0.005), cell(1, latency=0.010)]
    everything = [*late, cell(2, latency=0.002, mass_scale=1.5), cell(3, latency=0.002)]
    with Ledger.create(tmp_path / "s" / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        fill(ledger, late, range(4))
        ledger.finish()
        store.sync(ledger.path)
        ledger.begin({})
        fill(ledger, everything, range(4))
        ledger.finish()
        store.sync(ledger.path)
        extended = said(store)
        extended[""] = (*extended[""][:2], ANY, *extended[""][3:])  # the ledger has no longer when it began at first
        _, children = store.runs()
        assert children[late[0].cell_id].info.run_name == "latency=0.005, mass_scale=1.0"
        assert children[late[0].cell_id].data.tags["sweep.role"] == "cell"
        for run in store.all_runs():
            store.client.delete_run(run.info.run_id)
        store.sync(ledger.path)
    assert said(store) == extended


def test_what_logging_again_cannot_mend_is_made_anew(store, tmp_path):
    """MLflow forgets no metric, and of two with one timestamp it keeps the larger: both would be lies."""
    folder = build(tmp_path / "s", TWO, range(4))
    store.sync(folder)
    _, children = store.runs()
    first, second = (children[c.cell_id] for c in TWO)
    with Ledger.open(folder) as ledger:  # other code, and no run has a value any more
        ledger.begin({})
        ledger.append(record(TWO[0], s, outcome=faulted(), code_id="other") for s in range(4))
        ledger.finish()
    wrong = second.data.metrics[MEANS[0]] + 1.0  # as an earlier version of this package may have computed it
    ended = second.info.end_time
    store.client.log_metric(second.info.run_id, MEANS[0], wrong, timestamp=ended, step=0)
    assert store.client.get_run(second.info.run_id).data.metrics[MEANS[0]] == wrong
    store.sync(folder)
    _, children = store.runs()
    assert first.info.run_id != children[TWO[0].cell_id].info.run_id
    assert not set(MEANS) & set(children[TWO[0].cell_id].data.metrics)
    assert children[TWO[0].cell_id].info.status == "FAILED"
    assert children[TWO[0].cell_id].data.tags["sweep.status_reason"] == '{"diverged":4}'
    expected = np.mean([effects(TWO[1].values, s)[METRIC] for s in range(4)])
    assert children[TWO[1].cell_id].data.metrics[MEANS[0]] == pytest.approx(expected)


def test_missing_values_are_left_out_and_none_is_infinite(store, tmp_path):
    values = {0: {"a": 1e300, "b": None}, 1: {"a": 1e300, "b": None}}
    make = lambda c, s: record(c, s, metrics=values[s], summaries={"x/y": 1.0} if s else {})  # noqa: E731
    metrics = {name: replace(header().metrics[METRIC]) for name in ("a", "b")}
    store.sync(build(tmp_path / "s", TWO, range(2), make, metrics=metrics))
    for run in store.runs()[1].values():
        assert all(math.isfinite(value) for value in run.data.metrics.values())
        assert run.data.metrics["a/mean"] == pytest.approx(1e300)
        assert not any(name.startswith("b/") for name in run.data.metrics)
        assert run.data.metrics["x/y"] == 1.0


def test_states_are_truthful(store, tmp_path):
    cells = latencies(0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007)
    lost = Outcome(status=Status.LOST)
    bad = {
        0.002: lambda c, s: record(c, s, outcome=faulted()),
        0.003: lambda c, s: record(c, s, outcome=lost) if s == 0 else record(c, s),
        0.004: lambda c, s: record(c, s) if s < 2 else None,
        0.005: lambda c, s: None,
        0.006: lambda c, s: record(c, s, outcome=faulted()) if s else record(c, s, outcome=fell()),
        0.007: lambda c, s: record(c, s, outcome=Outcome(status=Status.CANCELLED)),
    }
    make = lambda c, s: bad.get(c.values["latency"], record)(c, s)  # noqa: E731
    folder = tmp_path / "s"
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        fill(ledger, cells, range(4), make)
        report = store.sync(folder)
        assert (report.state, report.waiting) == ("RUNNING", 2)
        parent, children = store.runs()
        assert parent.info.status == children[cells[3].cell_id].info.status == "RUNNING"
        assert cells[4].cell_id not in children
        ledger.finish("interrupted")
    report = store.sync(folder)
    assert (report.state, report.waiting) == ("KILLED", 2)
    parent, children = store.runs()
    assert parent.info.status == "KILLED"
    there = [0, 1, 2, 3, 5, 6]
    states = [children[cells[i].cell_id].info.status for i in there]
    assert states == ["FINISHED", "FAILED", "FAILED", "KILLED", "FINISHED", "KILLED"]
    assert f"{METRIC}/mean" not in children[cells[1].cell_id].data.metrics
    assert children[cells[1].cell_id].data.metrics["outcomes/faulted"] == 4
    # The rest arrives: nothing stays killed or running.
    with Ledger.open(folder) as ledger:
        ledger.begin({})
        assert store.sync(folder).state == "RUNNING"
        assert store.runs()[1][cells[3].cell_id].info.status == "RUNNING"
        fill(ledger, cells, range(4))
        ledger.finish()
    assert store.sync(folder).state == "FINISHED"
    parent, children = store.runs()
    assert parent.info.status == "FINISHED"
    assert [children[c.cell_id].info.status for c in cells] == ["FINISHED", "FAILED", *["FINISHED"] * 5]


def test_a_sweep_where_nothing_was_answered_failed(store, tmp_path):
    store.sync(build(tmp_path / "s", TWO, range(2), lambda c, s: record(c, s, outcome=faulted())))
    assert store.states() == ["FAILED"] * 3


def test_a_cell_is_shown_while_it_runs_each_time_its_runs_have_doubled(store, tmp_path):
    seen = []
    with Ledger.create(tmp_path / "s" / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        ledger.add_cells(TWO)
        fill(ledger, TWO, range(9), lambda c, s: None)
        assert store.sync(ledger.path, live=False).state == "RUNNING"
        assert len(store.all_runs()) == 1
        for seed in range(9):
            ledger.append(record(c, seed) for c in TWO)
            store.sync(ledger.path)
            seen.append(store.runs()[1][TWO[1].cell_id].data.metrics["outcomes/completed"])
    assert seen == [1, 2, 2, 4, 4, 4, 4, 8, 9]


@pytest.mark.parametrize("step", ["create_run", "log_batch", "log_artifacts", "set_terminated", "set_tag"])
def test_a_pass_that_ended_in_the_middle_is_repaired(store, tmp_path, monkeypatch, step):
    from mlflow import MlflowClient

    folder = build(tmp_path / "s", TWO, range(4))
    calls, original = iter(range(100)), getattr(MlflowClient, step)

    def fail(*arguments, **named):
        if next(calls) == 1:
            raise ConnectionError("the server died")
        return original(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, step, fail)
        with pytest.raises(TrackingError, match="the server died"):
            store.sync(folder)
    # A creation whose answer was lost leaves a ghost with the same tags.
    some = store.all_runs()[0]
    tags = {k: v for k, v in some.data.tags.items() if k != FINGERPRINT}
    store.client.create_run(some.info.experiment_id, some.info.start_time, tags, some.info.run_name)
    assert store.sync(folder).state == "FINISHED"
    repaired = said(store)
    assert store.sync(folder).unchanged == 3
    for run in store.all_runs():
        store.client.delete_run(run.info.run_id)
    store.sync(folder)
    assert said(store) == repaired


def test_files_that_cannot_be_kept_do_not_keep_the_numbers_away(store, tmp_path):
    folder = build(tmp_path / "s", TWO, range(4))
    (tmp_path / "mlartifacts").write_text("in the way")
    with pytest.raises(TrackingError, match="has all numbers, but not the files"):
        store.sync(folder)
    assert store.states() == ["FINISHED"] * 3
    assert f"{METRIC}/mean" in store.runs()[1][TWO[0].cell_id].data.metrics
    (tmp_path / "mlartifacts").unlink()
    store.sync(folder)
    assert all(store.artifacts(run) for run in store.all_runs())


def test_awkward_names_and_values(store, tmp_path):
    axis = "xs[0]-gain"
    values = [1.0, "off", None, [1, 2], "x" * 7000, True]
    cells = [cell(i, **{axis: value, f"{axis}!": i}) for i, value in enumerate(values)]
    summaries = {"a//b": 1.0, "./c/../d-e": 2.0, "deep/" * 30: 3.0, "ümlaut/µ": 5.0}
    make = lambda c, s: record(c, s, summaries=summaries)  # noqa: E731
    store.sync(build(tmp_path / "s", cells, [0, 2**63 - 1], make))
    _, children = store.runs()
    params = [children[c.cell_id].data.params["xs_0_gain"] for c in cells]
    assert params[:4] == ["1.0", "off", "null", "[1, 2]"]
    assert params[4].startswith("xxx")
    assert len(params[4]) <= 500
    assert params[5] == "true"
    assert all(len(children[c.cell_id].info.run_name) <= 250 for c in cells)
    metrics = children[cells[0].cell_id].data.metrics
    assert {"a/b", "c/d_e"} <= set(metrics)
    assert len(metrics) == len(Status) + 9 + len(summaries)
    assert children[cells[0].cell_id].data.tags["sweep.seeds"] == f"0,{2**63 - 1}"


def test_hundreds_of_metrics_and_cells_of_one_plan(store, tmp_path):
    cells = [TWO[0], replace(TWO[1], plan_id=TWO[0].plan_id)]
    summaries = {f"device{i}/delivered": float(i) for i in range(1010)}
    make = lambda c, s: record(cells[0], s, summaries=summaries)  # noqa: E731
    with Ledger.create(tmp_path / "s" / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        ledger.add_cells(cells)
        run_id = record(cells[0], 0).run_id
        ledger.add_runs((run_id, c.cell_id, c.plan_id, 0) for c in cells)
        ledger.append([make(cells[0], 0)])
        ledger.finish()
        store.sync(ledger.path)
    _, children = store.runs()
    assert len(children) == 2
    assert all(c.data.metrics["device1009/delivered"] == 1009.0 for c in children.values())


def test_an_empty_sweep_and_a_deleted_experiment(store, tmp_path):
    with Ledger.create(tmp_path / "s" / "ledger.sqlite", header()) as ledger:
        pass
    assert store.sync(ledger.path).state == "KILLED"
    assert store.states() == ["KILLED"]
    store.client.delete_experiment(store.client.get_experiment_by_name("arm").experiment_id)
    with pytest.raises(TrackingError, match="was deleted"):
        store.sync(ledger.path)


def test_a_record_that_comes_while_the_ledger_is_read_is_the_next_rounds(store, tmp_path, monkeypatch):
    """Equal timestamps with other values would be wrong for ever."""
    with Ledger.create(tmp_path / "s" / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        fill(ledger, TWO, range(3), lambda c, s: record(c, s) if s < 2 else None)
        original = Ledger.parts

        def parts(self, *paths):
            found = original(self, *paths)
            ledger.append(record(c, 2) for c in TWO)
            return found

        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "parts", parts)
            store.sync(ledger.path)
        ledger.finish()
    store.sync(ledger.path)
    expected = np.mean([effects(TWO[1].values, s)[METRIC] for s in range(3)])
    run = store.runs()[1][TWO[1].cell_id]
    assert run.data.metrics[MEANS[0]] == pytest.approx(expected, rel=1e-12)
    assert len(store.client.get_metric_history(run.info.run_id, MEANS[0])) == 2


def test_one_pass_at_a_time(store, tmp_path, monkeypatch):
    import fcntl

    folder = build(tmp_path / "s", TWO, range(2))
    seen = []

    def send(self, original=mirror._Pass.send):
        with (folder / mirror.LOCK_NAME).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                seen.append("held")
        return original(self)

    monkeypatch.setattr(mirror._Pass, "send", send)
    store.sync(folder)
    assert seen == ["held"]
