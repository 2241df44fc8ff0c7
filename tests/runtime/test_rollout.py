"""MuJoCo's rollout is the same by the short way and by the public one."""

from __future__ import annotations

import mujoco
import pytest
from mujoco import batch

from sweep.runtime import InstanceBatch
from tests.runtime.test_faults import HEIGHTS, stacked


@pytest.fixture
def calls(monkeypatch):
    """The public rollouts of blocks, by their steps; those that look for the tick of an error are left out."""
    calls = []
    public = batch.Batch.rollout

    def counted(self, nstep, control=None, control_spec=0, record=(), ids=None, out=None):
        calls.append(nstep) if out else None
        return public(self, nstep, control, control_spec, record, ids, out)

    monkeypatch.setattr(batch.Batch, "rollout", counted)
    return calls


@pytest.mark.parametrize("max_block", [None, 7])
@pytest.mark.parametrize("measures", ["gyro", "accelerometer"])  # fields are recorded, and boundaries alone
def test_an_unknown_version_of_mujoco_is_asked_in_public_and_says_the_same(calls, monkeypatch, measures, max_block):
    imu = {"type": "imu", "body": "b0", "measures": measures, "period_s": 0.006}
    plans = stacked("25K", HEIGHTS, imu=imu)  # lanes complete, overflow, and make MuJoCo raise
    known = InstanceBatch(plans, [3] * 5, max_block).run()
    assert not calls
    monkeypatch.setattr(mujoco, "__version__", "4.1.0")
    assert InstanceBatch(plans, [3] * 5, max_block).run() == known
    assert calls
    assert {record.outcome.kind for record in known} == {None, "overflow", "mujoco_error"}


def test_the_version_that_is_installed_is_a_known_one(calls):
    """Where this fails, look at what ``Batch.rollout`` calls in this version, and add it to those that are known."""
    InstanceBatch(stacked("1M"), [3]).run()
    assert not calls
