"""What every driver does: let commands arrive, watch them, convert them to controls, and account for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.results.record import StreamReceipt
from sweep.runtime.block import Block, BlockView, as_slice
from sweep.runtime.components.command_transport import CommandTransport, Flight
from sweep.runtime.components.committed_inputs import CommittedInputs
from sweep.runtime.components.conversion import (
    Factor,
    Stage,
    active_stages,
    control_numbers,
    lag,
    resolution,
    slew_limit,
)
from sweep.runtime.components.watchdog import Watchdog
from sweep.runtime.context import BatchContext
from sweep.runtime.fault import Fault
from sweep.runtime.ingress.command import Command
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.numerics.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Driver:
    """A driver of all lanes of a batch; :mod:`sweep.plan.drivers` lists the stages that a command passes.

    A family adds stages and limits when it is built, and overrides what of its hardware is different: :meth:`law`,
    :meth:`braked`, :meth:`bounds`, :meth:`control`.

    Args:
        name: the component's id.
        specs: its spec in each lane.
        context: the batch.

    Attributes:
        width: numbers of a command, one for each control.
        reads_state: whether it needs P_n to compute the controls of tick n; blocks are then one tick long.
    """

    def __init__(self, name: str, specs: Sequence[Any], context: BatchContext) -> None:
        self.name = name
        self.reads_state = False
        columns = context.index.controls(specs[0].actuators)
        self.width = len(columns)
        self._columns = as_slice(columns)
        self._watchdog = Watchdog.of(specs, context.grid, self.width)
        initial, timestep = self.numbers(specs, lambda s: s.initial or 0.0), context.grid.timestep
        self._transport = CommandTransport(name, specs, context, initial, dated=self._watchdog is not None)
        self._stages: list[Stage] = active_stages(
            [resolution(specs, self.width), slew_limit(specs, initial, timestep), lag(specs, initial, timestep)]
        )
        self._strength = active_stages([Factor(self.numbers(specs, lambda s: s.strength))])
        self._low, self._high = (np.tile(end, (context.lanes, 1, 1)) for end in context.index.control_limits(columns))
        self._inputs = CommittedInputs(context, self.width)
        self._accepted: list[tuple[Command, Flight | None]] = []  # in this block
        self._lossy = "dropout" in specs[0].transport_streams
        self._lost, self._saturated, self._timed_out = np.zeros((3, context.lanes), np.int64)
        self._over: Bools | None = None  # of this block, (lanes, ticks): saturated
        self._tripped: Bools | None = None  # and under fallback

    @classmethod
    def problems(cls, spec: Any, index: ModelIndex, path: str) -> list[Problem]:
        """What of a spec does not fit the model."""
        problems = index.actuator_problems(f"{path}.actuators", spec.actuators)
        if problems:
            return problems
        given = {field: getattr(spec, field) for field in sorted(spec.per_control)}
        counts = {field: len(values) for field, values in given.items() if isinstance(values, tuple)}
        width = len(index.controls(spec.actuators)) if set(counts.values()) - {1} else 1
        problems += [
            Problem(f"{path}.{field}", f"{count} numbers for {width} controls")
            for field, count in counts.items()
            if count not in (1, width)
        ]
        return problems + cls.actuator_problems(spec, index, f"{path}.actuators")

    @classmethod
    def actuator_problems(cls, spec: Any, index: ModelIndex, path: str) -> list[Problem]:
        """Actuators that exist, but are of a kind that it does not drive."""
        return []

    def numbers(self, specs: Sequence[Any], read: Callable[[Any], float | tuple[float, ...]]) -> Floats:
        """A parameter of every lane and control, ``(lanes, width)``."""
        return control_numbers(specs, read, self.width)

    def limit(self, magnitude: Floats) -> None:
        """Pass on no more than ``magnitude (lanes, width)``."""
        self._low = np.maximum(self._low, -magnitude[:, None])
        self._high = np.minimum(self._high, magnitude[:, None])

    def law(self, command: Floats, tick: int, start: Floats) -> Floats:
        """What the hardware makes of a command ``(lanes, ticks, width)``, given the boundary ``start`` at ``tick``."""
        return command

    def braked(self, wanted: Floats, tripped: Bools, start: Floats) -> Floats:
        """What is wanted where the watchdog has tripped ``(lanes, ticks)`` and the fallback is to brake."""
        return wanted

    def bounds(self, start: Floats) -> tuple[Floats, Floats]:
        """The least and the largest that is passed on, ``(lanes, 1, width)``."""
        return self._low, self._high

    def control(self, applied: Floats) -> Floats:
        """The actuators' controls for what is passed on."""
        return applied

    def accept(self, command: Command) -> None:
        """Take a committed input; a sequence number not above its source's last is stale and dropped."""
        self._accepted.append((command, self._transport.accept(command)))

    def apply(self, block: Block, controls: Floats, start: Floats) -> Mapping[int, Fault] | None:
        """Phase 6 of every tick of a block.

        Args:
            block: the ticks; one if it reads state.
            controls: ``(lanes, length, nu)``, of which this drive fills its columns.
            start: ``(lanes, 1 + nq + nv + na)`` the boundary P_start.

        Returns:
            The fault of each lane in which a law of the user's own raised.
        """
        assert block.length == 1 or not self.reads_state
        command, since = self._transport.arrived(block)
        if self._watchdog is not None and since is not None:
            self._tripped = self._watchdog.tripped(np.arange(block.start, block.stop), since)
            command = self._watchdog.watched(command, self._tripped)
        for stage in self._stages:
            command = stage(command)
        wanted = self.law(command, block.start, start)
        for factor in self._strength:
            wanted = factor(wanted)
        if self._tripped is not None:
            wanted = self.braked(wanted, self._tripped, start)
        low, high = self.bounds(start)
        applied = np.empty(wanted.shape)
        self._over = (applied != wanted).any(axis=2) if _limit(wanted, low, high, applied) else None
        controls[:, :, self._columns] = self.control(applied)
        return None

    def settle(self, view: BlockView) -> None:
        """After a block: account for what each lane lived to see, and forget what has arrived."""
        for command, flight in self._accepted:
            self._commit(command, flight, view)
        self._accepted = []
        self._transport.settle(view)
        if self._over is not None:
            self._saturated += _steps(self._over, view)
        if self._tripped is not None:
            self._timed_out += _steps(self._tripped, view)

    def digest(self, lane: int) -> bytes:
        """Digest of the lane's committed inputs."""
        return self._inputs.digest(lane)

    def receipts(self, lane: int) -> dict[str, StreamReceipt]:
        """Which draws the lane used, by stream; none if a sender's count left gaps or senders shared numbers."""
        return self._transport.receipts(lane)

    def summary(self, lane: int, steps: int) -> dict[str, float]:
        """Commands that arrived and, where they can be, were lost; shares of steps saturated and under fallback."""
        summary = {"commands": float(self._transport.delivered(lane))}
        if self._lossy:
            summary["lost"] = float(self._lost[lane])
        summary["saturated"] = int(self._saturated[lane]) / max(1, steps)
        if self._watchdog is not None and self._watchdog.watches[lane]:
            summary["timed_out"] = int(self._timed_out[lane]) / max(1, steps)
        return summary

    def event_table(self, lane: int) -> dict[str, NDArray[Any]]:
        """The lane's committed inputs in the order of their commit, by column.

        Returns:
            ``tick`` (of the commit), ``source_id``, ``source_sequence`` (a controller's calls are counted in the lane),
            ``acceptance``, ``effective_s``, ``arrival_tick`` (-1: lost or stale), ``values (n, width)``, ``stale``.
        """
        return self._inputs.table(lane)

    def _commit(self, command: Command, flight: Flight | None, view: BlockView) -> None:
        lanes = command.lanes
        if view.through is not None:
            lived = view.through >= command.commit_tick
            lanes = lived if lanes is None else lived & lanes
        self._inputs.append(command, flight, lanes)
        if flight is not None:
            if flight.numbers is not None:
                self._transport.committed(flight.numbers, lanes)
            if flight.lost is not None:
                self._lost += flight.lost if lanes is None else flight.lost & lanes


@compiled
def _limit(wanted: Floats, low: Floats, high: Floats, applied: Floats) -> bool:
    """Keep ``wanted (lanes, ticks, width)`` within limits ``(lanes, 1, width)``; whether anything was beyond them."""
    beyond = False
    for lane in range(len(wanted)):
        for tick in range(wanted.shape[1]):
            for number in range(wanted.shape[2]):
                x = wanted[lane, tick, number]
                # Of two zeros the limit's sign counts.
                if x <= low[lane, 0, number]:
                    x = low[lane, 0, number]
                if x >= high[lane, 0, number]:
                    x = high[lane, 0, number]
                applied[lane, tick, number] = x
                beyond |= x != wanted[lane, tick, number]
    return beyond


def _steps(happened: Bools, view: BlockView) -> Ints:
    """In how many steps of a block something happened, ``(lanes,)``, as far as each lane lived."""
    if view.through is not None:
        happened = happened & (np.arange(view.block.start, view.block.stop) <= view.through[:, None])
    count: Ints = np.add.reduce(happened, axis=1)
    return count
