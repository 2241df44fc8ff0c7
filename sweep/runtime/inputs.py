"""What physics is fed: controls, wrenches, equality switches and mocap poses of every step of a block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STATE = mujoco.mjtState
_PARTS = {"wrenches": _STATE.mjSTATE_XFRC_APPLIED, "equalities": _STATE.mjSTATE_EQ_ACTIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class InputLayout:
    """Which inputs beside controls are written tick by tick; what nothing in the Plan can change costs nothing.

    Attributes:
        wrenches: whether forces act on bodies from outside.
        equalities: whether equality constraints are switched.
        poses: whether mocap bodies move.
    """

    wrenches: bool = False
    equalities: bool = False
    poses: bool = False

    @property
    def controls_only(self) -> bool:
        """Whether nothing but controls is written."""
        return not (self.wrenches or self.equalities or self.poses)

    @property
    def spec(self) -> int:
        """The mjtState bits of a row, in whose order its parts stand."""
        bits = int(_STATE.mjSTATE_CTRL)
        for part, bit in _PARTS.items():
            bits |= int(bit) * getattr(self, part)
        return bits | int(_STATE.mjSTATE_MOCAP_POS | _STATE.mjSTATE_MOCAP_QUAT) * self.poses


@dataclass(slots=True)
class BlockInputs:
    """The inputs of one block, for all lanes; parts that the layout leaves out are None.

    Attributes:
        controls: ``(lanes, length, nu)``.
        wrenches: ``(lanes, length, nbody, 6)`` force [N] and torque [N m] on each body, in the world's frame.
        equalities: ``(lanes, length, neq)`` 1 where active.
        positions: ``(lanes, length + 1, nmocap, 3)`` [m]; the last row is the pose at P_stop.
        quaternions: ``(lanes, length + 1, nmocap, 4)``.
    """

    controls: Floats
    wrenches: Floats | None = None
    equalities: Floats | None = None
    positions: Floats | None = None
    quaternions: Floats | None = None

    @property
    def others(self) -> list[Floats]:
        """Everything but controls, as ``(lanes, length, width)`` in the order of the state bits."""
        lanes, length, _ = self.controls.shape
        parts = (self.wrenches, self.equalities, self.positions, self.quaternions)
        return [part[:, :length].reshape(lanes, length, -1) for part in parts if part is not None]

    def part(self, start: int, stop: int) -> BlockInputs:
        """The inputs of the steps ``start`` .. ``stop - 1``, counted from the block's first."""
        steps = [None if part is None else part[:, start:stop] for part in (self.wrenches, self.equalities)]
        poses = [None if part is None else part[:, start : stop + 1] for part in (self.positions, self.quaternions)]
        return BlockInputs(controls=self.controls[:, start:stop], wrenches=steps[0], equalities=steps[1],
                           positions=poses[0], quaternions=poses[1])  # fmt: skip

    def rows(self) -> Floats:
        """One row per step, ``(lanes, length, width)``."""
        if self.wrenches is self.equalities is self.positions is None:
            return self.controls
        others = self.others
        return np.concatenate([self.controls, *others], axis=2)


def joined_inputs(blocks: Sequence[BlockInputs]) -> BlockInputs:
    """The inputs of successive blocks as one block's."""

    def steps(part: str) -> Floats | None:
        found = [getattr(block, part) for block in blocks]
        return None if found[0] is None else np.concatenate(found, axis=1)

    def boundaries(part: str) -> Floats | None:
        found = [getattr(block, part) for block in blocks]
        if found[0] is None:
            return None
        return np.concatenate([*(poses[:, :-1] for poses in found[:-1]), found[-1]], axis=1)

    controls = steps("controls")
    assert controls is not None
    return BlockInputs(
        controls=controls,
        wrenches=steps("wrenches"),
        equalities=steps("equalities"),
        positions=boundaries("positions"),
        quaternions=boundaries("quaternions"),
    )
