"""Failures that have one cause are one thing to know."""

from __future__ import annotations

import pytest

from sweep.results import Failures, Outcome, Status
from tests.analysis.synthetic import cell, fell, record

FAULT = {"status": Status.FAULTED, "phase": "PhysicsStep", "kind": "diverged", "component": "arm"}


def failing(seed, message="", **outcome):
    return record(cell(), seed, outcome=Outcome(**{**FAULT, "message": message, **outcome}))


def test_numbers_in_messages_are_no_other_cause():
    told = ["qpos[3] = -1.5e+09 at 0x7f3a", "qpos[11] = 2 at 0x1b", "qpos[0] = 0.25 at 0x0"]
    (group,) = Failures(failing(seed, message) for seed, message in enumerate(told)).groups
    assert (group.count, group.run_id) == (3, failing(0).run_id)
    assert group.outcome.message == told[0]


@pytest.mark.parametrize(
    "other",
    [
        {"status": Status.TIMED_OUT},
        {"phase": "Observer"},
        {"kind": "component"},
        {"component": "leg"},
        {"message": "something else"},
    ],
)
def test_anything_else_is(other):
    assert [group.count for group in Failures([failing(0), failing(1, **other), failing(2)]).groups] == [2, 1]


def test_who_had_a_lost_run_in_hand_is_no_cause():
    stories = ["attempt 1, alone, by worker 1: died (signal 11)", "attempt 2, with 3 others, by worker 9: died"]
    lost = [record(cell(), s, outcome=Outcome(status=Status.LOST, message=m)) for s, m in enumerate(stories)]
    (group,) = Failures(lost).groups
    assert str(group) == f"lost: {stories[0]}"


def test_only_failures_count():
    failures = Failures()
    for status in Status:
        group = failures.add(record(cell(), 0, outcome=Outcome(status=status)))
        assert (group is not None) == (status in (Status.FAULTED, Status.TIMED_OUT, Status.LOST))
    assert failures.add(record(cell(), 0, outcome=fell())) is None
    assert len(failures) == 3


def test_a_group_reads_like_a_sentence():
    group = Failures().add(failing(0, "qvel[2] is not finite", tick=350, time_s=0.35))
    assert str(group) == "faulted at 0.35 s in PhysicsStep (arm): qvel[2] is not finite"
