"""The inputs that were sent to a batch, as each lane alone would have counted them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.ingress.command import Command
from sweep.runtime.tracing.rows import Columns

Ints = NDArray[np.int64]

_NEVER = np.iinfo(np.int64).max


class SentInputs:
    """Every input of an episode.  Lanes share a mailbox and controllers; here each counts only what concerns it.

    Args:
        lanes: number of lanes.
        committed: the inputs that became visible in some lane.
        left: the others.
    """

    def __init__(self, lanes: int, committed: Sequence[Command], left: Sequence[Command]) -> None:
        sent = [*((c.commit_tick, c) for c in committed), *((_NEVER, c) for c in left)]
        sent.sort(key=lambda entry: entry[1].acceptance)
        self._commands = [command for _, command in sent]
        self._ticks = np.array([tick for tick, _ in sent], np.int64)
        self._acceptance = np.array([command.acceptance for command in self._commands], np.int64)
        self._own = np.ones((len(sent), lanes), bool)
        for row, command in enumerate(self._commands):
            if command.lanes is not None:
                self._own[row] = command.lanes
        self._sequences = self._counted_by_senders()

    def counts(self, lane: int, acceptance: Ints) -> dict[str, Ints]:
        """The columns ``acceptance`` and ``source_sequence`` of inputs, as they are in the lane.

        What a controller sends is told by its own count: its acceptance is 0, so that a replay, in which it is called
        again, says the same.

        Args:
            lane: which.
            acceptance: ``(n,)`` the numbers under which they were accepted.
        """
        rows = np.searchsorted(self._acceptance, acceptance)
        return {"acceptance": np.maximum(acceptance, 0), "source_sequence": self._sequences[rows, lane]}

    def left_behind(self, lane: int, last: int, under_way: Ints) -> dict[str, Columns]:
        """The inputs that did not reach their drivers, by driver.

        Args:
            lane: which.
            last: its last tick; what was meant for a later one was never committed.
            under_way: the numbers under which inputs were accepted that were committed but did not arrive.
        """
        waits = (self._ticks > last) | np.isin(self._acceptance, under_way)
        rows: dict[str, list[int]] = {}
        for row in np.flatnonzero(self._own[:, lane] & waits).tolist():
            rows.setdefault(self._commands[row].target, []).append(row)
        return {target: self._columns(lane, rows[target]) for target in sorted(rows)}

    def _columns(self, lane: int, rows: list[int]) -> Columns:
        commands = [self._commands[row] for row in rows]
        return {
            "source_id": np.array([command.source_id for command in commands]),
            **self.counts(lane, self._acceptance[rows]),
            "effective_s": np.array([command.effective_s for command in commands]),
            "values": np.stack([c.values[min(lane, len(c.values) - 1)] for c in commands]),
        }

    def _counted_by_senders(self) -> Ints:
        """``(n, lanes)``: the sender's own count or, of a controller, how many inputs it had sent to the driver."""
        counted = np.zeros(self._own.shape, np.int64)
        controllers: dict[tuple[str, str], list[int]] = {}
        for row, command in enumerate(self._commands):
            if command.from_outside:
                counted[row] = command.source_sequence
            else:
                controllers.setdefault((command.source_id, command.target), []).append(row)
        for rows in controllers.values():
            counted[rows] = self._own[rows].cumsum(axis=0)
        return counted
