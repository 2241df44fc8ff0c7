"""What a batch keeps for the traces of its lanes, beside what its components keep: by reference, cut up at the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.plan.sections import TraceLevel
from sweep.runtime.block import BlockView
from sweep.runtime.context import BatchContext
from sweep.runtime.ingress.command import Command
from sweep.runtime.tracing.rows import TraceRows

Floats = NDArray[np.float64]

_CHUNK = 1024
"""Blocks that are kept apart; a session of single steps may last for hours."""


class TraceRecorder:
    """Keeps the controls of every step and, for a full trace, boundaries and sensors.

    Nothing is computed for it that is not computed anyway, so a trace changes neither bits nor faults: sensors are kept
    as each step computes them on its way.

    Args:
        level: ``events`` or ``full``.
        context: the batch.

    Attributes:
        commands: every input that was committed in some lane, in order.
        fields: MjData fields that must be recorded of every step.
    """

    def __init__(self, level: TraceLevel, context: BatchContext) -> None:
        model, lanes = context.index.model, context.lanes
        self._is_full = level == "full"
        self.fields = ("sensordata",) if self._is_full and model.nsensordata else ()
        self.commands: list[Command] = []
        widths = {"control": model.nu, "boundary": context.state_width, "sensor": model.nsensordata}
        self._pieces = {kind: Pieces(lanes, int(width)) for kind, width in widths.items()}
        self._settled = np.zeros(lanes, np.int64)

    def commit(self, command: Command) -> None:
        """Phase 2: an input becomes visible in the lanes it is for, as far as they live that long."""
        self.commands.append(command)

    def keep(self, view: BlockView) -> None:
        """Phase 12 of every tick of a block."""
        self._settled += view.block.length if view.settled is None else view.settled
        self._pieces["control"].append(view.controls)
        if self._is_full:
            # A block's first boundary is the last of the one before.
            self._pieces["boundary"].append(view.boundaries[:, int(view.block.start > 0) :].copy())
        for field in self.fields:
            self._pieces["sensor"].append(view.derived[field][:, : view.block.length])

    def controls(self, lane: int) -> Floats:
        """``(steps, nu)`` what was applied in each step; steps that a lane did not live to see follow the others."""
        return self._rows("control", lane)

    def boundaries(self, lane: int) -> Floats:
        """``(steps + 1, 1 + nq + nv + na)`` time, qpos, qvel, act of every boundary the lane reached; full only."""
        return self._rows("boundary", lane)[: int(self._settled[lane]) + 1]

    def signals(self, lane: int) -> list[TraceRows]:
        """A full trace's rows of the lane: every boundary it reached and every step it completed."""
        if not self._is_full:
            return []
        steps = int(self._settled[lane])
        # Boundaries go without their clock: a row's tick says it exactly.
        values = {"boundary": self.boundaries(lane)[:, 1:]}
        values |= {kind: self._rows(kind, lane)[:steps] for kind in ("sensor", "control")}
        return [
            TraceRows(kind=kind, component="", ticks=np.arange(len(rows)), columns={"values": rows})
            for kind, rows in values.items()
        ]

    def _rows(self, kind: str, lane: int) -> Floats:
        rows: Floats = self._pieces[kind].joined()[lane]
        return rows


class Pieces:
    """Rows of all lanes that come block by block and are read at the end.

    Args:
        lanes: number of lanes.
        width: numbers per row.
    """

    def __init__(self, lanes: int, width: int) -> None:
        self._chunks: list[Floats] = [np.empty((lanes, 0, width))]
        self._recent: list[Floats] = []

    def append(self, rows: Floats) -> None:
        """Keep ``(lanes, rows, width)`` by reference."""
        self._recent.append(rows)
        if len(self._recent) == _CHUNK:  # an array of a few numbers is mostly overhead
            self._chunks.append(np.concatenate(self._recent, axis=1))
            self._recent.clear()

    def joined(self) -> Floats:
        """Everything, ``(lanes, all rows, width)``."""
        if self._recent or len(self._chunks) > 1:
            self._chunks = [np.concatenate([*self._chunks, *self._recent], axis=1)]
            self._recent.clear()
        return self._chunks[0]
