"""Lazy derived state: what a reader declares is what MuJoCo computes of that boundary, and nothing else changes."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sweep.runtime import InstanceBatch
from tests.runtime import own_components
from tests.runtime.scenes import CART, bits, cart, plan_of

SENSED = CART.replace(
    '<sensor><actuatorfrc name="force" actuator="push"/></sensor>',
    '<sensor><accelerometer name="acc" site="tip"/><force name="root" site="tip"/><gyro name="gyro" site="tip"/>'
    '<framepos name="where" objtype="site" objname="tip"/><actuatorfrc name="effort" actuator="push"/></sensor>',
).replace('size=".03" mass=".2"', 'size=".03" mass=".2"').replace(
    "</body>\n    </body>", '<site name="tip" pos="0 0 .6"/></body>\n    </body>'
)  # fmt: skip
OWN = "tests.runtime.own_components:"


def sensed(components, *, integrator="implicitfast", **runtime):
    document = cart(controllers={}, components=components, metrics={})
    document["model"]["xml"] = SENSED.format(integrator=integrator)
    document["runtime"] |= runtime
    return document


def by_hand(integrator, steps, full):
    """Every completed boundary's sensors and last body, by mj_step and mj_forward alone."""
    model = mujoco.MjModel.from_xml_string(SENSED.format(integrator=integrator))
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    data.qpos[model.joint("hinge").qposadr[0]] = 0.1
    rows = []
    for tick in range(1, steps + 1):
        mujoco.mj_step(model, data)
        mujoco.mj_copyData(other, model, data)
        mujoco.mj_forward(model, other) if full else mujoco.mj_step1(model, other)
        rows.append((tick, *other.sensordata.tolist(), *other.xpos[-1].tolist()))
    return rows


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize(("watcher", "full"), [("Watcher", False), ("ForceWatcher", True), ("Undeclared", True)])
def test_observers_see_the_completed_boundary_as_mujoco_computes_it(integrator, watcher, full):
    """Whatever the integrator leaves behind: a declared level is served, an undeclared one gets a full forward."""
    plan = plan_of(sensed({"w": {"type": "observer", "class": OWN + watcher}}, integrator=integrator))
    batch = InstanceBatch([plan], [0])
    batch.advance(40)
    expected = by_hand(integrator, 40, full)
    seen = own_components.KEPT["w"]
    force = slice(1, 7)  # accelerometer and force: only a full forward computes them
    for mine, theirs in zip(seen, expected, strict=True):
        if not full:
            mine, theirs = (row[:1] + row[7:13] + row[14:] for row in (mine, theirs))
        assert bits(mine) == bits(theirs)
    assert not full or np.abs(np.array(seen)[:, force]).max() > 1.0


@pytest.mark.parametrize("max_block", [1, 3, None])
def test_lazy_and_eager_are_bit_identical(max_block):
    components = {
        "v": {"type": "observer", "class": OWN + "Watcher"},
        "f": {"type": "observer", "class": OWN + "ForceWatcher"},
    }
    seen = []
    for watchers, derived_state in ((components, "lazy"), (components, "eager"), ({}, "lazy")):
        plan = plan_of(sensed(watchers, derived_state=derived_state))
        batch = InstanceBatch([plan], [5], max_block)
        batch.advance(60)
        seen.append((batch.trace_digest(0), repr(own_components.KEPT)))
    assert seen[0] == seen[1]
    assert seen[0][0] == seen[2][0]
