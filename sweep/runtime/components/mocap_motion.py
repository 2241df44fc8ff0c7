"""The prescribed motion of a mocap body."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.disturbances import unit
from sweep.plan.instants import LaneInstants
from sweep.plan.prescribed import MocapMotionSpec
from sweep.runtime.block import Block
from sweep.runtime.context import BatchContext
from sweep.runtime.inputs import BlockInputs
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.numerics.sine import TURNS_PER_RAD, sines_and_cosines_of, sines_of
from sweep.runtime.reference import minimum_jerk

Floats = NDArray[np.float64]

_AT_ONCE = 256
"""Boundaries whose poses are worked out together."""


class MocapMotion:
    """See :class:`sweep.plan.prescribed.MocapMotionSpec`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[MocapMotionSpec], context: BatchContext) -> None:
        self.name = name
        distinct = list(dict.fromkeys(specs))
        self._which = np.array([distinct.index(spec) for spec in specs])
        self._motions = [Motion(spec, context.index.model) for spec in distinct]
        self._instants = LaneInstants.of([(context.grid.timestep, Fraction(0))])
        self._mocap = int(context.index.model.body(specs[0].body).mocapid[0])
        # Poses of boundaries first .. first + length - 1, a row of boundaries for each distinct motion.
        self._first = 0
        self._positions, self._quaternions = np.zeros((len(distinct), 0, 3)), np.zeros((len(distinct), 0, 4))

    @classmethod
    def problems(cls, spec: MocapMotionSpec, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        return index.mocap_problems(f"{path}.body", [spec.body])

    def apply(self, block: Block, inputs: BlockInputs) -> None:
        """Phase 3 of every tick of a block, and the pose at its end."""
        assert inputs.positions is not None
        assert inputs.quaternions is not None
        first, stop = self._first, block.stop + 1
        if not first <= block.start or stop > first + self._positions.shape[1]:
            self._work_out(block.start, max(stop - block.start, _AT_ONCE))
        rows = slice(block.start - self._first, stop - self._first)
        inputs.positions[:, :, self._mocap] = self._positions[self._which, rows]
        inputs.quaternions[:, :, self._mocap] = self._quaternions[self._which, rows]

    def _work_out(self, first: int, count: int) -> None:
        time_s = self._instants.at(np.arange(first, first + count))
        poses = [motion.poses(time_s) for motion in self._motions]
        self._first = first
        self._positions = np.stack([position for position, _ in poses])
        self._quaternions = np.stack([quaternion for _, quaternion in poses])


class Motion:
    """A motion as a function of time.

    Args:
        spec: what the Manifest says.
        model: the model, which says where the body is.
    """

    def __init__(self, spec: MocapMotionSpec, model: mujoco.MjModel) -> None:
        body = model.body(spec.body)
        self._spec = spec
        self._place = np.array(body.pos if spec.position_m is None else spec.position_m)
        self._orientation = np.array(body.quat if spec.quaternion is None else spec.quaternion)
        self._direction, self._axis = np.array(unit(spec.direction)), np.array(unit(spec.rotation_axis))

    def poses(self, time_s: Floats) -> tuple[Floats, Floats]:
        """Positions ``(times, 3)`` [m] and orientations ``(times, 4)`` in the world."""
        spec = self._spec
        position, quaternion = np.tile(self._place, (len(time_s), 1)), np.tile(self._orientation, (len(time_s), 1))
        if spec.waypoints_m is not None and spec.segment_s is not None:
            position += minimum_jerk(spec.waypoints_m, spec.segment_s, time_s, repeat=spec.repeat)[0]
        if spec.amplitude_m:
            wave = sines_of(spec.frequency_hz * time_s + spec.phase_turns)
            position += (spec.amplitude_m * self._grown(time_s) * wave)[:, None] * self._direction
        if spec.amplitude_rad:
            wave = sines_of(spec.rotation_frequency_hz * time_s + spec.rotation_phase_turns)
            quaternion = self._turned(spec.amplitude_rad * self._grown(time_s) * wave)
        return position, quaternion

    def _grown(self, time_s: Floats) -> Floats | float:
        """The part of its amplitude that a sine has reached."""
        ramp_s = self._spec.ramp_s
        return minimum_jerk([[0.0], [1.0]], ramp_s, time_s, repeat=False)[0][:, 0] if ramp_s else 1.0

    def _turned(self, angle_rad: Floats) -> Floats:
        """The orientation turned by an angle about the axis: the quaternion product of both."""
        sine, w = sines_and_cosines_of(angle_rad * (0.5 * TURNS_PER_RAD))
        x, y, z = sine * self._axis[:, None]
        a, b, c, d = self._orientation
        parts = (
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        )
        return np.stack(parts, axis=1)
