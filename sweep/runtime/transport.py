"""Samples on their way: a bounded ring per lane, read by delivery tick."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.output import DeviceOutput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class SampleQueue:
    """First in, first out, for many lanes.

    Args:
        lanes: number of lanes.
        width: numbers per sample.
        in_flight: samples of one lane that can be under way at once.

    Attributes:
        acquired: ``(lanes,)`` samples pushed so far.
    """

    def __init__(self, lanes: int, width: int, in_flight: int) -> None:
        self.acquired = np.zeros(lanes, np.int64)
        self._in_flight = in_flight
        self._rows = np.arange(lanes)  # of each lane's first slot
        self._pushed = 0  # by every lane, as long as all lanes push alike
        self._even = True
        self._all_valid = False
        self._capacity = 0
        self._values: Floats = np.zeros((lanes, 0, width))
        # Per slot: delivery tick (-1: never used), acquisition tick, acquisition number.
        self._slots: Ints = np.zeros((3, lanes, 0), np.int64)

    def push(self, values: Floats, acquired: Ints, delivered: Ints, index: Ints, counts: Ints | None) -> None:
        """Send samples off.

        Args:
            values: ``(lanes, samples, width)``.
            acquired: ``(lanes or 1, samples)`` tick of acquisition.
            delivered: ``(lanes, samples)`` tick of delivery, never decreasing within a lane.
            index: ``(lanes or 1, samples)`` acquisition number.
            counts: how many of them are each lane's, the leading ones; None means all.
        """
        samples = values.shape[1]
        # What is under way, the sample that is visible meanwhile, and the new ones all have a place.
        if self._in_flight + 1 + samples > self._capacity:
            self._resize(self._in_flight + 1 + 2 * samples)
        if counts is None and self._even:
            place = self._place(samples)
            self._values[:, place] = values
            delivery, acquisition, number = self._slots
            delivery[:, place], acquisition[:, place], number[:, place] = delivered, acquired, index
            self.acquired += samples
            self._pushed += samples
            return
        self._push_ragged(values, (delivered, acquired, index), counts)

    def visible(self, tick: Ints) -> DeviceOutput:
        """The last sample delivered by ``tick (lanes,)`` in each lane."""
        if not self._capacity:
            self._resize(1)
        pending = np.add.reduce(self._slots[0] > tick[:, None], axis=1)
        ordinal = self.acquired - 1 - pending
        place = ordinal % self._capacity + self._rows
        values = self._values.reshape(-1, self._values.shape[2]).take(place, axis=0)
        delivered, acquired, index = self._slots.reshape(3, -1).take(place, axis=1)
        valid = ordinal >= 0
        # What was visible once stays so, or is replaced: the check is over once it has passed.
        self._all_valid = self._all_valid or bool(valid.all())
        if not self._all_valid:
            values = np.where(valid[:, None], values, np.nan)
            delivered, acquired, index = (np.where(valid, a, -1) for a in (delivered, acquired, index))
        for array in (valid, values, acquired, delivered, index):
            array.flags.writeable = False  # several controllers may read it
        return DeviceOutput(valid=valid, values=values, acquired_tick=acquired, delivered_tick=delivered, index=index)

    def delivered_by(self, lane: int, tick: int) -> int:
        """How many of a lane's samples were delivered by ``tick``."""
        return int(self.acquired[lane]) - int((self._slots[0, lane] > tick).sum())

    def _place(self, samples: int) -> Any:
        start = self._pushed % self._capacity
        if start + samples <= self._capacity:
            return slice(start, start + samples)
        return (start + np.arange(samples)) % self._capacity

    def _push_ragged(self, values: Floats, slots: tuple[Ints, Ints, Ints], counts: Ints | None) -> None:
        self._even = False
        samples = values.shape[1]
        counts = np.full(len(self.acquired), samples) if counts is None else counts
        lane, row = np.nonzero(np.arange(samples) < counts[:, None])
        place = (self.acquired[lane] + row) % self._capacity
        self._values[lane, place] = values[lane, row]
        for own, given in zip(self._slots, slots, strict=True):
            own[lane, place] = np.broadcast_to(given, values.shape[:2])[lane, row]
        self.acquired += counts

    def _resize(self, capacity: int) -> None:
        lanes, old, width = self._values.shape
        values, slots = np.full((lanes, capacity, width), np.nan), np.full((3, lanes, capacity), -1, np.int64)
        if old:
            ordinals = self.acquired[:, None] - 1 - np.arange(old)
            lane, back = np.nonzero(ordinals >= 0)
            ordinal = ordinals[lane, back]
            values[lane, ordinal % capacity] = self._values[lane, ordinal % old]
            slots[:, lane, ordinal % capacity] = self._slots[:, lane, ordinal % old]
        self._values, self._slots, self._capacity = values, slots, capacity
        self._rows = capacity * np.arange(lanes)
