"""A sweep in its folder: extended, resumed, replayed; killed and interrupted drivers lose nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sweep.errors import ExecutorError, LedgerError
from sweep.execution.auto import AutoExecutor, in_words
from sweep.execution.collect import Collection, collect
from sweep.execution.executor import InlineExecutor
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import plan_sweep
from sweep.execution.replay import find_run, replayable
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard
from sweep.results import Ledger
from sweep.results.session import FINISHED

SLOW_CTL = """
import time
class Slow:
    def __init__(self, setup): time.sleep(0.1)
    def compute(self, step): return 0 * step.inputs["enc"].values[:, :1]
"""


def run(spec, on_event=None, executor=None):
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    return planned, folder, collect(planned, folder, spec, on_event, executor=executor)


def records(folder):
    with Ledger.open(folder.path, read_only=True) as ledger:
        return ledger.records()


def test_a_sweep_is_collected_and_leaves_nothing_beside_its_folder(scene):
    events = []
    planned, folder, report = run(scene.spec(), events.append)
    assert (report.total, report.ran, report.reused, report.pending) == (6, 6, 0, 0)
    assert report.statuses == {"completed": 6}
    assert report.reason.startswith("inline: about")
    assert sorted(p.name for p in folder.path.iterdir()) == ["ledger.lock", "ledger.sqlite", "manifest.yaml"]
    assert [p.name for p in scene.folder.iterdir()] == ["sweeps"]
    assert events[0].done == 0
    assert (events[-1].done, events[-1].total, events[-1].eta_s) == (6, 6, 0.0)
    assert sum(len(event.records) for event in events) == 6
    assert records(folder) == execute_shard(planned.runs)


def test_records_are_committed_before_they_are_reported(scene):
    spec = scene.spec()
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    seen = []
    collect(planned, folder, spec, lambda event: seen.append((event.done, len(records(folder)))))
    assert seen
    assert all(done == committed for done, committed in seen)


def test_results_are_there_before_the_executor_ends(scene):
    class Lingering(InlineExecutor):
        has_ended = False

        def __exit__(self, *_):
            self.has_ended = True

    spec, executor = scene.spec(), Lingering()
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    collection = Collection(planned, folder, spec, executor=executor)
    for _ in range(2):  # nothing is left for the second time
        collection.commit()
        assert (len(records(folder)), collection.report().pending, executor.has_ended) == (6, 0, False)
    collection.close()
    assert executor.has_ended
    with Ledger.open(folder.path, read_only=True) as ledger:
        assert ledger.state == FINISHED


def test_more_values_and_seeds_extend_a_sweep(scene):
    _, folder, _ = run(scene.spec())
    before = records(folder)
    _, again, report = run(scene.spec())
    assert (report.reused, report.ran, again.path, again.is_new) == (6, 0, folder.path, False)
    _, wider, report = run(scene.spec(latency=(0.002, 0.005, 0.009), seeds=range(4)))
    assert (report.total, report.reused, report.ran) == (12, 6, 6)
    assert wider.path == folder.path
    after = {r.run_id: r for r in records(folder)}
    assert all(after[r.run_id] == r for r in before)
    assert len(after) == 12


def test_cells_of_one_plan_share_their_runs(scene):
    planned, _, report = run(
        scene.spec(swept={"latency": (0.002,), "manifest.runtime.episode_seed": (0, 1)}, canary=False)
    )
    assert len(planned.runs) == 6
    assert (report.total, report.ran) == (3, 3)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("lanes", [1, 3, 64])
def test_any_shard_size_gives_the_same_records(scene, threads, lanes):
    planned = plan_sweep(scene.spec(seeds=range(5)))
    queue = ShardQueue(planned.runs, lanes=lanes)
    found = {r.run_id: r for part in InlineExecutor(threads).execute(queue) for r in part}
    assert [found[run.run_id] for run in planned.runs] == execute_shard(planned.runs)


def test_auto_goes_on_here_when_ray_cannot_start(scene, monkeypatch):
    class NoRay:
        is_up = True
        gone = 0
        remarks = ()

        def __init__(self, workers): ...
        def start(self): ...
        def wait(self):
            raise ExecutorError("no Ray here")

        def __exit__(self, *_):
            NoRay.gone += 1

    monkeypatch.setattr("sweep.execution.auto.RAY_WORTH_S", 0.0)
    executor = AutoExecutor(2, NoRay)
    _, _, report = run(scene.spec(), executor=executor)
    assert (report.ran, report.reason, NoRay.gone) == (6, "inline: no Ray here", 1)


def test_durations_in_words():
    assert [in_words(s) for s in (0.1, 12, 600, 36000)] == ["1 s", "12 s", "10 min", "10.0 h"]


def test_a_run_is_replayed_from_the_folder_alone(scene):
    meshes, models = scene.folder / "assets", scene.folder / "models"
    meshes.mkdir()
    models.mkdir()
    (meshes / "extra.xml").write_text("<mujoco><option gravity='0 0 -9'/></mujoco>")
    (models / "pole.xml").write_text(scene.XML.replace("<option", '<include file="../assets/extra.xml"/><option'))
    (scene.folder / "replay_ctl.py").write_text(
        "class C:\n    def __init__(self, setup): pass\n"
        "    def compute(self, step): return -step.inputs['enc'].values[:, :1]\n"
    )
    spec = scene.spec(manifest=scene.document("replay_ctl:C", model={"file": "models/pole.xml"}))
    planned, folder, _ = run(spec)
    copies = sorted(p.relative_to(folder.path).as_posix() for p in folder.path.rglob("*") if p.is_file())
    assert copies[0] == "code/replay_ctl.py"
    assert copies[-3:] == ["manifest.yaml", "model/assets/extra.xml", "model/models/pole.xml"]
    (models / "pole.xml").unlink()
    wanted = planned.runs[3]
    where, run_id = find_run(scene.output, wanted.run_id[:10])
    assert (where, run_id) == (folder.path, wanted.run_id)
    plan, record, cell = replayable(folder.path, run_id[:10])
    assert (plan.plan_id, record.seed, cell.label) == (wanted.plan.plan_id, 1, "latency=0.005")
    assert plan.instantiate(record.seed).run().trace_digest == record.trace_digest

    copy = folder.path / "model/models/pole.xml"
    copy.write_text(copy.read_text().replace('mass="1"', 'mass="2"'))
    with pytest.raises(LedgerError, match="the model is another one"):
        replayable(folder.path, run_id)


def test_unknown_and_ambiguous_prefixes_list_candidates(scene):
    planned, _, _ = run(scene.spec(seeds=range(20)))
    with pytest.raises(LedgerError, match=r"No run begins with 'zz'.*There is: [0-9a-f]{16}, "):
        find_run(scene.output, "zz")
    with pytest.raises(LedgerError, match="40 runs begin with ''"):
        find_run(scene.output, "")
    with pytest.raises(LedgerError, match="where there is no sweep"):
        find_run(scene.folder / "nowhere", "a")
    assert find_run(scene.output, planned.runs[0].run_id)[1] == planned.runs[0].run_id


DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from conftest import Scene
from sweep.design import ExecutorSpec
from sweep.execution.collect import Collection, collect
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import plan_sweep

if __name__ == "__main__":
    scene = Scene(Path({folder!r}))
    manifest = scene.document("slow_ctl:Slow")
    spec = scene.spec(manifest=manifest, seeds=range(40), executor=ExecutorSpec(kind={kind!r}, shard_s=0.1, workers=2))
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    report = collect(planned, folder, spec, lambda e: print(e.done, flush=True))
    print("report", report.interrupted, report.reused, report.ran, report.pending)
"""


def driver(scene, kind="inline"):
    (scene.folder / "slow_ctl.py").write_text(SLOW_CTL)
    script = scene.folder / "driver.py"
    script.write_text(DRIVER.format(tests=str(Path(__file__).parent), folder=str(scene.folder), kind=kind))
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, count):
    for line in process.stdout:
        if line.split()[0].isdigit() and int(line) >= count:
            return
    raise AssertionError(process.stderr.read())


@pytest.mark.slow
def test_kill_9_of_the_driver_loses_and_doubles_nothing(scene):
    with driver(scene) as process:
        wait_for(process, 3)
        process.kill()
    (folder,) = scene.output.iterdir()
    with Ledger.open(folder, read_only=True) as ledger:
        committed = ledger.records()
        assert ledger.state == "interrupted"
    assert 3 <= len(committed) < 80
    with driver(scene) as process:
        out, err = process.communicate(timeout=120)
    assert f"report False {len(committed)} {80 - len(committed)} 0" in out, err
    with Ledger.open(folder, read_only=True) as ledger:
        after = {r.run_id: r for r in ledger.records()}
        assert ledger.superseded() == []
        assert ledger.state == "finished"
    assert len(after) == 80
    assert all(after[r.run_id] == r for r in committed)
    assert not list(scene.folder.rglob("MUJOCO_LOG.TXT"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["inline", pytest.param("ray", marks=pytest.mark.soak)])
def test_ctrl_c_keeps_what_is_done_and_leaves_the_rest_pending(scene, kind):
    with driver(scene, kind) as process:
        wait_for(process, 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    word, interrupted, reused, ran, pending = out.split("\n")[-2].split()
    assert (word, interrupted, reused) == ("report", "True", "0"), err
    assert int(ran) + int(pending) == 80
    assert int(pending) > 0
    assert "Traceback" not in err
    (folder,) = scene.output.iterdir()
    with Ledger.open(folder, read_only=True) as ledger:
        assert ledger.state == "interrupted"
        assert len(ledger.records()) == int(ran)


def test_a_keyboard_interrupt_in_a_callback_is_an_interruption(scene):
    def interrupt(event):
        if event.done:
            raise KeyboardInterrupt

    _, folder, report = run(scene.spec(), interrupt)
    assert report.interrupted
    assert report.pending == 5
    assert len(records(folder)) == 1
    _, _, report = run(scene.spec())
    assert (report.reused, report.ran, report.interrupted) == (1, 5, False)


def test_time_is_not_lost_on_a_finished_sweep(scene):
    run(scene.spec())
    started = time.monotonic()
    run(scene.spec())
    assert time.monotonic() - started < 5
