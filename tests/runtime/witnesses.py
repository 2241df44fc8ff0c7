"""Components and a controller such as a user would write, which the reference runs too: they see, meddle and raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import xxhash

from sweep.runtime import ApplyWrench, Deferred, End, MoveMocap, Proposal, Reads, SetJoint, StateLevel, SwitchEquality
from sweep.runtime.controllers import StateFeedback

LEVELS = {
    "state": Reads(),
    "velocity": Reads(StateLevel.VELOCITY, frozenset({"xpos", "subtree_com"})),
    "full": Reads(StateLevel.FULL, frozenset({"sensordata", "qacc", "xpos"})),
}
"""What a class may declare; ``undeclared`` says nothing and looks at what the full level offers."""

ACTIONS = {"wrench": ApplyWrench, "equality": SwitchEquality, "mocap": MoveMocap, "joint": SetJoint}


class Reader:
    """Declares the level that it is told to."""

    def __init__(self, setup: Any) -> None:
        self.parameters = setup.parameters
        level = self.parameters["level"]
        if level in LEVELS:
            self.reads = LEVELS[level]
        self.fields = sorted(LEVELS["full" if level == "undeclared" else level].fields)

    def seen(self, view: Any) -> Any:
        return np.concatenate([view.qpos, view.qvel, *(view.field(field).reshape(-1) for field in self.fields)])


class Witness(Reader):
    """Digests all that it is shown, and keeps it as one number."""

    def __init__(self, setup: Any) -> None:
        super().__init__(setup)
        self.hash = xxhash.xxh3_64()

    def observe(self, view: Any, state: Any) -> None:
        if view.tick == self.parameters["fails"]:
            raise RuntimeError("blinded")
        self.hash.update(np.concatenate([[view.tick], view.ctrl, self.seen(view)]).tobytes())
        self.hash.update(repr(sorted(state.items())).encode())

    def summary(self) -> dict[str, float]:
        return {"seen": float(self.hash.intdigest() >> 12)}


class Probe(Reader):
    """Measures the last of what it is shown, with noise of its own."""

    width = 3
    streams = ("white", "other")

    def measure(self, view: Any, noise: Any) -> Any:
        if view.tick >= self.parameters["fails"]:
            raise RuntimeError("broken wire")
        return self.seen(view)[-3:] + 0.1 * noise["white"] - noise["other"]


class Meddler(Reader):
    """Counts in domain state how often a joint is beyond a limit, and proposes by a script: at boundary ``tick``."""

    def __init__(self, setup: Any) -> None:
        super().__init__(setup)
        self.name, self.script = setup.name, {entry["tick"]: entry for entry in self.parameters["script"]}
        self.acts_on_physics = any("action" in entry for entry in self.script.values())

    def propose(self, view: Any, state: Any) -> Proposal | None:
        entry = self.script.get(view.tick, {})
        if "fails" in entry:
            raise RuntimeError("no such luck")
        beyond = abs(view.qpos[1]) > self.parameters["limit"]
        if not entry and not beyond:
            return None
        counted = {f"{self.name} beyond": state.get(f"{self.name} beyond", 0) + 1} if beyond else {}
        actions = (deferred(entry["action"], entry["delay_s"]),) if "action" in entry else ()
        end = End(reason=f"{self.name} said so", success=True) if "ends" in entry else None
        facts = {"seen": xxhash.xxh3_64(self.seen(view).tobytes()).hexdigest()} if entry else {}
        return Proposal(facts=facts, state={**counted, **entry.get("state", {})}, actions=actions, end=end)


def deferred(action: list[Any], delay_s: float) -> Deferred:
    """An action as the Manifest writes it: its kind and its fields."""
    kind, fields = action
    plain = {name: tuple(map(float, value)) if isinstance(value, list) else value for name, value in fields.items()}
    return Deferred(action=ACTIONS[kind](**plain), delay_s=delay_s)


class Brittle(StateFeedback):
    """State feedback that raises from a tick on."""

    def __init__(self, setup: Any) -> None:
        super().__init__(setup)
        self.fails = setup.parameters["fails"]

    def compute(self, step: Any) -> Any:
        if (step.tick >= self.fails).any():
            raise ArithmeticError("no solution")
        return super().compute(step)
