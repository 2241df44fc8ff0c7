"""Capsules of a sweep: few of a cause, few of a sweep, not long at it, and nothing where nothing faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sweep.errors import CapsuleError
from sweep.execution import capsules
from sweep.execution.capsules import CapsuleWriter, capsules_in
from sweep.execution.planning import plan_sweep
from sweep.execution.worker import execute_shard
from sweep.runtime.hosting.capsule_file import load_capsule

CAPSULE_CTL = """
class Late:
    def __init__(self, setup):
        self.how = setup.parameters["how"]
        if (self.how == 9).any():
            raise SystemExit(3)
    def compute(self, step):
        if (self.how == 1).any() and step.tick >= 30:
            raise ValueError("too late")
        command = 0 * step.inputs["enc"].values[:, :1]
        if step.tick >= 30:
            command[self.how[:, 0] == 2] = float("nan")
        return command
"""


@pytest.fixture
def faulty(scene):
    """``faulty([1, 2], seeds=3) -> planned, records``: how its runs fault, 0 for not at all."""
    (scene.folder / "capsule_ctl.py").write_text(CAPSULE_CTL)

    def plan(how, seeds=1):
        manifest = scene.document("capsule_ctl:Late", {"how": 0.0})
        swept = {"manifest.controllers.fb.parameters.how": tuple(map(float, how))}
        planned = plan_sweep(scene.spec(manifest=manifest, swept=swept, seeds=range(seeds)))
        return planned, execute_shard(planned.runs)

    return plan


def test_every_faulted_run_leaves_what_reopens_it(faulty, scene):
    planned, records = faulty([0, 1, 2, 9])
    writer = CapsuleWriter(planned, scene.folder)
    written = writer.write(records)
    assert writer.remark == ""
    assert written == capsules_in(scene.folder)
    assert sorted(written) == sorted(r.run_id for r in records if r.outcome.status == "faulted")
    assert len(written) == 3
    for record in records:
        if record.run_id not in written:
            continue
        capsule = load_capsule(written[record.run_id])
        assert (capsule.outcome, capsule.trace_digest) == (record.outcome, record.trace_digest)
        assert capsule.code_id == record.code_id
        assert capsule.code == {"capsule_ctl.py": CAPSULE_CTL.encode()}
        assert capsule.cell.startswith("manifest.controllers.fb.parameters.how=")
        (how,) = capsule.parameters.values()
        if how == 9:
            assert capsule.history is None
        else:
            assert capsule.replay().record == record


def test_nothing_is_run_again_where_nothing_faulted(faulty, scene, monkeypatch):
    planned, records = faulty([0], seeds=3)
    monkeypatch.setattr(capsules, "again", pytest.fail)
    assert CapsuleWriter(planned, scene.folder).write(records) == {}
    assert not (scene.folder / "capsules").exists()


def test_of_one_cause_the_first_are_kept(faulty, scene):
    planned, records = faulty([1, 2], seeds=4)
    writer = CapsuleWriter(planned, scene.folder)
    written = writer.write(records[:2]) | writer.write(records[2:])
    kinds = [record.outcome.kind for record in records if record.run_id in written]
    assert sorted(kinds) == ["controller"] * 3 + ["diverged"] * 3
    assert "2 runs that faulted have no capsule: at most 3 of a cause and 20 of a sweep" in writer.remark


def test_of_one_sweep_so_many_are_kept_over_all_sessions(faulty, scene, monkeypatch):
    monkeypatch.setattr(capsules, "PER_SWEEP", 2)
    planned, records = faulty([1], seeds=3)
    first = CapsuleWriter(planned, scene.folder).write(records[:1])
    later = CapsuleWriter(planned, scene.folder)
    assert len(first | later.write(records[1:])) == 2
    assert later.remark.startswith("1 run that faulted has no capsule")
    again = CapsuleWriter(planned, scene.folder)
    assert list(again.write(records)) == [r.run_id for r in records[:2]], "one that is there is written anew"


def test_a_session_sets_so_much_time_aside(faulty, scene, monkeypatch):
    monkeypatch.setattr(capsules, "BUDGET_S", 0.0)
    planned, records = faulty([1, 2])
    writer = CapsuleWriter(planned, scene.folder)
    assert writer.write(records) == {}
    assert "2 runs that faulted have no capsule: running them again takes more than the 0 s" in writer.remark


def test_a_run_that_does_not_fault_again_keeps_its_outcome_without_a_history(faulty, scene):
    planned, (record,) = faulty([1])
    other = replace(record, outcome=replace(record.outcome, message="on another machine", tick=20))
    (path,) = CapsuleWriter(planned, scene.folder).write([other]).values()
    capsule = load_capsule(path)
    assert (capsule.outcome, capsule.history) == (other.outcome, None)


def test_a_full_disk_is_a_remark(faulty, scene, monkeypatch):
    def full(*_):
        raise CapsuleError("/somewhere/a.capsule cannot be written: No space left on device.")

    monkeypatch.setattr(capsules, "write_capsule", full)
    planned, records = faulty([1])
    writer = CapsuleWriter(planned, scene.folder)
    assert writer.write(records) == {}
    assert "no capsule: /somewhere/a.capsule cannot be written: No space left on device; " in writer.remark
