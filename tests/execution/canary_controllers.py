"""Controllers that keep the rules, and one for each way of breaking them; tests copy this file beside their scene."""

from __future__ import annotations

import os
import random
import signal
import time

import numpy as np

from sweep.runtime import per_lane


class Fine:
    """Keeps its state where it belongs."""

    def __init__(self, setup):
        self.gain = setup.parameters["gain"]

    def initial_state(self):
        return {"sum": np.zeros((len(self.gain), 1))}

    def compute(self, step):
        step.state["sum"] += self.seen(step)
        return -self.gain * (self.seen(step) + step.state["sum"])

    def seen(self, step):
        return step.inputs["enc"].values[:, :1]


class Stateless(Fine):
    def initial_state(self):
        return {}

    def compute(self, step):
        return -self.gain * self.seen(step)


class Mean(Stateless):
    """Mixes its lanes."""

    def compute(self, step):
        return super().compute(step) - self.seen(step).mean()


class FirstGain(Stateless):
    """Gives all lanes the gain of the first."""

    def __init__(self, setup):
        self.gain = setup.parameters["gain"][0, 0]


class Product(Stateless):
    """Leaves the order of a sum to a BLAS."""

    def __init__(self, setup):
        super().__init__(setup)
        self.first = np.linspace(0.1, 1, 66).reshape(2, 33)
        self.second = np.linspace(-1, 1, 33).reshape(33, 1)

    def compute(self, step):
        return -self.gain * ((step.inputs["enc"].values @ self.first) ** 3 @ self.second)


class Keeps(Stateless):
    """Keeps state in itself."""

    def __init__(self, setup):
        super().__init__(setup)
        self.total = np.zeros((setup.lanes, 1))

    def compute(self, step):
        self.total += self.seen(step)
        return -self.gain * self.total


class OwnGenerator(Stateless):
    """Draws for all lanes from one generator."""

    def __init__(self, setup):
        super().__init__(setup)
        self.rng = np.random.default_rng(0)

    def compute(self, step):
        return super().compute(step) + self.rng.normal(size=self.gain.shape)


class ForOne(Stateless):
    """Cannot be made for many lanes."""

    def __init__(self, setup):
        self.gain = np.full((1, 1), setup.parameters["gain"].item())


class AnswersOne(Stateless):
    """Answers for one lane, however many there are."""

    def compute(self, step):
        return super().compute(step)[:1]


class SeededGlobally(Stateless):
    """Is reproducible alone, but not beside another of its kind."""

    def __init__(self, setup):
        super().__init__(setup)
        np.random.seed(0)  # noqa: NPY002

    def compute(self, step):
        return super().compute(step) + np.random.normal(size=self.gain.shape)  # noqa: NPY002


class DrawsGlobally(Stateless):
    def compute(self, step):
        return super().compute(step) + np.random.normal(size=self.gain.shape)  # noqa: NPY002


@per_lane
class LaneDrawsGlobally:
    def __init__(self, setup):
        self.gain = setup.parameters["gain"]

    def compute(self, step):
        return -self.gain * step.inputs["enc"].values[:1] + random.random()


class ReadsTheClock(Stateless):
    def compute(self, step):
        return super().compute(step) + time.perf_counter() % 1.0


@per_lane
class LaneFine:
    def __init__(self, setup):
        self.gain, self.sum = setup.parameters["gain"], 0.0

    def compute(self, step):
        self.sum += step.inputs["enc"].values[0]
        return [-self.gain * self.sum]


class Ignores(Fine):
    """Does nothing with its parameter."""

    def compute(self, step):
        return -self.seen(step)


class Together(Stateless):
    """Where ``width`` is 0, ``gain`` does nothing."""

    def __init__(self, setup):
        self.gain = setup.parameters["gain"] * setup.parameters["width"]


class Raises(Stateless):
    def compute(self, step):
        raise ArithmeticError("no solution")


class Crashes(Stateless):
    def compute(self, step):
        os.kill(os.getpid(), signal.SIGSEGV)


class Hangs(Stateless):
    def compute(self, step):
        time.sleep(60)


class Shouts(Stateless):
    """Commands so much that the physics diverges, from a gain of 5 on."""

    def compute(self, step):
        return np.where(self.gain >= 5, 1e12, 0.0)
