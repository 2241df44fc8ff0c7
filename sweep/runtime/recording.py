"""Recording one run in full, to look at it: every boundary's joints and every step's controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sweep.plan.plan import Plan
from sweep.results.record import RunRecord
from sweep.runtime.batch import InstanceBatch
from sweep.runtime.block import BlockView
from sweep.runtime.reads import STATE_ONLY

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A run and its signals.

    Attributes:
        record: what the run left behind.
        time_s: ``(steps,)`` time at the end of each step [s].
        positions: joint -> ``(steps,)`` position [rad or m].
        velocities: joint -> ``(steps,)`` velocity [rad/s or m/s].
        controls: actuator -> ``(steps,)`` control applied during each step.
        references: joint -> ``(steps,)`` reference position, where the manifest has one.
    """

    record: RunRecord
    time_s: Floats
    positions: Mapping[str, Floats]
    velocities: Mapping[str, Floats]
    controls: Mapping[str, Floats]
    references: Mapping[str, Floats]


class _Recorder:
    """An Observer of one lane that keeps everything."""

    reads = STATE_ONLY

    def __init__(self) -> None:
        self._states: list[Floats] = []
        self._controls: list[Floats] = []

    def fold(self, view: BlockView) -> None:
        """Keep the completed steps."""
        steps = view.block.length if view.settled is None else int(view.settled[0])
        self._states.append(view.boundaries[0, 1 : steps + 1].copy())
        self._controls.append(view.controls[0, :steps].copy())

    def columns(self) -> tuple[Floats, Floats]:
        """States and controls, a row per step."""
        return np.concatenate(self._states), np.concatenate(self._controls)


def record_run(plan: Plan, seed: int) -> Recording:
    """Run one Plan under one seed alone, and keep its signals."""
    recorder = _Recorder()
    batch = InstanceBatch([plan], [seed], observers=[recorder])
    (record,) = batch.run()
    states, controls = recorder.columns()
    index, steps = batch.context.index, len(states)
    joints = index.joint_names()
    positions, velocities = batch.context.position_columns(joints), batch.context.velocity_columns(joints)
    references = {
        joint: table.positions(1, steps + 1)[0, :, column]
        for table in batch.context.references.values()
        for column, joint in enumerate(table.joints)
    }
    return Recording(
        record=record,
        time_s=states[:, 0],
        positions={name: states[:, column] for name, column in zip(joints, positions.tolist(), strict=True)},
        velocities={name: states[:, column] for name, column in zip(joints, velocities.tolist(), strict=True)},
        controls={
            name: controls[:, column]
            for name in index.names("actuator")
            for column in index.controls([name])[:1].tolist()
        },
        references=references,
    )
