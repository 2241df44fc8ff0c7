"""An ActuatorDriver of the user's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.plan.custom import CustomDriverSpec
from sweep.runtime.block import Block
from sweep.runtime.components.driver import Driver, Floats
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault, what_raised
from sweep.runtime.own.component_setup import numbers_of, user_objects
from sweep.runtime.own.view import Boundary, lent
from sweep.runtime.phases import Phase


class CustomDriver(Driver):
    """See :class:`sweep.plan.custom.CustomDriverSpec`.

    ``drive(command, view)`` gets the command ``(width,)`` that has arrived, after watchdog, resolution, slew and lag,
    and the state of P_n; what it returns is multiplied by ``strength`` and cut to the actuator's own range.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[CustomDriverSpec], context: BatchContext) -> None:
        super().__init__(name, specs, context)
        self.reads_state = True
        self._objects = user_objects(name, specs, context, "drive")
        self._index, self._time_s = context.index, context.grid.time_s
        self._faults: dict[int, Fault] = {}

    def apply(self, block: Block, controls: Floats, start: Floats) -> dict[int, Fault]:
        """See :meth:`Driver.apply`; returns a fault for each lane in which the class raised."""
        self._faults = {}
        super().apply(block, controls, start)
        return self._faults

    def law(self, command: Floats, tick: int, start: Floats) -> Floats:
        """See :meth:`Driver.law`."""
        wanted = np.zeros_like(command)
        for lane in range(len(command)):
            try:
                wanted[lane, 0] = self._driven(lane, tick, command[lane, 0].copy(), start[lane])
            except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
                self._faults[lane] = Fault(tick=tick, phase=Phase.ACTUATOR_APPLICATION, component=self.name,
                                           kind="component", message=what_raised(error))  # fmt: skip
        return wanted

    def _driven(self, lane: int, tick: int, command: Floats, row: Floats) -> Floats:
        boundary = Boundary(tick=tick, time_s=self._time_s(tick), row=row, controls=None, fields={}, whole=None)
        with lent(boundary, self._index) as shown:
            values = self._objects[lane].drive(command, shown)
        return numbers_of("drive", values, self.width, f" for {self.width} controls")
