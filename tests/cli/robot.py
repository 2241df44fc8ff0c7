"""The robot that the examples of components are about, and a manifest around one of them."""

from __future__ import annotations

import inspect

import yaml

from sweep.cli.components import component_types

ROBOT = """
<mujoco model="arm">
  <option timestep="0.001"/>
  <worldbody>
    <geom name="table" type="plane" size="2 2 .1"/>
    <body name="upper_arm" pos="0 0 .3">
      <joint name="shoulder" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body name="forearm" pos=".3 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/>
        <body name="hand" pos=".2 0 0"><geom name="palm" type="box" size=".03 .03 .01"/><site name="wrist"/></body>
      </body>
    </body>
    <body name="cup" pos=".5 0 .4"><freejoint/><geom name="cup_side" type="cylinder" size=".03 .05" mass=".2"/></body>
    <body name="tray" mocap="true" pos=".5 .3 .3"><geom type="box" size=".1 .1 .01"/></body>
  </worldbody>
  <actuator>
    <motor name="shoulder_motor" joint="shoulder" ctrllimited="true" ctrlrange="-40 40"/>
    <motor name="elbow_motor" joint="elbow" ctrllimited="true" ctrlrange="-20 20"/>
  </actuator>
</mujoco>
"""

OWN_PARTS = '''
class Strain:
    """A sensor."""

    width = 1

    def __init__(self, setup):
        pass

    def measure(self, view, noise):
        return [0.0]


class Hydraulics:
    def __init__(self, setup):
        self._pressure = setup.parameters["pressure"]

    def drive(self, command, view):
        return self._pressure * command


class Overheated:
    """A rule."""

    def __init__(self, setup):
        pass

    def propose(self, view, state):
        return None


class Energy:
    """A measure."""

    def __init__(self, setup):
        pass

    def observe(self, view, state):
        pass

    def summary(self):
        return {}


class Orbit:
    """A motion."""

    def __init__(self, setup):
        pass

    def pose(self, time_s):
        return (0.5, 0.3, 0.3), (1.0, 0.0, 0.0, 0.0)
'''
"""``my_robot/parts.py``: the classes that examples of a user's own components name."""


def example(name):
    """A component's example as plain data."""
    return yaml.safe_load(inspect.cleandoc(component_types()[name].example))


def manifest_around(name):
    """The least manifest with a component's example in it."""
    return {
        "schema": "3.3",
        "model": {"xml": ROBOT},
        "runtime": {"duration_s": "20 ms"},
        "components": {"it": example(name)},
    }
