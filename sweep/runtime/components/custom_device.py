"""A Device of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sweep.errors import Problem
from sweep.plan.custom import CustomDeviceSpec
from sweep.plan.streams import stream_key
from sweep.plan.transport import TRANSPORT_STREAMS
from sweep.runtime.block import BlockView
from sweep.runtime.components.device import Device, Floats, Ints
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault, Stop, what_raised
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.noise import LaneStream
from sweep.runtime.own.component_setup import numbers_of, reads_of, user_objects, wrong_class
from sweep.runtime.own.sight import Sight
from sweep.runtime.own.view import lent
from sweep.runtime.phases import Phase


class CustomDevice(Device):
    """See :class:`sweep.plan.custom.CustomDeviceSpec`.

    The class says ``width``, and the names of its noise streams in ``streams`` if it has any; ``measure(view, noise)``
    gets one standard normal vector ``(width,)`` per stream.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.
    """

    def __init__(self, name: str, specs: Sequence[CustomDeviceSpec], context: BatchContext) -> None:
        self._objects = user_objects(name, specs, context, "measure")
        super().__init__(name, specs, context, _width(name, self._objects[0]))
        self.reads = reads_of(name, self._objects[0])
        self._sight, self._index = Sight(self.reads, context), context.index
        self.streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], self.width)
            for stream in _streams(name, self._objects[0])
        }
        self._measured: Floats = np.zeros((context.lanes, 0, self.width))

    @classmethod
    def problems(cls, spec: CustomDeviceSpec, index: ModelIndex, path: str) -> list[Problem]:
        """See :meth:`Device.problems`."""
        return []

    def prepare(self, view: BlockView, stops: Mapping[int, Stop]) -> dict[int, Fault]:
        """Let the class measure everything due in a block; a fault for each lane in which it raised."""
        draws, ticks, valid = self.due(view.block)
        lanes, samples = len(view.alive), ticks.shape[1]
        self._measured = np.full((lanes, samples, self.width), np.nan)
        ticks = np.broadcast_to(ticks, (lanes, samples))
        noise = {name: stream.rows(draws) for name, stream in self.streams.items()} if samples else {}
        faults: dict[int, Fault] = {}
        for lane in np.flatnonzero(view.alive).tolist():
            for row, tick in enumerate(ticks[lane].tolist()):
                if (valid is not None and not valid[lane, row]) or self._is_after(stops.get(lane), tick):
                    continue
                drawn = {name: rows[lane, row] for name, rows in noise.items()}
                try:
                    self._measured[lane, row] = self._measure(view, lane, tick, drawn)
                except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
                    faults[lane] = Fault(tick=tick, phase=Phase.DEVICE_UPDATE, component=self.name, kind="device",
                                         message=what_raised(error))  # fmt: skip
                    break
        return faults

    def sample(self, view: BlockView, ticks: Ints, draws: Ints) -> Floats:
        """See :meth:`Device.sample`: what :meth:`prepare` found."""
        return self._measured

    def _is_after(self, stop: Stop | None, tick: int) -> bool:
        """Whether its DeviceUpdate of a tick comes after what stopped the lane."""
        return stop is not None and (tick, int(Phase.DEVICE_UPDATE), self.name) > stop.order

    def _measure(self, view: BlockView, lane: int, tick: int, noise: Mapping[str, Floats]) -> Floats:
        with lent(self._sight.current(view, lane, tick), self._index) as shown:
            values = self._objects[lane].measure(shown, noise)
        return numbers_of("measure", values, self.width, f", not width = {self.width}")


def _width(name: str, user_object: Any) -> int:
    """How many numbers a sample of the class has."""
    width = getattr(user_object, "width", None)
    if isinstance(width, bool) or not isinstance(width, int | np.integer) or width < 1:
        raise wrong_class(name, user_object, f"width is how many numbers measure returns, not {width!r}")
    return int(width)


def _streams(name: str, user_object: Any) -> tuple[str, ...]:
    """The names of the class's noise streams; those of the transport are taken."""
    streams = getattr(user_object, "streams", ())
    names = (streams,) if isinstance(streams, str) else tuple(streams)
    for stream in names:
        if not isinstance(stream, str) or not stream or stream in TRANSPORT_STREAMS:
            taken = ", ".join(TRANSPORT_STREAMS)
            raise wrong_class(name, user_object, f"streams are names other than {taken}, not {stream!r}")
    return names
