"""Metrics: one number per run, whatever the block, against plain arithmetic on the recorded signals."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from sweep.errors import InvalidInputError
from sweep.plan import load_manifest
from sweep.runtime import InstanceBatch
from sweep.runtime.tracing.recording import record_run
from tests.runtime.scenes import cart, plan_of
from tests.runtime.test_derived_state import OWN, SENSED

STEPS = 60
FOLDS = {
    "rms": lambda x: math.sqrt(math.fsum(v * v for v in x) / len(x)),
    "mean": lambda x: math.fsum(x) / len(x),
    "mean_abs": lambda x: math.fsum(map(abs, x)) / len(x),
    "min": min,
    "max": max,
    "max_abs": lambda x: max(map(abs, x)),
    "final": lambda x: x[-1],
    "final_abs": lambda x: abs(x[-1]),
}


def metric(kind, **fields):
    window = {"window": "at_end"} if kind in ("final", "final_abs", "survived", "observed") else {}
    return {"type": kind, "unit": "x", **window, **fields}


def sensed(metrics, **components):
    document = cart(controllers={}, components=components, metrics=metrics, runtime={"duration_s": STEPS / 1000})
    document["model"]["xml"] = SENSED.format(integrator="Euler")
    return document


def by_hand(full=False):
    """Sensors of every completed boundary."""
    model = mujoco.MjModel.from_xml_string(SENSED.format(integrator="Euler"))
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    data.qpos[model.joint("hinge").qposadr[0]] = 0.1
    rows = []
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        mujoco.mj_copyData(other, model, data)
        mujoco.mj_forward(model, other) if full else mujoco.mj_step1(model, other)
        rows.append(other.sensordata.copy())
    return model, np.array(rows)


@pytest.mark.parametrize("max_block", [1, 7, None])
@pytest.mark.parametrize("kind", list(FOLDS))
def test_a_fold_over_a_joint_is_plain_arithmetic_on_its_signal(kind, max_block):
    plan = plan_of(sensed({"m": metric(kind, joint="hinge", signal="velocity")}))
    signal = record_run(plan, 3).velocities["hinge"].tolist()
    batch = InstanceBatch([plan], [3], max_block)
    (record,) = batch.run()
    assert record.metrics["m"] == pytest.approx(FOLDS[kind](signal), rel=1e-14)


@pytest.mark.parametrize("max_block", [1, None])
@pytest.mark.parametrize("kind", ["mean", "max", "final"])
def test_a_sites_position_is_that_of_the_completed_boundary(kind, max_block):
    plan = plan_of(sensed({"m": metric(kind, site="tip", axis="z"), "all": metric("rms", site="tip")}))
    (record,) = InstanceBatch([plan], [3], max_block).run()
    model, rows = by_hand()
    first = int(model.sensor("where").adr[0])
    heights, positions = rows[:, first + 2].tolist(), rows[:, first : first + 3].ravel().tolist()
    assert record.metrics["m"] == pytest.approx(FOLDS[kind](heights), rel=1e-14)
    assert record.metrics["all"] == pytest.approx(FOLDS["rms"](positions), rel=1e-14)


def test_a_force_sensor_gets_a_full_forward():
    plan = plan_of(sensed({"m": metric("max_abs", sensor="root", axis=2)}))
    (record,) = InstanceBatch([plan], [3]).run()
    model, rows = by_hand(full=True)
    expected = np.abs(rows[:, int(model.sensor("root").adr[0]) + 2]).max()
    assert record.metrics["m"] == expected > 0


def test_survived_is_the_time_until_the_run_stopped():
    fall = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.101}
    plan = plan_of(sensed({"t": metric("survived")}, fall=fall))
    (record,) = InstanceBatch([plan], [0]).run()
    assert record.outcome.reason == "limit_exceeded"
    assert record.metrics["t"] == record.outcome.time_s < STEPS / 1000


def test_observed_is_a_number_that_an_observer_kept():
    seen = {"type": "observer", "class": OWN + "Watcher"}
    metrics = {
        "n": metric("observed", observer="w", quantity="seen"),
        "x": metric("observed", observer="w", quantity="y"),
    }
    (record,) = InstanceBatch([plan_of(sensed(metrics, w=seen))], [0]).run()
    assert record.metrics == {"n": STEPS, "x": None}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"type": "rms", "unit": "m"}, "takes one of"),
        ({"type": "survived", "unit": "s", "joint": "hinge", "window": "at_end"}, "no signal"),
        ({"type": "observed", "unit": "", "joint": "hinge", "window": "at_end"}, "go together"),
        ({"type": "rms", "unit": "m", "site": "tip", "axis": 2}, "x, y or z"),
        ({"type": "rms", "unit": "m", "sensor": "root", "axis": "z"}, "a number"),
        ({"type": "rms", "unit": "m", "joint": "hinge", "axis": "z"}, "site or sensor"),
        ({"type": "rms", "unit": "m", "site": "tp"}, "did you mean 'tip'"),
        ({"type": "rms", "unit": "m", "sensor": "root", "axis": 3}, "entries 0 .. 2"),
        ({"type": "final", "unit": "m", "joint": "hinge"}, "at_end"),
        ({"type": "observed", "unit": "", "observer": "w", "quantity": "n", "window": "at_end"}, "observer"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(fields, said):
    with pytest.raises(InvalidInputError) as caught:
        plan_of(load_manifest(sensed({"m": fields})).document())
    assert said in str(caught.value)
