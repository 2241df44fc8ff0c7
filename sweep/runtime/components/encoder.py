"""Joint encoders."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from sweep.errors import Problem
from sweep.plan.sensors import EncoderSpec
from sweep.runtime.block import BlockView
from sweep.runtime.components.device import Device, Floats, Ints
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.sample_steps import Difference, Quantize, Step, Wrap


class Encoder(Device):
    """Positions and velocities of joints; see :class:`sweep.plan.sensors.EncoderSpec`.

    Noise is made with its scale and offset in it and added where the joints are read: a plain encoder is one pass.
    """

    def __init__(self, name: str, specs: Sequence[EncoderSpec], context: BatchContext) -> None:
        spec = specs[0]
        # A velocity from differences begins as a position, with a position's noise.
        shown = ["position" if spec.velocity_from == "difference" else measure for measure in spec.measures]
        columns = {"position": context.position_columns, "velocity": context.velocity_columns}
        self._columns = np.concatenate([columns[measure](spec.joints) for measure in shown])
        super().__init__(name, specs, context, len(self._columns))
        # (lanes, width): a standard deviation, and an offset that the episode keeps, for each number of a sample.
        std = np.array([_per_number(lane, shown, lane.white_std, lane.velocity_white_std) for lane in specs])
        bias_std = np.array([_per_number(lane, shown, lane.bias_std, 0.0) for lane in specs])
        offset = bias_std * self.episode_streams["bias"].span(0, 1)[:, 0]
        if spec.index_offset_rad is not None:
            known = per_lane_values(specs, lambda lane: lane.index_offset_rad)[:, None]
            offset = np.where([measure == "position" for measure in shown for _ in spec.joints], offset + known, offset)
        self.streams["white"].scale(std, offset)
        self._steps = _steps(specs, self._first)

    @classmethod
    def problems(cls, spec: EncoderSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        problems = index.joint_problems(f"{path}.joints", spec.joints)
        angular = [field for field in ("counts_per_turn", "index_offset_rad", "wrap") if getattr(spec, field)]
        if problems or not angular:
            return problems
        slides = [joint for joint in spec.joints if index.model.joint(joint).type[0] != mujoco.mjtJoint.mjJNT_HINGE]
        message = f"is for hinge joints, and {', '.join(slides)} slides; a linear encoder takes resolution [m]"
        return [Problem(f"{path}.{field}", message) for field in angular] if slides else []

    def sample(self, view: BlockView, ticks: Ints, draws: Ints) -> Floats:
        """See :meth:`Device.sample`."""
        values = self.streams["white"].added(view.boundaries, ticks, view.block.start, self._columns, draws)
        for columns, step in self._steps:
            step(values[:, :, columns], draws)
        return values


def _per_number(spec: EncoderSpec, shown: Sequence[str], position: float, velocity: float) -> list[float]:
    """A scaled standard deviation for each number of a sample."""
    by_measure = {"position": position, "velocity": velocity}
    return [spec.noise_scale * by_measure[measure] for measure in shown for _ in spec.joints]


def _steps(specs: Sequence[EncoderSpec], first_draw: int) -> list[tuple[slice, Step]]:
    """What follows the noise, in order, each with the numbers of a sample that it changes."""
    spec, joints = specs[0], len(specs[0].joints)
    places = {measure: slice(at * joints, (at + 1) * joints) for at, measure in enumerate(spec.measures)}
    position, velocity = places.get("position"), places.get("velocity")
    differs = spec.velocity_from == "difference" and velocity is not None
    seen = velocity if position is None and differs else position
    if seen is None:
        return []
    steps: list[tuple[slice, Step]] = []
    resolution = _resolution(specs)
    if resolution is not None:
        steps.append((seen, Quantize(resolution, spec.rounding)))
    if differs and velocity is not None:
        period = per_lane_values(specs, lambda lane: lane.period_s)[:, None, None]
        steps.append((slice(None), Difference(seen, velocity, period, first_draw)))
    if spec.wrap and position is not None:
        steps.append((position, _turn(specs, resolution)))
    return steps


def _resolution(specs: Sequence[EncoderSpec]) -> Floats | None:
    """The step of positions, ``(lanes, 1, 1)`` [rad or m]."""
    if specs[0].counts_per_turn is not None:
        return 2 * math.pi / per_lane_values(specs, lambda lane: lane.counts_per_turn)[:, None, None]
    if specs[0].resolution is not None:
        return per_lane_values(specs, lambda lane: lane.resolution)[:, None, None]
    return None


def _turn(specs: Sequence[EncoderSpec], resolution: Floats | None) -> Wrap:
    """Wraps at half a turn; counts wrap as integers, so that a turn has exactly its number of them."""
    if specs[0].counts_per_turn is None:
        half = np.full((len(specs), 1, 1), math.pi)
        return Wrap(-half, 2 * half)
    counts = per_lane_values(specs, lambda lane: lane.counts_per_turn)[:, None, None]
    return Wrap(-np.floor(counts / 2), counts, resolution)
