"""A prescribed pose of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.custom import CustomPoseSpec
from sweep.runtime.block import Block
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault, what_raised
from sweep.runtime.inputs import BlockInputs
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.own.component_setup import numbers_of, user_objects
from sweep.runtime.phases import Phase


class CustomPose:
    """See :class:`sweep.plan.custom.CustomPoseSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[CustomPoseSpec], context: BatchContext) -> None:
        self.name = name
        self._objects = user_objects(name, specs, context, "pose")
        self._grid = context.grid
        self._mocap = int(context.index.model.body(specs[0].body).mocapid[0])

    @classmethod
    def problems(cls, spec: CustomPoseSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return index.mocap_problems(f"{path}.body", [spec.body])

    one_tick = True
    """A pose that raises must stop its lane in the step that it belongs to."""

    def apply(self, block: Block, inputs: BlockInputs) -> dict[int, Fault]:
        """Phase 3 of a step, and the pose at its end; a fault for each lane in which the class raised."""
        faults: dict[int, Fault] = {}
        for row, phase in enumerate((Phase.CONTINUOUS_PRESCRIBED_STATE, Phase.POST_PHYSICS_SNAPSHOT)):
            time_s = self._grid.time_s(block.start + row)
            for lane in range(len(self._objects)):
                try:
                    self._place(inputs, lane, row, time_s)
                except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
                    faults.setdefault(lane, Fault(tick=block.start, phase=phase, component=self.name, kind="component",
                                                  message=what_raised(error)))  # fmt: skip
        return faults

    def _place(self, inputs: BlockInputs, lane: int, row: int, time_s: float) -> None:
        assert inputs.positions is not None
        assert inputs.quaternions is not None
        position, quaternion = self._objects[lane].pose(time_s)
        position = numbers_of("pose", position, 3, " for a position, not x, y, z")
        quaternion = numbers_of("pose", quaternion, 4, " for an orientation, not w, x, y, z")
        if not (np.isfinite(position).all() and np.isfinite(quaternion).all() and quaternion.any()):
            raise ValueError(f"pose returned {position} and {quaternion}, which is no pose")
        inputs.positions[lane, row, self._mocap] = position
        inputs.quaternions[lane, row, self._mocap] = quaternion
