"""What went wrong in a lane whose numbers are no longer numbers, or whose warnings rose."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.runtime.block import Block
from sweep.runtime.fault import Fault, FaultKind
from sweep.runtime.phases import Phase

Floats = NDArray[np.float64]

LARGEST = 1e10
"""MuJoCo's own bound for a bad value, mjMAXVAL."""

_DIVERGENCE = ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL")
_WARNINGS = [name.removeprefix("mjWARN_") for name in mujoco.mjtWarning.__members__ if name != "mjNWARNING"]


def divergence(
    model: mujoco.MjModel, block: Block, rows: Floats, bad: NDArray[np.bool_], counters: NDArray[np.int32]
) -> Fault:
    """The fault of one lane; its rows from the faulting step on become its last good boundary.

    Args:
        model: the nominal model.
        block: the ticks.
        rows: ``(length + 1, width)`` boundary rows, of which some are changed.
        bad: ``(length,)`` whether the boundary after each step has a number that is not finite or too large.
        counters: how often each kind of warning rose.
    """
    # The rollout stops a lane in the step whose warning rose: from there its time stands still.
    advancing = np.flatnonzero(np.diff(rows[:, 0]) > 0)
    step = int(advancing[-1]) if len(advancing) else 0
    risen = [name for name, count in zip(_WARNINGS, counters.tolist(), strict=True) if count]
    if bad.any() and bad.argmax() < step:
        # MuJoCo warns of a bad state when the next step begins: that step does not exist any more.
        step, risen = int(bad.argmax()), []
    diverged = bad.any() or any(name in _DIVERGENCE for name in risen)
    kind: FaultKind = "diverged" if diverged else "overflow"
    where = _first_bad(model, rows[step + 1])
    message = " and ".join(part for part in (", ".join(risen), where) if part)
    # An injected boundary may itself be bad: nothing may be computed from it.
    rows[step + 1 :] = np.where(np.abs(rows[step]) <= LARGEST, rows[step], 0.0)
    return Fault(tick=block.start + step, phase=Phase.PHYSICS_STEP, kind=kind, message=message)


def _first_bad(model: mujoco.MjModel, row: Floats) -> str:
    bad = np.flatnonzero(~(np.abs(row) <= LARGEST))
    if not len(bad):
        return ""
    column, value = int(bad[0]), float(row[bad[0]])
    for field, count in (("time", 1), ("qpos", model.nq), ("qvel", model.nv), ("act", model.na)):
        if column < count:
            return f"{field}[{column}] is {value:g} after the step"
        column -= int(count)
    raise AssertionError(column)
