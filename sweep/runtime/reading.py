"""What the readers of a batch need together: what is recorded, when derived state is promoted, how long blocks are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sweep.plan.lane_clock import LaneSchedule
from sweep.runtime.block import Block
from sweep.runtime.reads import FORCE_SENSORS, Reads, StateLevel

EVERYTHING = Reads(StateLevel.FULL)
"""What is assumed of a reader that declares nothing: a full forward every tick."""


@dataclass(frozen=True, slots=True)
class DeviceReads:
    """A Device's declaration: it reads when it acquires.

    Attributes:
        reads: what.
        schedule: when.
        initial: whether it also acquires at tick 0.
        is_sensor: whether it reads sensors only, at any boundary of a block.
    """

    reads: Reads
    schedule: LaneSchedule
    initial: bool
    is_sensor: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The demands of a batch's readers.

    Attributes:
        recorded: MjData fields of the velocity level that are recorded at every boundary of a block.
        opening: fields of the full level that DeviceUpdate reads at a block's first boundary.
        closing: the level that phases 9 to 11 read at a block's last boundary.
        closing_fields: the fields of that.
        forced: the Devices that need a block to begin when they are due.
        sensing: the Devices that read sensors which depend on forces; where controls rest, each step computes them.
        refreshed: whether recorded fields must be recomputed at a block's first boundary (RK4 leaves them behind).
        every_tick: whether blocks are one tick long.
        eager: whether every boundary gets a full forward, read or not.
    """

    recorded: tuple[str, ...]
    opening: tuple[str, ...]
    closing: StateLevel
    closing_fields: tuple[str, ...]
    forced: tuple[DeviceReads, ...]
    sensing: tuple[DeviceReads, ...]
    refreshed: bool
    every_tick: bool
    eager: bool

    @classmethod
    def of(cls, devices: Iterable[DeviceReads], watchers: Iterable[Reads], *, eager: bool, rk4: bool,
           traced: Iterable[str] = ()) -> Reading:  # fmt: skip
        """The demands of Devices, of Interactions and Observers, and of traces."""
        devices, watchers = tuple(devices), tuple(watchers)
        everyone = [*(device.reads for device in devices), *watchers]
        full = [device for device in devices if device.reads.level is StateLevel.FULL]
        sensing = tuple(device for device in full if device.is_sensor and device.reads == FORCE_SENSORS)
        forced = tuple(device for device in full if device not in sensing)
        read = _fields(reads for reads in everyone if reads.level is StateLevel.VELOCITY)
        recorded = tuple(sorted({*read, *traced, *_fields(device.reads for device in sensing)}))
        closing = StateLevel.FULL if eager else max((reads.level for reads in watchers), default=StateLevel.STATE)
        refreshed = rk4 and any(field != "sensordata" for field in recorded)
        return cls(
            recorded=recorded,
            opening=_fields(device.reads for device in forced),
            closing=closing,
            closing_fields=_fields(watchers),
            forced=forced,
            sensing=sensing,
            refreshed=refreshed,
            every_tick=refreshed or closing is StateLevel.FULL or EVERYTHING in everyone,
            eager=eager,
        )

    def next_forced(self, tick: int) -> int:
        """The first tick after ``tick`` at which some lane's forced Device is due; there is one."""
        return min(int(device.schedule.next_tick(tick + 1).min()) for device in self.forced)

    def is_forced(self, tick: int) -> bool:
        """Whether a forced Device of some lane is due at this tick."""
        return any(
            (tick == 0 and device.initial) or bool((device.schedule.next_tick(tick) == tick).any())
            for device in self.forced
        )

    def sensed_at(self, block: Block) -> list[int]:
        """The ticks of a block at which some lane's sensor of forces is due."""
        ticks: set[int] = set()
        for device in self.sensing:
            ticks.update(np.unique(device.schedule.due(block.start, block.stop).ticks).tolist())
            if device.initial and not block.start:
                ticks.add(0)
        return sorted(ticks)


def _fields(declared: Iterable[Reads]) -> tuple[str, ...]:
    return tuple(sorted({field for reads in declared for field in reads.fields}))
