"""Small manifests and helpers that the tests of the runtime share."""

from __future__ import annotations

import copy
from functools import cache

from sweep.config.load import load_spec
from sweep.plan import load_manifest
from sweep.runtime import resolve_plan

CART = """
<mujoco>
  <option timestep="0.001" integrator="{integrator}"/>
  <worldbody>
    <body><joint name="slider" type="slide" axis="1 0 0" damping="0.1"/><geom type="box" size=".1 .1 .1" mass="1"
      contype="0" conaffinity="0"/>
      <body><joint name="hinge" type="hinge" axis="0 1 0" damping="0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".2" contype="0" conaffinity="0"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="slider" ctrllimited="true" ctrlrange="-8 6"/><motor name="twist" joint="hinge"/>
  </actuator>
  <sensor><actuatorfrc name="force" actuator="push"/></sensor>
</mujoco>
"""


def cart(*, integrator="implicitfast", **sections):
    """A cart with a pole; sections replace or add to the document's."""
    document = {
        "schema": "3.3",
        "model": {"xml": CART.format(integrator=integrator), "initial": {"hinge": 0.1}},
        "runtime": {"timestep_s": 0.001, "duration_s": 0.2},
        "components": {
            "enc": {"type": "encoder", "joints": ["slider", "hinge"], "measures": ["position", "velocity"],
                    "period_s": 0.003, "latency_s": 0.002, "white_std": 0.001, "velocity_white_std": 0.01},
            "drive": {"type": "torque", "actuators": "push", "command_latency_s": 0.001},
        },
        "controllers": {
            "fb": {"class": "sweep.runtime.controllers:StateFeedback", "period_s": 0.005, "inputs": "enc",
                   "outputs": "drive", "parameters": {"gain": [1.0, -40.0, 2.0, -8.0]}},
        },
        "metrics": {"angle": {"type": "rms", "joint": "hinge", "unit": "rad", "window": "until_end"}},
    }  # fmt: skip
    return {**document, **copy.deepcopy(sections)}


def plan_of(document, parameters=None):
    return resolve_plan(load_manifest(document), parameters or {})


@cache
def scene_manifest(name):
    spec = load_spec([f"scene={name}"])
    return load_manifest(spec.manifest, folder=spec.scene_dir)


def bits(numbers):
    """Floats compared by their bits, so that -0.0 is not 0.0 and NaN is itself."""
    return [float(x).hex() for x in numbers]


def samples(instance, component, episode=None):
    """The sample events of a device: (acquired tick, delivered tick) each."""
    return [
        (e.data["acquired_tick"], e.data["delivered_tick"])
        for e in instance.events()
        if e.kind == "sample" and e.component == component and episode in (None, e.episode_index)
    ]
