"""Components such as a user would write, for the tests."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sweep.runtime import ApplyWrench, Deferred, End, Proposal, Reads, SetJoint, StateLevel, SwitchEquality
from sweep.runtime.domain.proposal import MoveMocap

KEPT = {}
"""What was seen, by component id: a list of rows (tick, numbers...)."""


class Watcher:
    """Keeps fields of every completed boundary."""

    reads = Reads(StateLevel.VELOCITY, frozenset({"sensordata", "xpos"}))

    def __init__(self, setup):
        self._rows = KEPT.setdefault(setup.name, [])
        self._rows.clear()

    def observe(self, view, state):
        self._rows.append((view.tick, *view.field("sensordata").tolist(), *view.field("xpos")[-1].tolist()))

    def summary(self):
        return {"seen": len(self._rows)}


class ForceWatcher(Watcher):
    reads = Reads(StateLevel.FULL, frozenset({"sensordata", "xpos"}))


class Undeclared:
    """Says nothing of what it reads, so it gets everything."""

    def __init__(self, setup):
        self._rows = KEPT.setdefault(setup.name, [])
        self._rows.clear()

    def observe(self, view, state):
        self._rows.append((view.tick, *view.field("sensordata").tolist(), *view.field("xpos")[-1].tolist()))


class Greedy(Watcher):
    """Reads what it did not declare."""

    def observe(self, view, state):
        view.field("qacc")


class Keeper:
    """Keeps the view itself, which is over when the callback returns."""

    reads = Reads()
    views: ClassVar[list] = []

    def __init__(self, setup):
        self.views.clear()

    def observe(self, view, state):
        self.views.append(view)


class Grabber(Keeper):
    """Writes into what it is shown."""

    def observe(self, view, state):
        view.qpos[0] = 1.0


class StateWatcher:
    """Keeps the domain state that each step committed."""

    reads = Reads()

    def __init__(self, setup):
        self._rows = KEPT.setdefault(setup.name, [])
        self._rows.clear()

    def observe(self, view, state):
        self._rows.append((view.tick, dict(state)))


class Counter:
    """Counts the boundaries at which a joint is beyond a limit, in domain state."""

    reads = Reads()
    acts_on_physics = False

    def __init__(self, setup):
        self._limit = setup.parameters.get("limit", 0.0)
        self._key = setup.parameters.get("key", setup.name)

    def propose(self, view, state):
        if abs(view.joint_position("hinge")) <= self._limit:
            return None
        return Proposal(state={self._key: state.get(self._key, 0) + 1}, facts={"beyond": view.tick})


class Claimant:
    """Writes a value of its own under a name, at one tick."""

    reads = Reads()
    acts_on_physics = False

    def __init__(self, setup):
        self._at, self._value = setup.parameters["tick"], setup.parameters["value"]
        self._ends = setup.parameters.get("ends", False)

    def propose(self, view, state):
        if view.tick != self._at:
            return None
        end = End(reason="said so", success=True) if self._ends else None
        return Proposal(state={"shared": self._value}, end=end)


class Actor:
    """Defers one action at one tick."""

    reads = Reads()

    def __init__(self, setup):
        self._at, self._delay_s = setup.parameters["tick"], setup.parameters.get("delay_s", 0.0)
        kind, values = setup.parameters["action"], dict(setup.parameters["values"])
        kinds = {"wrench": ApplyWrench, "equality": SwitchEquality, "mocap": MoveMocap, "joint": SetJoint}
        self._action = kinds[kind](**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})

    def propose(self, view, state):
        if view.tick != self._at:
            return None
        return Proposal(actions=(Deferred(action=self._action, delay_s=self._delay_s),))


class Raiser:
    """Raises at one tick."""

    reads = Reads()
    acts_on_physics = False

    def __init__(self, setup):
        self._at = setup.parameters["tick"]

    def propose(self, view, state):
        if view.tick == self._at:
            raise RuntimeError("no such luck")

    def observe(self, view, state):
        self.propose(view, state)


class Lift:
    """Moves straight up, and gives up at a time if told to."""

    def __init__(self, setup):
        self._speed, self._until = setup.parameters["speed"], setup.parameters.get("until", np.inf)

    def pose(self, time_s):
        if time_s > self._until:
            raise RuntimeError("out of rail")
        return (0.0, 0.0, self._speed * time_s), (1.0, 0.0, 0.0, 0.0)


class Gauge:
    """Measures a joint with noise of its own."""

    reads = Reads()
    width = 2
    streams = ("white",)

    def __init__(self, setup):
        self._gain, self._fails = setup.parameters.get("gain", 1.0), setup.parameters.get("fails", -1)

    def measure(self, view, noise):
        if view.tick == self._fails:
            raise RuntimeError("broken wire")
        return np.array([view.joint_position("hinge"), view.joint_velocity("hinge")]) + self._gain * noise["white"]


class Scale(Gauge):
    """Measures what the joint's motor delivers, which only a full forward knows."""

    reads = Reads(StateLevel.FULL, frozenset({"sensordata"}))
    width = 1
    streams = ()

    def measure(self, view, noise):
        return view.sensor("force")


class Blurred:
    """Measures an acceleration, and says nothing of what it reads."""

    width = 1

    def __init__(self, setup):
        pass

    def measure(self, view, noise):
        return view.field("qacc")[:1]


class Spring:
    """A drive that pulls towards the command, as a spring with a damper would."""

    def __init__(self, setup):
        self._stiffness, self._fails = setup.parameters.get("stiffness", 5.0), setup.parameters.get("fails", -1)

    def drive(self, command, view):
        if view.tick == self._fails:
            raise RuntimeError("burst hose")
        return self._stiffness * (command[0] - view.joint_position("slider")) - 0.1 * view.joint_velocity("slider")


class Answering:
    """Answers every call with what a test has put into ``answers`` under its parameter."""

    width = 2
    answers: ClassVar[dict] = {}

    def __init__(self, setup):
        self._answer = self.answers[setup.parameters["answer"]]

    def propose(self, view, state):
        return self._answer

    def pose(self, time_s):
        return self._answer

    def measure(self, view, noise):
        return self._answer

    def drive(self, command, view):
        return self._answer

    def observe(self, view, state):
        pass

    def summary(self):
        return self._answer


class Declaring(Answering):
    """Says of itself what a test has put into ``said``."""

    said: ClassVar[dict] = {}

    def __init__(self, setup):
        for name, value in self.said.items():
            setattr(self, name, value)


class Interrupted:
    """Raises KeyboardInterrupt once, at the boundary of its parameter."""

    reads = Reads()
    acts_on_physics = False

    def __init__(self, setup):
        self._tick = setup.parameters["tick"]

    def propose(self, view, state):
        if view.tick == self._tick:
            self._tick = None
            raise KeyboardInterrupt
