"""One block of ticks: the thirteen phases over all lanes.  A block of one tick is a step.

Nothing inside a physics interval looks outside, so the phases of a block run in three strokes: what physics will
be fed (1, 2, 3, 6), physics (4, 7), and everything that only reads (5, 8 to 13).  Within each stroke the order is the
phases' own, and every reader sees the boundary that its phase belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.block import Block, BlockView
from sweep.runtime.fault import Stop
from sweep.runtime.inputs import BlockInputs
from sweep.runtime.phases import Phase
from sweep.runtime.reads import StateLevel
from sweep.runtime.stepping import failures, least, step, without

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch


def run_block(batch: InstanceBatch, block: Block) -> None:
    """Run a block for all lanes that are alive, and the controllers that are due after its last step."""
    parts, stops = batch.parts, dict[int, Stop]()
    saved = batch.physics.save()  # P_start as the step before left it, where a lane goes back to whose first step fails
    inputs = _prepare(batch, block, stops)  # 1, 2, 3
    opening = _open(batch, block, inputs, stops)  # 4, and what force-reading Devices see in 5
    for driver in parts.drivers.values():  # 6 ActuatorApplication
        if faults := driver.apply(block, inputs.controls, batch.boundary):
            least(stops, faults, batch.alive)

    boundaries = batch.observation.room(block, batch.boundary)
    placed = batch.physics.save() if parts.own_devices else saved
    stepped = step(batch, block, inputs, stops, boundaries)  # 7 PhysicsStep

    recorded = stepped.recorded if not batch.reading.refreshed else _refreshed(stepped.recorded, opening)
    view = BlockView(block, boundaries, inputs, batch.alive, recorded, opening, stepped.promoted)
    if batch.reading.every_tick:  # otherwise nobody asks for all there is
        view.whole_at_start = lambda lane: batch.physics.data(lane, placed[lane])[1]
        view.whole_at_stop = lambda lane: batch.physics.data(lane)[1]
    _close(batch, view, stops)  # 8 PostPhysicsSnapshot
    for device in parts.own_devices:  # 5 DeviceUpdate of Devices that may raise
        least(stops, device.prepare(view, stops), batch.alive)
    # 9 InteractionEvaluation, 10 DomainCommit, 11 Observer as far as it looks at the domain
    stops = batch.domain.evaluate(view, stops)
    batch.confine(view, stops)
    for device in parts.devices.values():  # 5 DeviceUpdate, which reads what phases before 7 left
        device.update(view)
    for driver in parts.drivers.values():
        driver.settle(view)
    for disturbance in parts.disturbances.values():
        disturbance.settle(view)
    batch.observation.take(view)  # 11 Observer that folds signals, 12 TraceRecord
    batch.retire(view, stops, saved)
    batch.run_controllers(block)  # 13 ExternalOutputPublish hands them what devices show


def _prepare(batch: InstanceBatch, block: Block, stops: dict[int, Stop]) -> BlockInputs:
    """Phases 1 to 3 of every tick of a block, and phase 2's commands handed to their drivers."""
    inputs = batch.physics.inputs(block)
    if batch.actions.commit(block, inputs, batch.physics, batch.alive):  # 1 DeferredActionsCommit
        batch.take_over_state()
    for disturbance in batch.parts.disturbances.values():
        disturbance.apply(block, inputs.wrenches)
    for command in batch.mailbox.cut(block.start, block.stop):  # 2 ExternalInputCommit
        batch.parts.drivers[command.target].accept(command)
        if batch.recorder is not None:
            batch.recorder.commit(command)
    for prescribed in batch.parts.prescribed.values():  # 3 ContinuousPrescribedState
        least(stops, prescribed.apply(block, inputs), batch.alive)
    return inputs


def _open(batch: InstanceBatch, block: Block, inputs: BlockInputs, stops: dict[int, Stop]) -> dict[str, NDArray[Any]]:
    """4 DerivedStateRecompute, as far as someone reads it: the rest of it is the first half of MuJoCo's own step."""
    reading = batch.reading
    forced = reading.eager or (bool(reading.forced) and reading.is_forced(block.start))
    if not forced and not reading.refreshed:
        return {}
    batch.physics.place(inputs)
    level = StateLevel.FULL if forced else StateLevel.VELOCITY
    fields, failed = batch.physics.forward(level, sorted({*reading.opening, *reading.recorded}), batch.alive)
    least(stops, failures(failed, block.start, Phase.DERIVED_STATE_RECOMPUTE), batch.alive)
    return fields


def _close(batch: InstanceBatch, view: BlockView, stops: dict[int, Stop]) -> None:
    """8 PostPhysicsSnapshot: prescribed poses of P_stop, and derived state for those who read it."""
    reading = batch.reading
    if view.inputs.positions is not None:
        batch.physics.pose(view.inputs, view.block.length)
    if reading.closing is StateLevel.STATE:
        return
    wanted = sorted({*reading.closing_fields, *reading.recorded})
    fields, failed = batch.physics.forward(reading.closing, wanted, without(view.alive, stops))
    least(stops, failures(failed, view.block.stop - 1, Phase.POST_PHYSICS_SNAPSHOT), view.alive)
    view.derived = {f: np.concatenate([rows, fields[f][:, None]], axis=1) for f, rows in view.derived.items()}
    if reading.closing is StateLevel.FULL:
        view.closing = fields


def _refreshed(recorded: Mapping[str, NDArray[Any]], opening: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Records of a one-tick block whose first boundary was recomputed, because the integrator leaves them behind."""
    return {**recorded, **{field: opening[field][:, None] for field in recorded if field != "sensordata"}}
