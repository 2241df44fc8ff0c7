"""Samples on their way: a bounded ring per lane, read by delivery tick."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.plan.instants import LaneInstants
from sweep.runtime.output import DeviceOutput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_FEW = 1024
"""Samples that there is room for from the start, if as many can be under way."""


class SampleQueue:
    """Samples of many lanes between acquisition and delivery, and the one that is visible.

    Args:
        lanes: number of lanes.
        width: numbers per sample.
        in_flight: samples of one lane that can be under way at once.
        overtaking: whether a sample may be delivered before one that was acquired earlier.
        clock: what each lane's device clock says at a tick.
    """

    def __init__(self, lanes: int, width: int, in_flight: int, *, overtaking: bool = False,
                 clock: LaneInstants | None = None) -> None:  # fmt: skip
        self._overtaking, self._clock = overtaking, clock
        # What is under way, and the sample that is visible meanwhile.  Those that overtook it were acquired within its
        # own journey, so there are no more of them than can be under way.
        self._kept = (2 if overtaking else 1) * in_flight + 1
        self._pushed = np.zeros(lanes, np.int64)
        self._sent_at_most = 0  # by any lane
        self._rows = np.arange(lanes)  # of each lane's first slot
        self._pushed_by_all = 0  # as long as all lanes push alike
        self._even = True
        self._all_valid = False
        self._capacity = 0
        self._values: Floats = np.zeros((lanes, 0, width))
        # Per slot: delivery tick (-1: never used), acquisition tick, acquisition number.
        self._slots: Ints = np.zeros((3, lanes, 0), np.int64)

    def push(self, values: Floats, acquired: Ints, delivered: Ints, index: Ints, sent: Bools | None = None) -> None:
        """Send samples off.

        Args:
            values: ``(lanes, samples, width)``.
            acquired: ``(lanes or 1, samples)`` tick of acquisition.
            delivered: ``(lanes, samples)`` tick of delivery; never decreasing within a lane unless samples overtake.
            index: ``(lanes or 1, samples)`` acquisition number.
            sent: ``(lanes, samples)`` which of them are each lane's, and not lost; None means all.
        """
        samples = values.shape[1]
        # No more can be under way than were sent: a latency beyond any episode costs no memory before its time.
        needed = min(self._kept, self._sent_at_most) + samples
        if needed > self._capacity:
            self._resize(min(self._kept, max(2 * needed, _FEW)) + 2 * samples)
        self._sent_at_most += samples
        if sent is None and self._even:
            place = self._place(samples)
            self._values[:, place] = values
            delivery, acquisition, number = self._slots
            delivery[:, place], acquisition[:, place], number[:, place] = delivered, acquired, index
            self._pushed += samples
            self._pushed_by_all += samples
            return
        self._push_ragged(values, (delivered, acquired, index), sent)

    def visible(self, tick: Ints) -> DeviceOutput:
        """The sample that is visible in each lane after DeviceUpdate of ``tick (lanes,)``."""
        if not self._capacity:
            self._resize(1)
        place, valid = self._last_arrival(tick) if self._overtaking else self._last_in_order(tick)
        values = self._values.reshape(-1, self._values.shape[2]).take(place, axis=0)
        delivered, acquired, index = self._slots.reshape(3, -1).take(place, axis=1)
        # What was visible once stays so, or is replaced: the check is over once it has passed.
        self._all_valid = self._all_valid or bool(valid.all())
        if not self._all_valid:
            values = np.where(valid[:, None], values, np.nan)
            delivered, acquired, index = (np.where(valid, a, -1) for a in (delivered, acquired, index))
        for array in (valid, values, acquired, delivered, index):
            array.flags.writeable = False  # several controllers may read it
        return DeviceOutput(valid=valid, values=values, acquired_tick=acquired, delivered_tick=delivered, index=index,
                            clock=self._clock)  # fmt: skip

    def waiting(self, lane: int, tick: int) -> tuple[int, int]:
        """A lane's samples that are delivered after ``tick``: how many, and how many ticks they travel all together."""
        delivered, acquired, _ = self._slots[:, lane]
        late = delivered > tick
        return int(late.sum()), int((delivered - acquired)[late].sum())

    def _last_in_order(self, tick: Ints) -> tuple[Ints, Bools]:
        """Where the last sample is that was delivered by ``tick``, and whether there is one: the order is known."""
        pending = np.add.reduce(self._slots[0] > tick[:, None], axis=1)
        ordinal = self._pushed - 1 - pending
        return ordinal % self._capacity + self._rows, ordinal >= 0

    def _last_arrival(self, tick: Ints) -> tuple[Ints, Bools]:
        """The same if samples overtake: the last arrival wins, of several at once the one acquired last."""
        delivery, _, number = self._slots
        arrived = np.where(delivery <= tick[:, None], delivery, -1)
        last = np.maximum.reduce(arrived, axis=1)
        newest = np.where(arrived == last[:, None], number, -1).argmax(axis=1)
        return newest + self._rows, last >= 0

    def _place(self, samples: int) -> Any:
        start = self._pushed_by_all % self._capacity
        if start + samples <= self._capacity:
            return slice(start, start + samples)
        return (start + np.arange(samples)) % self._capacity

    def _push_ragged(self, values: Floats, slots: tuple[Ints, Ints, Ints], sent: Bools | None) -> None:
        self._even = False
        sent = np.ones(values.shape[:2], bool) if sent is None else sent
        behind = np.add.accumulate(sent, axis=1, dtype=np.int64)
        lane, row = np.nonzero(sent)
        place = (self._pushed[lane] + behind[lane, row] - 1) % self._capacity
        self._values[lane, place] = values[lane, row]
        for own, given in zip(self._slots, slots, strict=True):
            own[lane, place] = np.broadcast_to(given, sent.shape)[lane, row]
        self._pushed += behind[:, -1]

    def _resize(self, capacity: int) -> None:
        lanes, old, width = self._values.shape
        values, slots = np.full((lanes, capacity, width), np.nan), np.full((3, lanes, capacity), -1, np.int64)
        if old:
            ordinals = self._pushed[:, None] - 1 - np.arange(old)
            lane, back = np.nonzero(ordinals >= 0)
            ordinal = ordinals[lane, back]
            values[lane, ordinal % capacity] = self._values[lane, ordinal % old]
            slots[:, lane, ordinal % capacity] = self._slots[:, lane, ordinal % old]
        self._values, self._slots, self._capacity = values, slots, capacity
        self._rows = capacity * np.arange(lanes)
