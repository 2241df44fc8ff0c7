"""How an episode stops early: faults and domain ends are values, and the least of them wins."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sweep.runtime.phases import Phase

_RUNTIME = str(Path(__file__).parent)

FaultKind = Literal["diverged", "overflow", "mujoco_error", "controller", "device", "component", "domain_conflict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A broken invariant.

    Attributes:
        tick: the step that broke it.
        phase: where in that step.
        component: who, ``""`` for the physics.
        kind: what kind.
        message: one sentence for people.
    """

    tick: int
    phase: Phase
    component: str = ""
    kind: FaultKind
    message: str

    @property
    def order(self) -> tuple[int, int, str]:
        """Several stops of one lane: the least of these wins."""
        return self.tick, int(self.phase), self.component

    @property
    def settled(self) -> int:
        """First tick whose frame does not exist: a step that faults after TraceRecord is settled."""
        return self.tick + (self.phase > Phase.TRACE_RECORD)

    def __str__(self) -> str:
        who = f" in {self.component!r}" if self.component else ""
        return f"{self.kind} at tick {self.tick} in {self.phase.title}{who}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnd:
    """A domain decision that the episode is over; its step completes, nothing of a later tick exists.

    Attributes:
        tick: the step that committed it.
        component: the Interaction that proposed it.
        reason: why, in the domain's words.
        success: whether that is a success.
    """

    tick: int
    component: str
    reason: str
    success: bool
    phase: Phase = Phase.DOMAIN_COMMIT

    @property
    def order(self) -> tuple[int, int, str]:
        """Several stops of one lane: the least of these wins."""
        return self.tick, int(self.phase), self.component

    @property
    def settled(self) -> int:
        """First tick whose frame does not exist."""
        return self.tick + 1


Stop = Fault | EpisodeEnd


def what_raised(error: BaseException) -> str:
    """An exception of user code in one line: its type, its text, and the user's line that it came from, if any."""
    text = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_RUNTIME)]
    where = f" ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else ""
    return f"{type(error).__name__}: {text}".rstrip(": ") + where
