"""Going on with a sweep: which runs, why, and what forbids it; a run that kills its driver does so a few times only."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sweep.cli.progress import explained
from sweep.config.load import load_spec
from sweep.design import ExecutorSpec
from sweep.errors import ChangedError, ExecutorError, InvalidInputError, LedgerError, StoppedError
from sweep.execution.auto import AutoExecutor
from sweep.execution.collect import collect
from sweep.execution.executor import InlineExecutor
from sweep.execution.folder import SweepFolder
from sweep.execution.pending import Reason, pending_work
from sweep.execution.planning import plan_sweep
from sweep.execution.resume import planned_again
from sweep.results import Ledger, Outcome, Status
from sweep.results.attempts import Ending

INLINE = ExecutorSpec(kind="inline")


def run(spec, on_event=None, executor=None):
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    return planned, folder, collect(planned, folder, spec, on_event, executor=executor)


def prepared(spec):
    """A sweep of which nothing has run: its plan, its ledger opened for writing."""
    planned = plan_sweep(spec)
    ledger = Ledger.open(SweepFolder.prepare(planned, spec).ledger)
    ledger.add_cells(planned.cells)
    ledger.add_runs((r.run_id, r.cell_id, r.plan.plan_id, r.seed) for r in planned.runs)
    ledger.begin(planned.header.provenance)
    return planned, ledger


def test_every_run_is_new_reused_or_run_again_for_a_reason(scene):
    _, _, report = run(scene.spec(seeds=range(2), executor=INLINE))
    assert report.ran == 4
    planned, ledger = prepared(scene.spec(seeds=range(9), latency=(0.002, 0.005), executor=INLINE))
    ids = [r.run_id for r in planned.runs]
    with ledger:
        (one, *_) = ledger.records()
        for number, ending in enumerate([Ending.CANCELLED, Ending.ORPHANED, Ending.RETURNED]):
            ledger.leases.lease(ids[6 + number : 7 + number])
            ledger.leases.end_all(ending)
        ledger.leases.lease(ids[9:10], "worker 1")
        ledger.leases.died(ids[9:10], "killed")
        ledger.append([replace(one, run_id=ids[10], outcome=Outcome(status=Status.LOST))])
        ledger.append([replace(one, run_id=ids[11], code_id="another")])
        ledger.leases.lease(ids[12:13])  # still in hand: its driver will be gone
        late = Outcome(status=Status.TIMED_OUT)
        ledger.append(replace(one, run_id=ids[at], outcome=late, wall_s=5.0 * at) for at in (13, 14))
        ledger.leases.lease(ids[15:16], "worker 1")
        ledger.leases.overdue(ids[15:16], "70 s were not enough")
        work = pending_work(planned, ledger, timeout_s=70.0)
        same = pending_work(planned, ledger, timeout_s=65.0)
        endless = pending_work(planned, ledger)
        inline = pending_work(planned, ledger, isolates=False)
    assert work.reasons == {
        Reason.NEW: 18 - 4 - 9,
        Reason.CANCELLED: 1,
        Reason.ORPHANED: 2,
        Reason.DIED: 1,
        Reason.LOST: 1,
        Reason.CODE: 1,
        Reason.TIMED_OUT: 2,
    }
    assert (work.reused, work.left, len(work.runs)) == (5, 0, 13)
    assert (same.reused, same.reasons[Reason.TIMED_OUT]) == (6, 1), "as much time again comes to the same"
    assert (endless.reused, endless.reasons[Reason.TIMED_OUT]) == (4, 3)
    assert work.suspects == {ids[7], ids[9], ids[10]}
    assert [run.run_id for run in work.runs] == [i for i in ids if i in {r.run_id for r in work.runs}]
    assert (inline.left, len(inline.runs)) == (1, 13)
    told, left = explained(inline, 80.0)
    assert told.startswith("4 of 18 runs are reused; 13 to run: 5 new, 1 stopped before, 2 in hand when the driver d")
    assert "3 out of time before" in told
    assert told.endswith("about 80 s")
    assert left.startswith("1 lost run killed the process before")
    assert "executor=ray" in left


def test_a_new_sweep_needs_no_explanation_and_one_that_is_done_little(scene):
    events = []
    run(scene.spec(seeds=range(2)), events.append)
    assert explained(events[0].work, events[0].eta_s) == []
    assert [event.work for event in events[1:]] == [None] * (len(events) - 1)
    events.clear()
    run(scene.spec(seeds=range(2)), events.append)
    (event,) = events
    assert explained(event.work, event.eta_s) == ["4 of 4 runs are reused; nothing is left to run"]
    events.clear()
    run(scene.spec(seeds=range(3)), events.append)
    assert events[0].eta_s > 0, "the pace of the last session is known"


def test_resuming_takes_every_cell_and_seed_that_was_ever_asked_for(scene):
    _, folder, _ = run(scene.spec(latency=(0.002, 0.005), seeds=range(2)))
    extended = scene.spec(latency=(0.009,), seeds=(7,))
    planned, ledger = prepared(extended)
    with ledger:
        again = planned_again(extended, ledger)
        assert {r.run_id for r in again.runs} == {r.run_id for r in ledger.runs()}
        assert [cell.label for cell in again.cells] == ["latency=0.002", "latency=0.005", "latency=0.009"]
        assert again.header.name == folder.path.name
    report = collect(again, folder, extended)
    assert (report.total, report.reused, report.ran) == (5, 4, 1)
    assert planned.runs[0].run_id == again.runs[-1].run_id


@pytest.fixture
def changed(scene, monkeypatch):
    """Makes a sweep, changes something, and says what forbids to go on."""
    monkeypatch.syspath_prepend(scene.folder)

    def call(change, manifest=None, swept=None):
        manifest = manifest or scene.document()
        spec = scene.spec(manifest=manifest, swept=swept, seeds=(1,))
        _, folder, _ = run(spec)
        manifest = json.loads(json.dumps(manifest))
        change(manifest)
        with Ledger.open(folder.ledger, read_only=True) as ledger, pytest.raises(ChangedError) as caught:
            planned_again(replace(spec, manifest=manifest), ledger)
        assert str(folder.path) in str(caught.value)
        return caught.value.changes

    return call


def test_keys_that_changed_are_told_with_both_values(changed):
    def change(manifest):
        manifest["components"]["enc"]["white_std"] = 0.5
        manifest["controllers"]["fb"]["parameters"]["gain"] = [9, 1]
        manifest["components"]["drive"]["bias"] = 0.25 if False else None
        manifest["components"]["drive"].pop("bias")

    assert changed(change) == (
        "components.enc.white_std: 0.001 -> 0.5",
        "controllers.fb.parameters.gain: [10, 1] -> [9, 1]",
    )


def test_a_component_that_is_new_or_gone_is_told(changed):
    def change(manifest):
        manifest["metrics"]["b"] = {"type": "rms", "joint": "hinge", "unit": "rad", "window": "horizon"}
        del manifest["metrics"]["a"]

    told = changed(change)
    assert "metrics.a.joint: hinge -> nothing" in told
    assert "metrics.b.joint: nothing -> hinge" in told


def test_a_model_that_changed_is_told_by_its_files(changed, scene):
    (scene.folder / "pole.xml").write_text(scene.XML)

    def change(_):
        (scene.folder / "pole.xml").write_text(scene.XML.replace('mass="1"', 'mass="2"'))

    assert "pole.xml changed" in changed(change, scene.document(model={"file": "pole.xml"}))


def test_code_that_changed_is_told_by_its_files(changed, scene):
    source = "import resumed_part\nclass C:\n    def __init__(self, setup): pass\n    def compute(self, step): ...\n"
    (scene.folder / "resumed_ctl.py").write_text(source)
    (scene.folder / "resumed_part.py").write_text("X = 1\n")

    def change(_):
        from sweep.execution import code

        (scene.folder / "resumed_part.py").write_text("X = 2\n")
        for cached in (code._code_id, code._code_parts):
            cached.cache_clear()

    assert changed(change, scene.document("resumed_ctl:C")) == ("resumed_part.py changed",)


def test_a_cell_whose_swept_file_changed_is_told_by_its_label(changed, scene):
    (scene.folder / "a.xml").write_text(scene.XML)
    (scene.folder / "b.xml").write_text(scene.XML.replace('mass="1"', 'mass="3"'))

    def change(_):
        (scene.folder / "b.xml").write_text(scene.XML.replace('mass="1"', 'mass="4"'))

    (told,) = changed(change, scene.document(model={"file": "a.xml"}), {"manifest.model.file": ("a.xml", "b.xml")})
    assert told.startswith("cell manifest.model.file=b.xml: Plan ")


def test_what_makes_no_other_sweep_forbids_nothing(scene):
    spec = scene.spec(seeds=(1,))
    _, folder, _ = run(spec)
    manifest = scene.document()
    manifest["runtime"] |= {"max_block": 7, "trace": "events", "episode_seed": 5}
    with Ledger.open(folder.ledger, read_only=True) as ledger:
        assert len(planned_again(replace(spec, manifest=manifest), ledger).runs) == 2


@pytest.mark.parametrize(
    ("words", "stop_after"),
    [
        ((), None),
        (("on_failure=continue",), None),
        (("on_failure=stop",), 1),
        (("on_failure=stop_after=3",), 3),
        (("on_failure='stop_after=12'",), 12),
        (("on_failure=stop_after:2",), 2),
    ],
)
def test_the_policy_for_failures_is_read_as_it_is_typed(words, stop_after):
    assert load_spec(("scene=cartpole", *words)).stop_after == stop_after


@pytest.mark.parametrize(
    "word", ["on_failure=stpo", "on_failure=stop_after=0", "on_failure=3", "on_failure=stop,continue"]
)
def test_another_policy_is_refused(word):
    with pytest.raises(InvalidInputError, match=r"on_failure=.*no such policy.*continue, stop, stop_after=3"):
        load_spec(("scene=cartpole", word))


FAILING_CTL = """
class Failing:
    def __init__(self, setup):
        self.bad = setup.parameters["bad"][:, 0]
        if (self.bad > 9).any(): raise ValueError(f"no {self.bad[0]:g} here")
    def compute(self, step): return 0 * step.inputs["enc"].values[:, :1]
"""
BAD = "manifest.controllers.fb.parameters.bad"


@pytest.fixture
def failing(scene):
    """Sweeps in which the cells with a value above 9 fail."""
    (scene.folder / "failing_ctl.py").write_text(FAILING_CTL)
    manifest = scene.document("failing_ctl:Failing", {"bad": 0.0})
    return lambda *bad, **more: scene.spec(manifest=manifest, swept={BAD: bad}, seeds=(1,), executor=INLINE, **more)


@pytest.mark.parametrize(
    ("stop_after", "failed", "ran"),
    [(None, 4, 8), (1, 1, 2), (2, 2, 4), (4, 4, 8), (9, 4, 8)],
)
def test_a_sweep_stops_at_as_many_failures_as_asked(failing, monkeypatch, stop_after, failed, ran):
    monkeypatch.setattr("sweep.execution.shards.LANES", 1)
    events = []
    spec = failing(1.0, 11.0, 2.0, 12.0, 3.0, 13.0, 4.0, 14.0, stop_after=stop_after)
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    executor = OneByOne()
    report = collect(planned, folder, spec, events.append, executor=executor)
    assert (report.statuses.get("faulted", 0), report.ran, report.interrupted) == (failed, ran, False)
    assert bool(report.stopped) == (ran < 8)
    assert ran == 8 or f"stopping at {failed} failures" in events[-1].stopping
    (group,) = report.failures
    assert (group.count, group.run_id) == (failed, planned.runs[1].run_id)
    with Ledger.open(folder.path, read_only=True) as ledger:
        assert ledger.state == ("finished" if ran == 8 else "interrupted")
    again = collect(planned, folder, spec, executor=OneByOne())
    assert again.reused == ran, "failures of an earlier session do not stop a later one at once"
    assert again.ran > 0 or ran == 8


class OneByOne(InlineExecutor):
    """Here, in shards of one run."""

    def execute(self, queue, files=None):
        queue._lanes = 1
        return super().execute(queue, files)


def test_auto_does_not_risk_its_own_process_where_ray_cannot_start(scene):
    class NoRay:
        is_up = True
        remarks = ()

        def __init__(self, workers): ...
        def start(self): ...
        def stop(self): ...
        def wait(self):
            raise ExecutorError("no Ray here")

        def __exit__(self, *_): ...

    planned, ledger = prepared(scene.spec())
    ids = [r.run_id for r in planned.runs]
    with ledger:
        ledger.leases.lease(ids[:1])
        ledger.leases.end_all(Ending.ORPHANED)
    spec = scene.spec()
    with pytest.raises(StoppedError, match=r"1 run may kill the process .*no Ray here\. 5 of 6 runs are committed"):
        collect(planned, SweepFolder.of(planned, spec), spec, executor=AutoExecutor(2, NoRay))
    with Ledger.open(SweepFolder.of(planned, spec).ledger, read_only=True) as ledger:
        assert set(ledger.statuses()) == set(ids[1:])


def test_a_ledger_that_fails_on_the_way_stops_the_sweep_and_says_what_is_safe(scene, monkeypatch):
    append = Ledger.append

    def full(self, records):
        if self.statuses():
            raise LedgerError("The disk is full.")
        return append(self, records)

    monkeypatch.setattr(Ledger, "append", full)
    with pytest.raises(StoppedError, match=r"The disk is full\. \d+ of 6 runs are committed; the same command runs"):
        run(scene.spec(executor=INLINE))
