"""Inertial measurement units."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.errors import Problem
from sweep.plan.sensors import ImuSpec
from sweep.runtime.components.sensor import AxesSensor, mount_problems
from sweep.runtime.context import BatchContext
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reads import FORCE_SENSORS, SENSORS


class Imu(AxesSensor):
    """Angular velocity and specific force; see :class:`sweep.plan.sensors.ImuSpec`.

    Specific force depends on the forces at work, so an accelerometer costs a full forward at each acquisition; a gyro
    alone does not.
    """

    def __init__(self, name: str, specs: Sequence[ImuSpec], context: BatchContext) -> None:
        measures = specs[0].measures
        super().__init__(name, specs, context, FORCE_SENSORS if "accelerometer" in measures else SENSORS, measures)

    @classmethod
    def problems(cls, spec: ImuSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        return mount_problems(spec, index, path)
