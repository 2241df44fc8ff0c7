"""What is looked at before a sweep: do its axes land, does the user's code keep runs apart, does the first run live."""

from __future__ import annotations

import pickle
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sweep.design import DesignSpec, Interval
from sweep.design.spec import ExecutorSpec
from sweep.errors import InvalidInputError
from sweep.execution import canary as canary_module
from sweep.execution import landing, worker
from sweep.execution.apart import DiedError, call_apart
from sweep.execution.canary import Canary, examine
from sweep.execution.collect import collect
from sweep.execution.findings import Findings, executed_with
from sweep.execution.folder import SweepFolder
from sweep.execution.landing import landing_remarks
from sweep.execution.lane_check import lane_findings
from sweep.execution.planning import plan_sweep
from sweep.execution.shards import LONE_EXCESS, ShardQueue
from sweep.execution.worker import execute_shard
from sweep.results import Outcome, Status
from sweep.run import SweepRun

GAIN = "manifest.controllers.fb.parameters.gain"
WIDTH = "manifest.controllers.fb.parameters.width"


@pytest.fixture
def own(scene):
    """``own("Keeps", ...) -> SweepSpec``: a sweep with one of the controllers of ``canary_controllers.py``."""
    shutil.copy(Path(__file__).with_name("canary_controllers.py"), scene.folder)

    def spec(controller, swept=None, parameters=None, **more):
        manifest = scene.document(f"canary_controllers:{controller}", {"gain": 1.0, "width": 0.0, **(parameters or {})})
        swept = {GAIN: (1.0, 2.0)} if swept is None else swept
        more.setdefault("tracking", replace(scene.spec().tracking, enabled=False))
        return scene.spec(manifest=manifest, swept=swept, **more)

    return spec


def found_in(planned):
    """What the lane check finds; in a process of its own, as code here draws from global generators."""
    varied = [plan for contrast in planned.contrasts for plan in contrast.plans]
    return call_apart(lambda: lane_findings([planned.base], varied), 20)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Mean", "depends on the others"),
        ("FirstGain", "depends on the others"),
        ("Product", "the last digits depend on how many lanes there are"),
        ("Keeps", "it keeps state in self.total, which belongs in initial_state()"),
        ("OwnGenerator", "it draws from self.rng"),
        ("ForOne", "it cannot be made for many lanes (ValueError: "),
        ("AnswersOne", "it raises for many lanes what it raises for none alone (ValueError: output 'drive' has shape"),
    ],
)
def test_a_controller_that_mixes_lanes_computes_them_one_at_a_time(own, name, why):
    planned = plan_sweep(own(name))
    found = found_in(planned)
    assert set(found.unbatched) == {f"canary_controllers:{name}"}
    assert why in found.unbatched[f"canary_controllers:{name}"]
    assert (found.max_lanes, found.remarks) == (None, ())

    heeded = found.applied(planned)
    assert [run.run_id for run in heeded.runs] == [run.run_id for run in planned.runs]
    assert [run.plan.layout for run in heeded.runs] == [run.plan.layout for run in planned.runs]
    alone = [execute_shard([run])[0] for run in planned.runs]
    together = execute_shard(heeded.runs)
    assert together == alone
    assert why in together[0].remarks[0]
    # A worker of Ray gets its Plans like this.
    assert execute_shard(pickle.loads(pickle.dumps(heeded.runs))) == alone


@pytest.mark.parametrize("name", ["Mean", "FirstGain", "Product"])
def test_without_the_check_runs_would_depend_on_their_neighbours(own, name):
    planned = plan_sweep(own(name))
    assert execute_shard(planned.runs) != [execute_shard([run])[0] for run in planned.runs]


def test_where_that_does_not_help_runs_are_simulated_one_by_one(own, monkeypatch):
    planned = plan_sweep(own("SeededGlobally"))
    found = found_in(planned)
    assert (found.unbatched, found.max_lanes) == ({}, 1)
    assert "because of canary_controllers:SeededGlobally: runs are simulated one by one" in found.remarks[0]
    sizes = []

    class Counted(worker.InstanceBatch):
        def __init__(self, plans, *more, **named):
            sizes.append(len(plans))
            super().__init__(plans, *more, **named)

    monkeypatch.setattr(worker, "InstanceBatch", Counted)
    runs = found.applied(planned).runs
    assert execute_shard(runs) == [execute_shard([run])[0] for run in planned.runs]
    assert set(sizes) == {1}


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("DrawsGlobally", "it draws from numpy's global random generator"),
        ("LaneDrawsGlobally", "it draws from Python's global random generator"),
        ("ReadsTheClock", "it reads the time of day"),
    ],
)
def test_what_is_not_reproducible_is_said_and_runs(own, name, cause):
    found = found_in(plan_sweep(own(name)))
    assert (found.unbatched, found.max_lanes) == ({}, None)
    (remark,) = found.remarks
    assert remark.startswith(f"the same run twice gave other numbers, because of canary_controllers:{name}: {cause}")


@pytest.mark.parametrize("name", ["Fine", "LaneFine"])
def test_nothing_is_said_of_what_is_right(own, name):
    assert examine(plan_sweep(own(name))) == Findings()


def test_only_the_guilty_one_of_two_controllers_slows_down(own, scene):
    manifest = dict(own("Fine").manifest)
    guilty = {**manifest["controllers"]["fb"], "class": "canary_controllers:Keeps", "outputs": ["other"]}
    manifest["controllers"] = {**manifest["controllers"], "second": guilty}
    xml = scene.XML.replace("</actuator>", '<motor name="again" joint="hinge" gear="0.1"/></actuator>')
    manifest["model"] = {"xml": xml}
    manifest["components"] = {**manifest["components"], "other": {"type": "torque", "actuators": ["again"]}}
    planned = plan_sweep(scene.spec(manifest=manifest))
    assert set(found_in(planned).unbatched) == {"canary_controllers:Keeps"}


def test_who_asks_for_it_is_not_checked(own):
    planned = plan_sweep(own("Keeps"))
    asked = executed_with(planned.base, unbatched={"fb": "I know"})
    assert lane_findings([asked]) == Findings()
    assert lane_findings([executed_with(planned.base, max_lanes=1)]) == Findings()


def test_an_unknown_controller_cannot_be_unbatched(own):
    spec = own("Keeps")
    runtime = {**spec.manifest["runtime"], "unbatched": {"bf": "it is slow"}}
    with pytest.raises(InvalidInputError, match=r"runtime\.unbatched: unknown controller 'bf'. There is: fb"):
        plan_sweep(replace(spec, manifest={**spec.manifest, "runtime": runtime}))


def test_later_sessions_heed_what_was_found(own):
    spec = own("Keeps")
    first = SweepRun(plan_sweep(spec), spec).finish()
    assert "it keeps state in self.total" in first.records()[0].remarks[0]
    more = replace(spec, canary=False, seeds=(7, 8))
    again = SweepRun(plan_sweep(more), more).finish()
    assert again.folder == first.folder
    assert {record.remarks for record in again.records()} == {first.records()[0].remarks}
    alone = {run.run_id: execute_shard([run])[0] for run in plan_sweep(more).runs}
    assert {record.run_id: record for record in again.records()} == alone


# Crashes and hangs


@pytest.mark.parametrize(
    ("name", "limit_s", "how"), [("Crashes", 20, "was killed by SIGSEGV"), ("Hangs", 0.2, "took longer than 0.2 s")]
)
def test_code_that_crashes_or_hangs_does_not_take_the_driver_along(own, monkeypatch, name, limit_s, how):
    monkeypatch.setattr(canary_module, "LIMIT_S", limit_s)
    started = time.perf_counter()
    (remark,) = examine(plan_sweep(own(name))).remarks
    assert remark == f"the look ahead at canary_controllers:{name} {how}; runs begin without it"
    assert time.perf_counter() - started < 5


def test_what_raises_is_left_to_the_runs(own):
    assert not any("look ahead" in remark for remark in examine(plan_sweep(own("Raises"))).remarks)


def test_a_call_apart_returns_its_answer_and_leaves_nothing_behind():
    seen = []
    assert call_apart(lambda: seen.append(1) or len(seen), 5) == 1
    assert seen == []
    with pytest.raises(DiedError, match="raised ZeroDivisionError: division by zero"):
        call_apart(lambda: 1 / 0, 5)


# Axes


def remarks(spec):
    planned = plan_sweep(spec)
    return landing_remarks(planned.contrasts, planned.runs[0].seed)


@pytest.mark.parametrize(
    ("latency", "said"),
    [
        ((0.002, 0.005), None),
        ((0.0002, 0.0004), "latency=0.0002 and 0.0004 make no difference: both come to 1 tick of 0.001 s"),
        ((0.0042, 0.0045, 0.005), "latency=0.0042 and 0.005 make no difference: both come to 5 ticks of 0.001 s; "
                                  "of its 3 values 1 differ"),
        ((0.0, 0.0006, 0.0003, 0.002), "latency=0.0003 and 0.0006 make no difference: both come to 1 tick of 0.001 s; "
                                       "of its 4 values 3 differ"),
    ],
)  # fmt: skip
def test_values_that_come_to_the_same_ticks(scene, latency, said):
    found = remarks(scene.spec(latency))
    assert found == () if said is None else found[0].startswith(said)
    assert len(found) == (said is not None)


@pytest.mark.parametrize(
    "swept",
    [
        {"manifest.components.enc.period_s": (0.0061, 0.0069)},  # the same tick once, other ones later
        {"latency": Interval(low=0.0001, high=0.003)},  # some of whose samples come to the same tick
        {"manifest.components.enc.white_std": (0.001, 0.002)},
        {"manifest.runtime.duration_s": (0.04, 0.05)},
        {"manifest.metrics.a.window": ("horizon", "until_end")},
        {"manifest.controllers.fb.parameters.gain": ((10.0, 1.0), (12.0, 1.0))},
    ],
)
def test_nothing_is_said_of_axes_that_land(scene, swept):
    is_sampled = any(isinstance(taken, Interval) for taken in swept.values())
    design = DesignSpec(kind="random", n=20) if is_sampled else DesignSpec()
    assert remarks(scene.spec(swept=swept, design=design)) == ()


def test_periods_that_are_due_at_the_same_ticks(scene):
    (remark,) = remarks(scene.spec(swept={"manifest.controllers.fb.period_s": (0.0100001, 0.0100002, 0.02)}))
    assert "0.0100001 and 0.0100002 make no difference: both are due at the same ticks all along" in remark
    assert remark.endswith("; of its 3 values 2 differ")


def test_an_axis_that_nobody_reads(own):
    (remark,) = remarks(own("Ignores"))
    path = GAIN.removeprefix("manifest.")
    assert remark == f"{GAIN}=1 and 2 give the same trace from start to end (seed 0): {path} has no effect here"


def test_an_axis_may_act_where_another_does(own):
    """A gain that is multiplied by a nominal 0 lands, because that is swept, too."""
    swept = {GAIN: (1.0, 2.0), WIDTH: (0.0, 1.0)}
    assert remarks(own("Together", swept)) == ()
    assert GAIN in remarks(own("Together", {GAIN: (1.0, 2.0)}))[0]


def test_a_look_is_as_long_as_it_may_be(own, monkeypatch):
    monkeypatch.setattr(landing, "LOOK_S", 0.0)
    monkeypatch.setattr(landing, "CONFIRM_S", 0.0)
    (remark,) = remarks(own("Ignores"))
    assert "give the same trace in the first 0 s, which is as far as was looked" in remark


def test_a_fault_is_no_axis_without_effect(own):
    assert remarks(own("Raises")) == ()


@pytest.mark.parametrize(
    ("swept", "said"),
    [
        ({"manifest.runtime.max_block": (3, 4)}, "decides how runs are executed, not what comes out"),
        ({"manifest.runtime.episode_seed": (3, 4)}, r"write seeds=\[3,4\], which every cell runs"),
        ({"manifest.components.enc.latency_s": ("7 ms", "0.007")}, r"it sets, components\.enc\.latency_s, is the same"),
    ],
)
def test_values_of_one_plan_are_refused(scene, swept, said):
    (name,) = swept
    with pytest.raises(InvalidInputError, match=rf"(?s){name}: changes nothing: {name}=.* are one Plan; .*{said}"):
        plan_sweep(scene.spec(swept=swept))
    assert plan_sweep(scene.spec(swept=swept, canary=False)).contrasts == ()


def test_a_lone_value_is_compared_with_the_nominal_one(scene):
    (contrast,) = plan_sweep(scene.spec((0.005,))).contrasts
    assert str(contrast) == "latency=0.002 and 0.005"
    assert plan_sweep(scene.spec((0.002,))).contrasts == ()


# The first run


def collected(spec):
    planned = plan_sweep(spec)
    events = []
    return collect(planned, SweepFolder.prepare(planned, spec), spec, events.append), events


def test_a_sweep_whose_first_run_faults_is_stopped(own):
    spec = own("Raises", seeds=range(3))
    for _ in range(2):  # it stays so, until somebody says otherwise
        report, events = collected(spec)
        assert (report.statuses, report.pending, report.interrupted) == ({"faulted": 1}, 5, False)
        assert report.resume_with == "canary=false"
        assert events[-1].stopping == (
            f"stopping: the first run ({GAIN}=1, seed 0) faulted, and the others may do the same; "
            "canary=false runs them in any case"
        )
    report, _ = collected(replace(spec, canary=False))
    assert (report.statuses, report.pending, report.stopped) == ({"faulted": 6}, 0, "")


def test_the_canary_is_the_baseline_and_its_record_counts(scene):
    spec = scene.spec((0.005, 0.002, 0.008), baseline={"latency": 0.008}, executor=ExecutorSpec(kind="inline"))
    report, events = collected(spec)
    first = events[1].records
    assert len(first) == 1
    assert first[0].plan_id == plan_sweep(spec).cells[2].plan_id
    assert (report.ran, report.statuses) == (9, {"completed": 9})


def test_a_cell_that_nobody_called_the_baseline_may_diverge(own):
    spec = own("Shouts", {GAIN: (6.0, 2.0)}, seeds=range(2))
    report, _ = collected(spec)
    assert report.statuses == {"faulted": 2, "completed": 2}
    nominal = own("Shouts", {GAIN: (6.0, 2.0)}, {"gain": 6.0}, seeds=range(2), name="nominal")
    report, _ = collected(nominal)
    assert (report.statuses, report.pending) == ({"faulted": 1}, 3)


def test_what_completed_before_speaks_for_the_rest(own):
    spec = own("Shouts", {GAIN: (2.0,)}, {"gain": 6.0}, seeds=range(2))
    assert collected(spec)[0].statuses == {"completed": 2}
    report, _ = collected(replace(spec, swept={GAIN: (2.0, 6.0)}))
    assert report.statuses == {"completed": 2, "faulted": 2}


@pytest.mark.parametrize(
    ("outcome", "is_reference", "alarms"),
    [
        (Outcome(status=Status.COMPLETED), True, False),
        (Outcome(status=Status.ENDED, success=False), True, False),
        (Outcome(status=Status.LOST), True, False),
        (Outcome(status=Status.FAULTED, kind="diverged"), True, True),
        (Outcome(status=Status.FAULTED, kind="diverged"), False, False),
        (Outcome(status=Status.FAULTED, kind="overflow"), False, False),
        (Outcome(status=Status.FAULTED, kind="controller"), False, True),
        (Outcome(status=Status.FAULTED, kind="component"), False, True),
    ],
)
def test_when_the_canary_gives_alarm(scene, outcome, is_reference, alarms):
    first = replace(Canary.of(plan_sweep(scene.spec())), is_reference=is_reference)
    record = replace(execute_shard([first.run])[0], outcome=outcome)
    assert bool(first.alarm([record])) is alarms
    assert first.alarm([]) == ""


def test_what_is_left_is_estimated_as_runs_among_others(scene):
    runs = plan_sweep(scene.spec(seeds=range(10))).runs
    queue = ShardQueue(runs, shard_s=2.0)
    assert queue.among_s is None
    first = queue.take()
    queue.observe(first, [replace(record, wall_s=0.8) for record in execute_shard(first)])
    assert queue.among_s == pytest.approx(0.8 / LONE_EXCESS)
    many = queue.take()
    queue.observe(many, [replace(record, wall_s=0.2) for record in execute_shard(many)])
    assert queue.among_s == pytest.approx(0.2)
