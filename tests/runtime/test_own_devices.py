"""Devices of the user's own keep the contract, and see what MuJoCo computes for the boundary they acquire at."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sweep.plan import stream_key
from sweep.runtime import InstanceBatch, Phase
from sweep.runtime.noise import normals
from sweep.testing import ComponentContract
from tests.runtime.scenes import CART, bits, cart, plan_of

OWN = "tests.runtime.own_components:"


def own(name, **fields):
    return {"type": "device", "class": OWN + name, "period_s": 0.004, "latency_s": 0.003, **fields}


def document(device, **sections):
    base = cart(metrics={}, **sections)
    base["components"]["mine"] = device
    return base


class TestMyDevice(ComponentContract):
    component = "mine"

    def document(self):
        return document(own("Gauge", parameters={"gain": 1.0}, jitter={"type": "uniform", "high_s": 0.002}))

    def variants(self):
        return [{"components.mine.parameters.gain": g, "components.mine.latency_s": g / 1000} for g in (0.5, 1.0, 7.0)]


class TestAForceReader(ComponentContract):
    component = "mine"

    def document(self):
        return document(own("Scale"))

    def variants(self):
        return [{"components.mine.period_s": p} for p in (0.004, 0.007, 0.0011)]


class TestOneThatDeclaresNothing(ComponentContract):
    component = "mine"

    def document(self):
        return document(own("Blurred"))


def test_it_measures_the_boundary_with_noise_of_its_own():
    instance = plan_of(document(own("Gauge"))).instantiate(5)
    instance.advance(12)
    noise = normals(stream_key(5, "mine", "white"), 2, 4).reshape(2, 2)
    plain = plan_of(document(own("Gauge", parameters={"gain": 0.0}))).instantiate(5)
    plain.advance(12)
    noisy, exact = ([e.data["values"] for e in i.events() if e.component == "mine"] for i in (instance, plain))
    assert len(noisy) == 2
    for values, truth, drawn in zip(noisy, exact, noise, strict=True):
        assert bits(values) == bits(np.array(truth) + drawn)


@pytest.mark.parametrize("name", ["Scale", "Blurred"])
@pytest.mark.parametrize("max_block", [1, 3, None])
def test_a_full_forward_uses_the_controls_of_the_step_before(name, max_block):
    device = own(name, latency_s=0.0)
    base = document(device, controllers={})
    plan = plan_of(base)
    instance = plan.instantiate()
    for tick in range(30):
        instance.enqueue_external_input("drive", [0.3 * tick], effective_time_s=tick / 1000)
    batch = instance._batch
    batch._longest = min(batch._longest, max_block or batch._longest)
    instance.advance(30)
    seen = {e.data["acquired_tick"]: e.data["values"] for e in instance.events() if e.component == "mine"}

    model = mujoco.MjModel.from_xml_string(CART.format(integrator="implicitfast"))
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    data.qpos[model.joint("hinge").qposadr[0]] = 0.1
    for tick in range(30):
        if tick in seen:
            mujoco.mj_copyData(other, model, data)
            mujoco.mj_forward(model, other)
            assert bits(seen[tick]) == bits(other.sensordata if name == "Scale" else other.qacc[:1])
        data.ctrl[0] = min(max(0.0 if tick < 1 else 0.3 * (tick - 1), -8.0), 6.0)
        mujoco.mj_step(model, data)
    assert sorted(seen) == [4, 8, 12, 16, 20, 24, 28]


@pytest.mark.parametrize("max_block", [1, 5, None])
def test_one_that_raises_faults_in_device_update_and_has_no_sample_there(max_block):
    base = document(own("Gauge", parameters={"fails": 12}))
    plans = [plan_of(base), plan_of(base, {"components.mine.parameters.fails": -1})]
    batch = InstanceBatch(plans, [0, 0], max_block, trace="events")
    batch.advance(30)
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.component, fault.kind) == (12, Phase.DEVICE_UPDATE, "mine", "device")
    assert fault.message.startswith("RuntimeError: broken wire (own_components.py, line")
    assert list(batch.parts.devices["mine"].event_table(0)["acquired_tick"]) == [4, 8]
    assert max(batch.parts.devices["enc"].event_table(0)["acquired_tick"]) < 12
    assert batch.trace_digest(0) == InstanceBatch(plans[:1], [0], 1).run()[0].trace_digest
