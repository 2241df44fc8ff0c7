"""Physics of a block, and what sensors of forces read on its way.

A force or an acceleration at a boundary is that of the controls which led there, so it takes a full forward before new
ones apply.  Where controls rest, the step that begins at the boundary computes the very same numbers: then they are
read off its record, and only where controls change is the block's physics cut for a forward.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.block import Block
from sweep.runtime.fault import Fault, Stop
from sweep.runtime.inputs import BlockInputs
from sweep.runtime.phases import Phase
from sweep.runtime.reads import StateLevel

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch

Floats = NDArray[np.float64]


class Stepped(NamedTuple):
    """What physics left behind.

    Attributes:
        recorded: MjData fields that each step computed of the boundary it started from, ``(lanes, length, ...)``.
        promoted: by tick, sensordata of a full forward before that tick's controls applied, ``(lanes, nsensordata)``.
    """

    recorded: Mapping[str, NDArray[Any]]
    promoted: Mapping[int, Floats] = MappingProxyType({})


def step(
    batch: InstanceBatch, block: Block, inputs: BlockInputs, stops: dict[int, Stop], boundaries: Floats
) -> Stepped:
    """7 PhysicsStep of every tick of a block, and 4 DerivedStateRecompute where a sensor of forces needs it.

    Args:
        batch: the batch.
        block: the ticks.
        inputs: what each step is fed.
        stops: how lanes stopped in this block so far; those that stop here are added.
        boundaries: ``(lanes, length + 1, width)``, filled from row 1 on.
    """
    due = batch.reading.sensed_at(block) if batch.reading.sensing else []
    changing = [tick for tick in due if _controls_change(batch, block, inputs, tick)] if due else due
    if not changing:
        return Stepped(_stretch(batch, block, inputs, stops, boundaries, due))
    promoted: dict[int, Floats] = {}
    found = []
    for start, stop in itertools.pairwise(sorted({block.start, *changing, block.stop})):
        a, b = start - block.start, stop - block.start
        fed = inputs.part(a, b)
        if start in changing:
            batch.physics.place(fed)
            fields, failed = batch.physics.forward(StateLevel.FULL, ("sensordata",), _stepping(batch, stops))
            least(stops, failures(failed, start, Phase.DERIVED_STATE_RECOMPUTE), batch.alive)
            promoted[start] = fields["sensordata"]
        found.append(_stretch(batch, Block(start, stop), fed, stops, boundaries[:, a : b + 1], due))
    return Stepped({f: np.concatenate([part[f] for part in found], axis=1) for f in found[0]}, promoted)


def _stretch(batch: InstanceBatch, block: Block, fed: BlockInputs, stops: dict[int, Stop], boundaries: Floats,
             due: Sequence[int]) -> Mapping[str, NDArray[Any]]:  # fmt: skip
    """7 PhysicsStep of a stretch before which nobody recomputes anything; what was recorded."""
    everyone = batch.living == batch.lanes and not stops
    ids = None if everyone else np.flatnonzero(_stepping(batch, stops))
    faults, recorded = batch.physics.advance(block, fed, ids, boundaries, batch.reading.recorded)
    if faults:
        least(stops, {lane: _as_promoted(fault, due) for lane, fault in faults.items()}, batch.alive)
    return recorded


def least(stops: dict[int, Stop], more: Mapping[int, Stop] | None, alive: NDArray[np.bool_]) -> None:
    """Of several things that stop a lane, the least (tick, phase, component) happened."""
    for lane, stop in (more or {}).items():
        if alive[lane] and (lane not in stops or stop.order < stops[lane].order):
            stops[lane] = stop


def failures(messages: Mapping[int, str], tick: int, phase: Phase) -> dict[int, Stop]:
    """The faults of lanes in which MuJoCo raised."""
    return {
        lane: Fault(tick=tick, phase=phase, kind="mujoco_error", message=message) for lane, message in messages.items()
    }


def without(alive: NDArray[np.bool_], lanes: Collection[int]) -> NDArray[np.bool_]:
    """The lanes alive but for some."""
    if not lanes:
        return alive
    running = alive.copy()
    running[list(lanes)] = False
    return running


def _controls_change(batch: InstanceBatch, block: Block, inputs: BlockInputs, tick: int) -> bool:
    """Whether a step's controls are others than those of the step before, in any lane and bit."""
    row = tick - block.start
    before = inputs.controls[:, row - 1] if row else batch.physics.controls()
    now = inputs.controls[:, row]
    # Of dead lanes nothing is read.
    return bool((now.view(np.int64) != before.view(np.int64))[batch.alive].any())


def _stepping(batch: InstanceBatch, stops: Mapping[int, Stop]) -> NDArray[np.bool_]:
    """``(lanes,)``: a lane that stops after its physics steps, too."""
    return without(batch.alive, [lane for lane, stop in stops.items() if stop.phase <= Phase.PHYSICS_STEP])


def _as_promoted(fault: Fault, due: Sequence[int]) -> Fault:
    """A forward that a step makes instead of us fails in our place."""
    if fault.kind == "mujoco_error" and fault.tick in due:
        return replace(fault, phase=Phase.DERIVED_STATE_RECOMPUTE)
    return fault
