"""A sweep from Python: records come as they are committed, and whoever leaves the loop can go on."""

from __future__ import annotations

import io
import signal

import pytest
from rich.console import Console

from sweep import run_sweep
from sweep.cli import progress
from sweep.cli.progress import ProgressDisplay
from sweep.design import ExecutorSpec
from sweep.design.spec import TrackingSpec
from sweep.errors import ExecutorError, InterruptedSweepError, InvalidInputError, SweepError
from sweep.execution import collect
from sweep.execution.planning import plan_sweep
from sweep.results import Ledger
from sweep.run import SweepRun

INLINE = ExecutorSpec(kind="inline", shard_s=1e-6)


@pytest.fixture
def running(scene):
    """Two cells of six seeds; nothing has run, and MLflow is off."""
    spec = scene.spec(seeds=range(6), executor=INLINE, tracking=TrackingSpec(enabled=False))
    return SweepRun(plan_sweep(spec), spec)


def committed(running):
    with Ledger.open(running.folder, read_only=True) as ledger:
        return {record.run_id: record for record in ledger.records()}


def test_a_record_is_committed_before_it_is_heard_of(running):
    asked = [run.run_id for run in running.planned.runs]
    heard = []
    for record in running:
        heard.append(record)
        assert committed(running)[record.run_id] == record
    assert [record.run_id for record in heard] == asked
    assert running.records() == heard
    assert running.report.ran == len(asked)


def test_results_so_far_can_be_looked_at_while_it_runs(running):
    next(running)
    assert sum(cell.n for cell in running.comparison().cells) == len(committed(running)) < 12
    assert len(running.frame()) == len(committed(running))
    running.finish()
    assert [cell.n for cell in running.comparison().cells] == [6, 6]


def test_leaving_the_loop_leaves_the_rest_for_later(running):
    first = [next(running).run_id]
    for record in running:
        first.append(record.run_id)
        if len(first) == 3:
            break
    rest = [record.run_id for record in running]
    assert [*first, *rest] == [run.run_id for run in running.planned.runs]
    assert next(running, None) is None


def test_between_two_records_ctrl_c_is_the_callers(running):
    before = signal.getsignal(signal.SIGINT)
    next(running)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert running.finish().report.pending == 0


def test_known_records_come_first_and_every_run_once(running, scene):
    known = [next(running), next(running)]
    running.close()
    spec = scene.spec(seeds=range(6), executor=INLINE, tracking=TrackingSpec(enabled=False))
    again = SweepRun(plan_sweep(spec), spec)
    found = list(again)
    assert found[: len(known)] == known
    assert sorted(record.run_id for record in found) == sorted(run.run_id for run in again.planned.runs)
    third = SweepRun(plan_sweep(spec), spec)
    assert list(third) == third.records()
    assert third.report.ran == 0


@pytest.mark.parametrize("way", ["loop", "finish"])
def test_ctrl_c_at_work_lets_runs_finish_and_then_ends_the_script(running, way, monkeypatch):
    work, calls = collect.Ledger.append, []

    def append(ledger, records):
        calls.append(signal.raise_signal(signal.SIGINT) if len(calls) == 2 else None)
        return work(ledger, records)

    monkeypatch.setattr(collect.Ledger, "append", append)
    with pytest.raises(InterruptedSweepError, match=r"3 of 12 runs are committed"):
        list(running) if way == "loop" else running.finish()
    assert len(running.records()) == 3
    assert issubclass(InterruptedSweepError, KeyboardInterrupt)


def test_a_cluster_where_nobody_listens_is_refused_before_anything_is_written(scene):
    spec = scene.spec(executor=ExecutorSpec(kind="ray", address="127.0.0.1:1"))
    with pytest.raises(ExecutorError, match="nothing listens on port 1"):
        SweepRun(plan_sweep(spec), spec)
    assert not scene.output.exists()


def test_what_was_left_can_be_gone_on_with_by_another(running):
    next(running)
    planned, folder = running.planned, running.folder
    running.close()
    running.close()
    with Ledger.open(folder) as ledger:
        assert not any(history.attempts[-1].is_open for history in ledger.leases.histories().values())
        assert 0 < len(ledger.records()) < len(planned.runs)
        assert ledger.state == "interrupted"


def test_one_that_was_never_run_says_so(running):
    with pytest.raises(SweepError, match=r"nothing has run yet"):
        _ = running.report
    assert "iterate over it, or finish() it" in repr(running)
    with pytest.warns(RuntimeWarning, match=r"12 runs in .*was never run"):
        running.__del__()
    running.finish()


def test_off_a_terminal_the_headline_so_far_is_told_now_and_then(scene, monkeypatch):
    monkeypatch.setattr(progress, "HEADLINE_EVERY_S", 0.0)
    monkeypatch.setattr(progress, "TABLE_SHARE", 1e9)
    spec = scene.spec(seeds=range(6), executor=INLINE, tracking=TrackingSpec(enabled=False))
    screen = Console(file=io.StringIO(), width=200)
    with ProgressDisplay(screen) as display:
        running = SweepRun(plan_sweep(spec), spec, display.show)
        display.refresh_with(running.comparison)
        running.finish()
    told = screen.file.getvalue()
    assert "5 of 6 pairs" in told


def test_what_was_asked_wrong_is_said_before_anything_runs(tmp_path):
    with pytest.raises(InvalidInputError, match="latncy"):
        run_sweep("+latncy=0.002,0.005", f"output={tmp_path}")


@pytest.mark.slow
def test_it_is_what_the_command_runs(tmp_path):
    words = ("scene=cartpole", "+latency=0,0.01", "seeds=2", "manifest.runtime.duration_s=0.2", "tracking=none")
    sweep = run_sweep(*words, f"output={tmp_path}", "executor=inline")
    assert len(list(sweep)) == 4
    assert sweep.comparison().headline
