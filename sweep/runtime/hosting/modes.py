"""Execution modes: when a host's steps happen and who may speak, never what they do."""

from __future__ import annotations

import math

from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.clock import Grid
from sweep.runtime.hosting.pacing import Pacer, WallClock

PACED = ("realtime_paced", "rendered", "operator_training")
"""Modes in which simulated time follows the wall clock."""

MODES = ("unbounded", "deterministic_ci", *PACED)

RECORDED_ONLY = ("deterministic_ci",)
"""Modes that refuse input whose tick the wall clock would decide."""


def pacer_of(mode: str, pace: float, strict: bool | float, grid: Grid, clock: WallClock) -> Pacer | None:
    """The pacing of a mode; None where a step begins at once.

    Raises:
        InvalidInputError: an unknown mode, a pace that is not positive, pacing asked of a mode that has none.
    """
    if problems := _problems(mode, pace, strict):
        raise InvalidInputError("host", problems)
    if mode not in PACED:
        return None
    interval_s = float(grid.timestep) / pace
    tolerance_s = (interval_s if strict else None) if isinstance(strict, bool) else strict
    return Pacer(interval_s, tolerance_s, clock)


def _problems(mode: str, pace: float, strict: bool | float) -> list[Problem]:
    problems = []
    if mode not in MODES:
        problems.append(Problem("mode", f"unknown mode {mode!r}{did_you_mean(mode, MODES)}"))
    elif mode not in PACED and (pace != 1.0 or strict is not False):
        asked = "strict" if pace == 1.0 else "pace"
        problems.append(Problem(asked, f"{mode!r} knows no wall clock; these follow it: {', '.join(PACED)}"))
    if not 0 < pace < math.inf:
        problems.append(Problem("pace", f"is simulated seconds per second, above 0; found {pace!r}"))
    if not isinstance(strict, bool) and not strict > 0:
        problems.append(Problem("strict", f"is True, or a lateness above 0 [s]; found {strict!r}"))
    return problems
