"""What a part of the bench returns: one number a measure, and whether it means the same on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class UnmeasuredError(RuntimeError):
    """A part could not be measured; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One thing that was measured.

    Attributes:
        what: its name within its part, the same each time: the baseline is looked up by it.
        value: what was found ...
        unit: ... in this.
        aim: what it shall be at most (at least, where more is better); None where nothing was set.
        is_ratio: of two things measured in turn on one machine, hence comparable with a baseline from another one.
        more_is_better: as of a share, a speed-up.
    """

    what: str
    value: float
    unit: str = "x"
    aim: float | None = None
    is_ratio: bool = False
    more_is_better: bool = False

    @property
    def misses_aim(self) -> bool:
        """Is it worse than it shall be?"""
        return self.aim is not None and (self.value < self.aim if self.more_is_better else self.value > self.aim)

    def worsening(self, accepted: float) -> float:
        """By which fraction it is worse than what was accepted; negative where it is better."""
        return (accepted / self.value if self.more_is_better else self.value / accepted) - 1.0

    def to_json(self) -> dict[str, Any]:
        """What a file keeps of it."""
        aim = {} if self.aim is None else {"aim": self.aim}
        return {"what": self.what, "value": round(self.value, 4), "unit": self.unit, "ratio": self.is_ratio, **aim}


def ratio(what: str, value: float, *, aim: float | None = None, unit: str = "x") -> Measure:
    """A ratio that is better when it is less."""
    return Measure(what=what, value=value, unit=unit, aim=aim, is_ratio=True)


def share(what: str, value: float, *, aim: float | None = None, unit: str = "") -> Measure:
    """A ratio that is better when it is more: a share, a speed-up."""
    return Measure(what=what, value=value, unit=unit, aim=aim, is_ratio=True, more_is_better=True)
