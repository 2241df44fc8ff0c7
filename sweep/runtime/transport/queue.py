"""Samples on their way: a bounded ring per lane, read by delivery tick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.plan.instants import LaneInstants
from sweep.runtime.numerics.compiled import compiled
from sweep.runtime.output import ACQUIRED, DELIVERED, NUMBER, DeviceOutput
from sweep.runtime.transport.channel import LOST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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

    Attributes:
        acquired: ``(lanes,)`` samples that were sent off or lost.
        lost: ``(lanes,)`` those that were lost.
        travel: ``(lanes,)`` ticks that the others travel all together.
    """

    def __init__(self, lanes: int, width: int, in_flight: int, *, overtaking: bool = False,
                 clock: LaneInstants | None = None) -> None:  # fmt: skip
        self._overtaking, self._clock = overtaking, clock
        # What is under way, and the sample that is visible meanwhile.  Those that overtook it were acquired within its
        # own journey, so there are no more of them than can be under way.
        self._kept = (2 if overtaking else 1) * in_flight + 1
        self._sent_at_most = 0  # by any lane
        self._pushed, self.acquired, self.lost, self.travel = self._counts = np.zeros((4, lanes), np.int64)
        self._values: Floats = np.zeros((lanes, 0, width))
        self._slots: Ints = np.zeros((3, lanes, 0), np.int64)

    def push(self, values: Floats, acquired: Ints, delays: Ints, index: Ints, counts: Ints, *,
             journal: tuple[Floats, Ints]) -> None:  # fmt: skip
        """Send samples off, and write them down.

        Args:
            values: ``(lanes, samples, width)``.
            acquired: ``(lanes or 1, samples)`` tick of acquisition.
            delays: ``(lanes, samples or 1)`` ticks of travel, :data:`LOST` for those that never arrive; what arrives
                never decreases within a lane unless samples overtake.
            index: ``(lanes or 1, samples)`` acquisition number.
            counts: ``(lanes,)`` how many of them are each lane's, the leading ones.
            journal: ``(lanes, capacity, 3 + width)`` and ``(lanes,)``: where each sample is written down, as number,
                tick of acquisition, tick of delivery and values; and how much of it each lane has filled.
        """
        samples, capacity = values.shape[1], self._values.shape[1]
        # No more can be under way than were sent: a latency beyond any episode costs no memory before its time.
        if self._kept + samples > capacity and (needed := min(self._kept, self._sent_at_most) + samples) > capacity:
            self._resize(min(self._kept, max(2 * needed, _FEW)) + 2 * samples)
        self._sent_at_most += samples
        values = np.ascontiguousarray(values)
        _push(values, acquired, delays, index, counts, self._values, self._slots, self._counts, *journal)

    def visible(self, tick: Ints) -> DeviceOutput:
        """The sample that is visible in each lane after DeviceUpdate of ``tick (lanes,)``."""
        lanes, _, width = self._values.shape
        values, sample = np.empty((lanes, width)), np.empty((3, lanes), np.int64)
        _show(tick, self._overtaking, self._values, self._slots, self._pushed, values, sample)
        values.setflags(write=False)  # several controllers may read it
        sample.setflags(write=False)
        return DeviceOutput(values, sample, self._clock)

    def waiting(self, lane: int, tick: int) -> tuple[int, int]:
        """A lane's samples that are delivered after ``tick``: how many, and how many ticks they travel all together."""
        return _late(self._slots, self._pushed, lane, tick)

    def _resize(self, capacity: int) -> None:
        lanes, old, width = self._values.shape
        values, slots = np.full((lanes, capacity, width), np.nan), np.full((3, lanes, capacity), LOST, np.int64)
        if old:
            ordinals = self._pushed[:, None] - 1 - np.arange(old)
            lane, back = np.nonzero(ordinals >= 0)
            ordinal = ordinals[lane, back]
            values[lane, ordinal % capacity] = self._values[lane, ordinal % old]
            slots[:, lane, ordinal % capacity] = self._slots[:, lane, ordinal % old]
        self._values, self._slots = values, slots


@compiled
def _push(
    values: Floats,
    acquired: Ints,
    delays: Ints,
    index: Ints,
    counts: Ints,
    ring: Floats,
    slots: Ints,
    tally: Ints,
    rows: Floats,
    filled: Ints,
) -> None:
    """Put samples into the ring, count them and write them down; see :meth:`SampleQueue.push`."""
    pushed, all_acquired, lost, travel = tally[0], tally[1], tally[2], tally[3]
    capacity = ring.shape[1]
    for lane in range(len(values)):
        ticks = acquired[lane if len(acquired) > 1 else 0]
        numbers = index[lane if len(index) > 1 else 0]
        all_acquired[lane] += counts[lane]
        for sample in range(counts[lane]):
            delay = delays[lane, sample if delays.shape[1] > 1 else 0]
            arrival = LOST if delay == LOST else ticks[sample] + delay
            row = rows[lane, filled[lane]]
            filled[lane] += 1
            row[0], row[1], row[2] = numbers[sample], ticks[sample], arrival
            for number in range(values.shape[2]):
                row[3 + number] = values[lane, sample, number]
            if delay == LOST:
                lost[lane] += 1
                continue
            travel[lane] += delay
            place = pushed[lane] % capacity
            pushed[lane] += 1
            slots[DELIVERED, lane, place] = arrival
            slots[ACQUIRED, lane, place] = ticks[sample]
            slots[NUMBER, lane, place] = numbers[sample]
            for number in range(values.shape[2]):
                ring[lane, place, number] = values[lane, sample, number]


@compiled
def _late(slots: Ints, pushed: Ints, lane: int, tick: int) -> tuple[int, int]:
    """See :meth:`SampleQueue.waiting`."""
    count = travel = 0
    for place in range(min(pushed[lane], slots.shape[2])):
        if slots[DELIVERED, lane, place] > tick:
            count += 1
            travel += slots[DELIVERED, lane, place] - slots[ACQUIRED, lane, place]
    return count, travel


@compiled
def _show(now: Ints, overtaking: bool, ring: Floats, slots: Ints, pushed: Ints, values: Floats, shown: Ints) -> None:
    """Find the sample that is visible in each lane: the last arrival, of several at once the one acquired last."""
    capacity = ring.shape[1]
    for lane in range(len(now)):
        best, arrival = -1, LOST
        for back in range(1, min(pushed[lane], capacity) + 1):
            place = (pushed[lane] - back) % capacity
            delivered = slots[DELIVERED, lane, place]
            if arrival < delivered <= now[lane]:
                best, arrival = place, delivered
                if not overtaking:
                    break
        for what in range(len(shown)):
            shown[what, lane] = slots[what, lane, best] if best >= 0 else LOST
        for number in range(values.shape[1]):
            values[lane, number] = ring[lane, best, number] if best >= 0 else np.nan
