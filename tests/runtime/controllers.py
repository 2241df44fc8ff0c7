"""Controllers that do what user code does."""

from __future__ import annotations

import numpy as np

from sweep.runtime import per_lane


class Gain:
    """-gain * first input column; raises, in lanes whose ``bad`` is above 0.5, from tick ``at`` on."""

    def __init__(self, setup):
        self.gain = setup.parameters["gain"]
        self.bad = setup.parameters["bad"]
        self.at = setup.parameters["at"]
        self.input = next(iter(setup.inputs))

    def compute(self, step):
        guilty = (self.bad[:, 0] > 0.5) & (step.tick >= self.at[:, 0])
        if guilty.any():
            raise ArithmeticError(f"no solution at tick {step.tick}")
        return -self.gain * step.inputs[self.input].values[:, :1]


@per_lane
class LaneGain:
    """The same for one lane."""

    def __init__(self, setup):
        self.setup = setup
        self.input = next(iter(setup.inputs))

    def compute(self, step):
        p = self.setup.parameters
        if p["bad"] > 0.5 and step.tick >= p["at"]:
            raise ArithmeticError(f"no solution at tick {step.tick}")
        return -p["gain"] * step.inputs[self.input].values[:1]


class Integral(Gain):
    """With state of its own, which a raise in the middle of a change must not spoil."""

    def initial_state(self):
        return {"sum": np.zeros((len(self.gain), 1))}

    def compute(self, step):
        step.state["sum"] += step.inputs[self.input].values[:, :1]
        return super().compute(step) - step.state["sum"]


class NanGain(Gain):
    """Does not raise: its command is not a number."""

    def compute(self, step):
        command = -self.gain * step.inputs[self.input].values[:, :1]
        command[(self.bad[:, 0] > 0.5) & (step.tick >= self.at[:, 0])] = np.nan
        return command


class Shape(Gain):
    """Returns whatever it is told to."""

    def compute(self, step):
        returned = {"flat": np.zeros(1), "wide": np.zeros((1, 3)), "none": None, "text": "abc"}
        return returned.get(self.kind, {"x": np.zeros((1, 1))})

    def __init__(self, setup):
        super().__init__(setup)
        self.kind = setup.parameters["kind"]


class Vandal(Gain):
    """Writes into what it was given."""

    def compute(self, step):
        step.inputs[self.input].values[:] = 7.0
        return -self.gain


class Reuser(Gain):
    """Returns one array again and again."""

    def compute(self, step):
        self.gain += step.inputs[self.input].values[:, :1]
        return self.gain
