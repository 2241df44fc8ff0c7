"""The way that messages travel, for all lanes of a batch: which are lost, and when the others arrive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sweep.plan.instants import LaneInstants
from sweep.plan.streams import stream_key
from sweep.plan.transport import TransportSpec
from sweep.results.record import StreamReceipt
from sweep.runtime.context import BatchContext
from sweep.runtime.noise import LaneStream, uniforms
from sweep.runtime.transport.jitter import JitterLaw, jitter_law
from sweep.runtime.transport.loss import loss_law

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LOST = -1
"""The arrival of a message that never arrives."""

_AHEAD = 256
"""Messages whose jitter is worked out at once."""


class Channel:
    """What carries the messages of one component; see :class:`sweep.plan.transport.TransportSpec`.

    A message is named by its draw index: the acquisition number of a sample, the source sequence of a command.  Its
    jitter and its loss depend on that index and the component's streams ``latency`` and ``dropout`` alone, except that
    burst loss and ``fifo`` also know the messages sent before it.  So messages are handed over once each and in the
    order in which they are sent, in blocks of any length.

    Args:
        name: the component's id, which names the streams.
        specs: its specification in each lane.
        context: the batch.
        latency: each lane's latency [s], exact.

    Attributes:
        streams: the noise streams it draws from, by name; one draw a message.
        latency: ``(lanes,)`` delay of a message without jitter [ticks].
        shortest: ``(lanes,)`` least delay of any message [ticks].
        longest: ``(lanes,)`` greatest delay of any message [ticks].
        steady: whether every message arrives, and after the same time: then nothing is drawn.
        overtaking: whether a message may arrive before an earlier one.
    """

    def __init__(self, name: str, specs: Sequence[TransportSpec], context: BatchContext,
                 latency: Sequence[Fraction]) -> None:  # fmt: skip
        self._specs, self._latency_s, self._timestep = specs, tuple(latency), context.grid.timestep
        self.streams = {
            stream: LaneStream([stream_key(seed, name, stream) for seed in context.seeds], width, kind="uniform")
            for stream, width in (("latency", 1), ("dropout", 2))
            if stream in specs[0].transport_streams
        }
        self.latency: Ints = np.array([math.ceil(seconds / self._timestep) for seconds in latency], np.int64)
        self._latency_column = self.latency[:, None]
        self._law = None if specs[0].jitter is None else self._law_of(range(context.lanes))
        self.shortest = self.latency if self._law is None else self._law.shortest
        self.longest = self.latency if self._law is None else self._law.longest
        self.steady = not self.streams
        self._loss = loss_law(specs)
        self.overtaking = self._law is not None and specs[0].ordering == "overtaking"
        self._in_order = self._law is not None and not self.overtaking
        self._lanes = np.arange(context.lanes)
        self._ahead_from, self._ahead = 0, np.empty((context.lanes, 0), np.int64)
        self._last = np.full((context.lanes, 1), LOST, np.int64)  # latest arrival so far

    def arrivals(self, sent: Ints, draws: Ints, counts: Ints | None = None) -> Ints:
        """When messages arrive.

        Args:
            sent: ``(lanes or 1, n)`` ticks at which they are sent, never decreasing.
            draws: ``(lanes or 1, n)`` their draw indices.
            counts: ``(lanes,)`` how many of them are each lane's, the leading ones; None means all.

        Returns:
            ``(lanes, n)`` ticks, :data:`LOST` for those that never arrive; without meaning beyond ``counts``.
        """
        if self.steady:
            return sent + self._latency_column
        delays, lost = self.fates(draws, counts)
        arrivals = sent + delays
        if lost is not None:
            arrivals[lost] = LOST
        if self._in_order:
            running = np.maximum.accumulate(np.hstack([self._last, arrivals]), axis=1)
            self._last = self._carried(running, counts)
            arrivals = running[:, 1:] if lost is None else np.where(lost, LOST, running[:, 1:])
        return arrivals

    def delays(self, sent: Ints, draws: Ints, counts: Ints | None = None) -> Ints:
        """How long messages travel; see :meth:`arrivals`.

        Returns:
            ``(lanes, n)`` ticks, or ``(lanes, 1)`` where all of a lane's take the same, not to be changed.
        """
        if self.steady:
            return self._latency_column
        arrivals = self.arrivals(sent, draws, counts)
        return np.where(arrivals == LOST, LOST, arrivals - sent)

    def fates(self, draws: Ints, counts: Ints | None = None) -> tuple[Ints, Bools | None]:
        """What becomes of messages, each by itself: ``fifo`` is not yet applied.

        Args:
            draws: ``(lanes or 1, n)`` their draw indices, in the order in which they are sent.
            counts: ``(lanes,)`` how many of them are each lane's, the leading ones; None means all.

        Returns:
            Delay of each [ticks], ``(lanes, n)``, not to be changed; and which are lost, ``(lanes, n)``, or None if
            none can be.
        """
        if self._law is None:
            delays = np.repeat(self._latency_column, draws.shape[1], axis=1)
        else:
            delays = self._jittered(self._law, draws)
        if self._loss is None:
            return delays, None
        return delays, self._loss.lost(self.streams["dropout"].rows(draws), counts)

    def deadlines_s(self, lane: int, sent: Ints, draws: Ints) -> Floats:
        """When messages of one lane are asked to arrive [s]: sent at ticks ``(n,)``, with draw indices ``(n,)``."""
        if self._law is None or not len(draws):
            return LaneInstants.of([(self._timestep, self._latency_s[lane])]).at(sent)
        first, key = int(draws.min()), self.streams["latency"].keys[lane]
        uniform = uniforms(key, first, int(draws.max()) - first + 1)[draws - first]
        return self._law_of([lane]).deadlines_s(sent, uniform[None])

    def receipts(self, lane: int, first: int, count: int) -> dict[str, StreamReceipt]:
        """Which draws a lane used, by stream: so many messages from draw index ``first`` on."""
        return {name: stream.receipt(lane, first, count) for name, stream in self.streams.items()}

    def _law_of(self, lanes: Sequence[int]) -> JitterLaw:
        jitters = [self._specs[lane].jitter for lane in lanes]
        return jitter_law(jitters, [self._latency_s[lane] for lane in lanes], self._timestep)

    def _jittered(self, law: JitterLaw, draws: Ints) -> Ints:
        """Delays by draw index; where all lanes ask alike, many messages ahead, since calls are what costs."""
        first, stop = int(draws[0, 0]), int(draws[0, -1]) + 1
        if len(draws) > 1 or stop - first != draws.shape[1]:
            return law.ticks(self.streams["latency"].rows(draws)[..., 0])
        if first < self._ahead_from or stop > self._ahead_from + self._ahead.shape[1]:
            self._ahead_from = first
            self._ahead = law.ticks(self.streams["latency"].span(first, max(stop - first, _AHEAD))[..., 0])
        return self._ahead[:, first - self._ahead_from : stop - self._ahead_from]

    def _carried(self, running: Ints, counts: Ints | None) -> Ints:
        """The last value of each lane's own messages; column 0 is what was carried before."""
        return running[:, -1:].copy() if counts is None else running[self._lanes, counts][:, None]
