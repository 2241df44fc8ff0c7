"""What a driver leaves in the trace: the inputs that were committed to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.components.command_transport import NEVER, Flight
from sweep.runtime.context import BatchContext
from sweep.runtime.ingress.command import Command
from sweep.runtime.numerics.compiled import compiled
from sweep.runtime.tracing.trace import TraceColumn
from sweep.runtime.transport.channel import LOST

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class CommittedInputs:
    """The inputs of one driver that lanes lived to see committed, digested and, where events are kept, remembered.

    Args:
        context: the batch.
        width: numbers of a command.
    """

    def __init__(self, context: BatchContext, width: int) -> None:
        self._lanes, self._width = context.lanes, width
        self._column = TraceColumn(context.lanes, 1 + width)
        self._everyone = np.ones(context.lanes, bool)
        self._log: list[tuple[Command, Flight | None, Bools | None]] | None = [] if context.keep_events else None
        self._joined: tuple[Bools, dict[str, NDArray[Any]]] | None = None

    def append(self, command: Command, flight: Flight | None, lanes: Bools | None) -> None:
        """Record an input that was committed in some lanes (None: in all); no flight means that it was stale."""
        if flight is not None:
            mine = self._everyone if lanes is None else lanes
            _write_down(command.commit_tick, command.values, mine, *self._column.room(1))
        if self._log is not None:
            self._log.append((command, flight, lanes))
            self._joined = None

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's committed inputs."""
        return self._column.digest(lane)

    def table(self, lane: int) -> dict[str, NDArray[Any]]:
        """The lane's committed inputs in the order of their commit, by column; see :meth:`Driver.event_table`."""
        if self._joined is None:
            self._joined = self._join()
        own, columns = self._joined
        return {
            name: column[own[:, lane]] if column.ndim == 1 else column[own[:, lane], lane]
            for name, column in columns.items()
        }

    def _join(self) -> tuple[Bools, dict[str, NDArray[Any]]]:
        """Whose each input is, ``(n, lanes)``, and all columns: ``(n,)``, or ``(n, lanes, ...)`` where lanes differ."""
        log = sorted(self._log or (), key=lambda entry: entry[0].order)
        commands, shape = [command for command, *_ in log], (len(log), self._lanes)
        own, arrival, sequence = np.ones(shape, bool), np.full(shape, LOST), np.empty(shape, np.int64)
        values = np.empty((*shape, self._width))
        for row, (command, flight, lanes) in enumerate(log):
            own[row] = True if lanes is None else lanes
            values[row] = command.values
            sequence[row] = _sequence(command, flight)
            if flight is not None:
                arrival[row] = flight.arrival
        return own, {
            "tick": np.array([command.commit_tick for command in commands], np.int64),
            "source_id": np.array([command.source_id for command in commands], np.str_),
            "source_sequence": sequence,
            "acceptance": np.array([command.acceptance for command in commands], np.int64),
            "effective_s": np.array([command.effective_s for command in commands], np.float64),
            "arrival_tick": np.where(arrival == NEVER, LOST, arrival),
            "values": values,
            "stale": np.array([flight is None for _, flight, _ in log], np.bool_),
        }


@compiled
def _write_down(tick: int, values: Floats, mine: Bools, rows: Floats, filled: Ints) -> None:
    """Put an input into the rows of the lanes that it is for; ``values (lanes or 1, width)``."""
    for lane in range(len(mine)):
        if mine[lane]:
            row = rows[lane, filled[lane]]
            filled[lane] += 1
            row[0] = tick
            for number in range(values.shape[1]):
                row[1 + number] = values[lane if len(values) > 1 else 0, number]


def _sequence(command: Command, flight: Flight | None) -> Ints | int:
    """A controller's calls are counted lane by lane; the batch's count would tell of the neighbours."""
    if command.from_outside or flight is None or flight.numbers is None:
        return command.source_sequence
    return flight.numbers
