"""The last boundaries of an episode, kept while it runs: what a fault leaves to look at."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.block import BlockView
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reads import STATE_ONLY

Floats = NDArray[np.float64]

KEPT = 50
"""Boundaries kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """Whose number each column is; an element without a name is called by its number.

    Attributes:
        qpos: the joint of each position.
        qvel: the joint of each velocity.
        controls: the actuator of each control.
    """

    qpos: tuple[str, ...]
    qvel: tuple[str, ...]
    controls: tuple[str, ...]

    @classmethod
    def of(cls, index: ModelIndex) -> ColumnNames:
        """Those of a model."""
        model = index.model
        joints, actuators = _named(index.names("jnt")), _named(index.names("actuator"))
        owner = np.searchsorted(model.jnt_qposadr, np.arange(model.nq), side="right") - 1
        inputs = np.repeat(np.arange(len(actuators)), model.actuator_ctrlnum)
        return cls(
            qpos=tuple(joints[joint] for joint in owner.tolist()),
            qvel=tuple(joints[joint] for joint in model.dof_jntid.tolist()),
            controls=tuple(actuators[actuator] for actuator in inputs.tolist()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryHistory:
    """Successive completed boundaries of one lane.

    Attributes:
        first_tick: the boundary of the first row.
        states: ``(rows, 1 + nq + nv + na)`` time, qpos, qvel, act.
        controls: ``(rows, nu)`` what was applied in the step that led there; NaN at boundary 0, which no step led to.
        unfinished: ``(nu,)`` what was fed to the step after the last row, if there was one that faulted.
        names: whose the numbers are.
    """

    first_tick: int
    states: Floats
    controls: Floats
    unfinished: Floats | None
    names: ColumnNames

    @property
    def qpos(self) -> Floats:
        """Positions, ``(rows, nq)``."""
        return self.states[:, 1 : 1 + len(self.names.qpos)]

    @property
    def qvel(self) -> Floats:
        """Velocities, ``(rows, nv)``."""
        first = 1 + len(self.names.qpos)
        return self.states[:, first : first + len(self.names.qvel)]


class RecentBoundaries:
    """An Observer of one lane that remembers the last boundaries of an episode.

    Args:
        kept: how many.
    """

    reads = STATE_ONLY

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        # Rows of successive views: boundary states, and controls that led there.
        self._pieces: deque[tuple[Floats, Floats]] = deque()
        self._rows = 0
        self._last = 0
        self._unfinished: Floats | None = None

    def fold(self, view: BlockView) -> None:
        """Remember the last of the completed steps."""
        steps = view.block.length if view.settled is None else int(view.settled[0])
        if view.block.start == 0:
            self._append(view.boundaries[0, :1], np.full((1, view.controls.shape[2]), np.nan))
        first = max(0, steps - self._kept)
        self._append(view.boundaries[0, first + 1 : steps + 1], view.controls[0, first:steps])
        self._last = view.block.start + steps
        begun = view.through is not None and self._last <= view.through[0]
        self._unfinished = view.controls[0, steps].copy() if begun else None

    def history(self, index: ModelIndex) -> BoundaryHistory:
        """What is remembered; no rows where nothing was observed yet."""
        model = index.model
        rows = [*self._pieces] or [(np.empty((0, 1 + model.nq + model.nv + model.na)), np.empty((0, model.nu)))]
        states, controls = (np.concatenate(part)[-self._kept :] for part in zip(*rows, strict=True))
        return BoundaryHistory(
            first_tick=max(0, self._last - len(states) + 1),
            states=states,
            controls=controls,
            unfinished=self._unfinished,
            names=ColumnNames.of(index),
        )

    def _append(self, states: Floats, controls: Floats) -> None:
        self._pieces.append((states.copy(), controls.copy()))
        self._rows += len(states)
        while self._rows - len(self._pieces[0][0]) >= self._kept:
            self._rows -= len(self._pieces.popleft()[0])


def _named(names: list[str]) -> list[str]:
    return [name or f"#{number}" for number, name in enumerate(names)]
