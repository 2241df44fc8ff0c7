"""Recording one run in full, to look at it: every boundary's joints and every step's controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sweep.plan.plan import Plan
from sweep.results.record import RunRecord
from sweep.runtime.batch import InstanceBatch

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A run and its signals.

    Attributes:
        record: what the run left behind.
        batch: the batch of one lane that it ran in.
        time_s: ``(steps,)`` time at the end of each step [s].
        positions: joint -> ``(steps,)`` position [rad or m].
        velocities: joint -> ``(steps,)`` velocity [rad/s or m/s].
        controls: actuator -> ``(steps,)`` control applied during each step.
        references: joint -> ``(steps,)`` reference position, where the manifest has one.
    """

    record: RunRecord
    batch: InstanceBatch = field(repr=False)
    time_s: Floats
    positions: Mapping[str, Floats]
    velocities: Mapping[str, Floats]
    controls: Mapping[str, Floats]
    references: Mapping[str, Floats]


def record_run(plan: Plan, seed: int) -> Recording:
    """Run one Plan under one seed alone, and keep its signals."""
    batch = InstanceBatch([plan], [seed], trace="full")
    (record,) = batch.run()
    assert batch.recorder is not None
    states, controls = batch.recorder.boundaries(0)[1:], batch.recorder.controls(0)
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
        batch=batch,
        time_s=states[:, 0],
        positions={name: states[:, column] for name, column in zip(joints, positions.tolist(), strict=True)},
        velocities={name: states[:, column] for name, column in zip(joints, velocities.tolist(), strict=True)},
        controls={
            name: controls[:steps, column]
            for name in index.names("actuator")
            for column in index.controls([name])[:1].tolist()
        },
        references=references,
    )
