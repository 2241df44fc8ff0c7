"""Joint encoders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.sensors import EncoderSpec
from sweep.runtime.block import BlockView, column_runs
from sweep.runtime.components.device import Device, Floats, Ints
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex


class Encoder(Device):
    """Positions and velocities of joints with white noise; see :class:`sweep.plan.sensors.EncoderSpec`."""

    def __init__(self, name: str, specs: Sequence[EncoderSpec], context: BatchContext) -> None:
        spec = specs[0]
        self._columns = np.concatenate(
            [
                context.position_columns(spec.joints)
                if measure == "position"
                else context.velocity_columns(spec.joints)
                for measure in spec.measures
            ]
        )
        super().__init__(name, specs, context, len(self._columns))
        self._runs = column_runs(self._columns)
        # (lanes, width): a standard deviation, and an offset that the episode keeps, for each number of a sample.
        std = np.array([_per_number(lane, lane.white_std, lane.velocity_white_std) for lane in specs])
        bias_std = np.array([_per_number(lane, lane.bias_std, 0.0) for lane in specs])
        self.streams["white"].scale(std, bias_std * self.episode_streams["bias"].span(0, 1)[:, 0])

    @classmethod
    def problems(cls, spec: EncoderSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        return index.joint_problems(f"{path}.joints", spec.joints)

    def measure(self, view: BlockView, ticks: Ints) -> Floats:
        """See :meth:`Device.measure`."""
        if not self.schedule.uniform:
            return view.at(self._lane_column, ticks, self._columns)
        return view.rows(ticks[0], self._runs, self.width)

    def imperfect(self, values: Floats, draws: Ints) -> Floats:
        """See :meth:`Device.imperfect`."""
        values += self.draw("white", draws)
        return values


def _per_number(spec: EncoderSpec, position: float, velocity: float) -> list[float]:
    """A scaled standard deviation for each number of a sample."""
    by_measure = {"position": position, "velocity": velocity}
    return [spec.noise_scale * by_measure[measure] for measure in spec.measures for _ in spec.joints]
