"""One block of ticks: the thirteen phases over all lanes.  A block of one tick is a step.

Nothing inside a physics interval looks outside, so the phases of a block run in three strokes: what physics will
be fed (1, 2, 3, 6), physics (4, 7), and everything that only reads (5, 8 to 13).  Within each stroke the order is the
phases' own, and every reader sees the boundary that its phase belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sweep.runtime.block import Block, BlockView
from sweep.runtime.fault import Stop

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch


def run_block(batch: InstanceBatch, block: Block) -> None:
    """Run a block for all lanes that are alive, and the controllers that are due after its last step."""
    # 1 DeferredActionsCommit, 3 ContinuousPrescribedState: no component of this library defers or prescribes yet.
    for command in batch.mailbox.cut(block.start, block.stop):  # 2 ExternalInputCommit
        batch.drivers[command.target].accept(command)
    controls = np.repeat(batch.physics.resting_controls[:, None], block.length, axis=1)
    for driver in batch.drivers.values():  # 6 ActuatorApplication
        driver.apply(block, controls, batch.boundary)

    boundaries = np.empty((batch.lanes, block.length + 1, batch.context.state_width))
    boundaries[:, 0] = batch.boundary
    saved = batch.physics.save()
    # 4 DerivedStateRecompute is the first half of MuJoCo's step, 7 PhysicsStep its second.
    faults: dict[int, Stop] = dict(batch.physics.advance(block, controls, batch.alive, boundaries))

    # 8 PostPhysicsSnapshot: the records are the completed boundaries.
    view = BlockView(block=block, boundaries=boundaries, controls=controls, alive=batch.alive)
    stops = batch.least_stops(view, faults)  # 9 InteractionEvaluation, 10 DomainCommit
    batch.confine(view, stops)
    for device in batch.devices.values():  # 5 DeviceUpdate, which reads what phases before 7 left
        device.update(view)
    for driver in batch.drivers.values():
        driver.settle(view)
    batch.observation.take(view)  # 11 Observer, 12 TraceRecord
    batch.retire(view, stops, saved)
    batch.run_controllers(block)  # 13 ExternalOutputPublish hands them what devices show
