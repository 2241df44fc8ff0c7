"""Drivers of the user's own keep the contract, and their law sees P_n."""

from __future__ import annotations

import mujoco
import pytest

from sweep.runtime import InstanceBatch, Phase
from sweep.testing import ComponentContract
from tests.runtime.scenes import CART, bits, cart, plan_of

OWN = "tests.runtime.own_components:"


def document(**fields):
    spring = {"type": "driver", "class": OWN + "Spring", "actuators": "push", "command_latency_s": 0.002, **fields}
    base = cart(metrics={})
    base["components"]["drive"] = spring
    return base


class TestMyDrive(ComponentContract):
    component = "drive"

    def document(self):
        return document(
            parameters={"stiffness": 5.0}, drop_probability=0.1, jitter={"type": "uniform", "high_s": 0.001}
        )

    def variants(self):
        return [
            {"components.drive.parameters.stiffness": k, "components.drive.command_latency_s": k / 1000}
            for k in (1.0, 5.0, 7.0)
        ]


def test_its_law_sees_the_boundary_that_the_step_starts_from():
    base = {**document(), "controllers": {}}
    instance = plan_of(base).instantiate()
    instance.enqueue_external_input("drive", [0.5])
    instance.advance(60)
    model = mujoco.MjModel.from_xml_string(CART.format(integrator="implicitfast"))
    data = mujoco.MjData(model)
    data.qpos[1] = 0.1
    for tick in range(60):
        command = 0.5 if tick >= 2 else 0.0
        data.ctrl[0] = min(max(5.0 * (command - data.qpos[0]) - 0.1 * data.qvel[0], -8.0), 6.0)
        mujoco.mj_step(model, data)
    assert bits(instance.snapshot().qpos) == bits(data.qpos)


@pytest.mark.parametrize("max_block", [1, None])
def test_one_that_raises_faults_in_actuator_application(max_block):
    base = document(parameters={"fails": 12})
    plans = [plan_of(base), plan_of(base, {"components.drive.parameters.fails": -1})]
    batch = InstanceBatch(plans, [0, 0], max_block, trace="events")
    batch.advance(30)
    fault = batch.stops[0]
    assert (fault.tick, fault.phase, fault.component) == (12, Phase.ACTUATOR_APPLICATION, "drive")
    assert fault.message.startswith("RuntimeError: burst hose (own_components.py, line")
    assert max(batch.parts.devices["enc"].event_table(0)["acquired_tick"]) == 12
    assert list(batch.stops) == [0]
