"""Pose trackers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.errors import Problem
from sweep.plan.exteroception import PoseTrackerSpec
from sweep.runtime.components.device import Floats, Ints
from sweep.runtime.components.sensor import Sensor, mount_problems
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.imperfection import Pipeline
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reads import SENSORS


class PoseTracker(Sensor):
    """Where something is in the world; see :class:`sweep.plan.exteroception.PoseTrackerSpec`."""

    def __init__(self, name: str, specs: Sequence[PoseTrackerSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context, SENSORS)
        first, at = specs[0], 0
        for measure in first.measures:
            if measure == "position":
                self._show_position(slice(at, at + 3), specs)
            elif first.orientation_std_rad is not None:
                self._show_orientation(slice(at, at + 4), specs)
            at += 3 if measure == "position" else 4

    @classmethod
    def problems(cls, spec: PoseTrackerSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        return mount_problems(spec, index, path)

    def _show_position(self, columns: slice, specs: Sequence[PoseTrackerSpec]) -> None:
        self._parts.append((columns, Pipeline("position", [spec.position for spec in specs], 3, self)))
        if specs[0].outlier_probability is not None:
            self.open("outlier", 1, "uniform")
            std = self.noise_scale * per_lane_values(specs, lambda spec: spec.outlier_std_m)[:, None]
            self.open("outlier_size", 3).scale(np.broadcast_to(std, (len(specs), 3)), np.zeros((len(specs), 3)))
            self._outliers = per_lane_values(specs, lambda spec: spec.outlier_probability)[:, None, None]
            self._parts.append((columns, self._add_outliers))

    def _show_orientation(self, columns: slice, specs: Sequence[PoseTrackerSpec]) -> None:
        std = self.noise_scale * per_lane_values(specs, lambda spec: spec.orientation_std_rad)[:, None]
        self.open("orientation_white", 3).scale(np.broadcast_to(std, (len(specs), 3)), np.zeros((len(specs), 3)))
        self._parts.append((columns, self._turn))

    def _add_outliers(self, values: Floats, draws: Ints) -> None:
        is_one = self.draw("outlier", draws) < self._outliers
        values += is_one * self.draw("outlier_size", draws)

    def _turn(self, values: Floats, draws: Ints) -> None:
        """Turn quaternions by small rotation vectors of their own frame: q (1, v / 2), made a unit again."""
        w, x, y, z = (values[:, :, part].copy() for part in range(4))
        half = 0.5 * self.draw("orientation_white", draws)
        a, b, c = (half[:, :, axis] for axis in range(3))
        values[:, :, 0] = w - x * a - y * b - z * c
        values[:, :, 1] = x + w * a + y * c - z * b
        values[:, :, 2] = y + w * b - x * c + z * a
        values[:, :, 3] = z + w * c + x * b - y * a
        w, x, y, z = (values[:, :, part] for part in range(4))
        with np.errstate(invalid="ignore"):  # lanes that are over have no orientation
            values /= np.sqrt(w * w + x * x + y * y + z * z)[:, :, None]
