"""The way out: what a host says of each completed boundary, and who listens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from sweep.errors import HostError, InvalidInputError, Problem
from sweep.plan.clock import Grid
from sweep.runtime.fault import EpisodeEnd, Fault, what_raised
from sweep.runtime.instance import SimulationInstance
from sweep.runtime.output import DeviceOutput
from sweep.runtime.snapshot import SimulationSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOutput:
    """One completed boundary, copied: it may be kept and may leave the execution thread.

    Attributes:
        episode_index: which episode; with ``tick`` it identifies the boundary.
        tick: the boundary.
        episode_time_s: its time since the episode began [s].
        session_time_s: its time since the host began [s]; no reset moves it back, so a clock for others shows this.
        devices: what each device shows, by id.
        fault: why the Instance faulted, on the last output of such an episode.
        end: the domain's end of the episode, on its last output.
        snapshot: the state, where a sink asked for it.
    """

    episode_index: int
    tick: int
    episode_time_s: float
    session_time_s: float
    devices: Mapping[str, DeviceOutput]
    fault: Fault | None = None
    end: EpisodeEnd | None = None
    snapshot: SimulationSnapshot | None = None


class Sink(Protocol):
    """Carries outputs outward.

    A host calls its sinks one after the other on the execution thread, between two steps: what they are told is
    complete and in order, and a slow one slows the session but changes no simulated bit.  One that raises stops the
    host.
    """

    def publish(self, output: HostOutput) -> None:
        """Take one output."""

    def close(self) -> None:
        """The session is over: write out what is waiting."""


@runtime_checkable
class StateSink(Protocol):
    """A Sink that wants the state, too.

    Attributes:
        snapshot_period_s: simulated time from one snapshot to the next [s].
    """

    snapshot_period_s: float


class LatestSnapshot:
    """A sink that keeps the latest state for another thread: a renderer copies it into an MjData of its own.

    Args:
        snapshot_period_s: simulated time from one snapshot to the next [s].
    """

    def __init__(self, snapshot_period_s: float = 1 / 30) -> None:
        self.snapshot_period_s = snapshot_period_s
        self._latest: SimulationSnapshot | None = None

    @property
    def latest(self) -> SimulationSnapshot | None:
        """The last snapshot; None before the first.  Safe from any thread."""
        return self._latest

    def publish(self, output: HostOutput) -> None:
        """Keep the snapshot, if there is one."""
        if output.snapshot is not None:
            self._latest = output.snapshot

    def close(self) -> None:
        """Nothing waits here."""


class Publisher:
    """A host's sinks, and what is due to them.

    Args:
        sinks: who is told.
        grid: the physics grid.
        every: ticks from one output to the next.

    Raises:
        InvalidInputError: fewer than one tick.
    """

    def __init__(self, sinks: Sequence[Sink], grid: Grid, every: int) -> None:
        if every < 1:
            raise InvalidInputError("host", [Problem("publish_every", f"is at least 1 tick; found {every!r}")])
        self._sinks = tuple(sinks)
        self._every = every
        periods = [grid.ticks(sink.snapshot_period_s) for sink in sinks if isinstance(sink, StateSink)]
        self._snapshot_every = max(1, min(periods, default=0)) if periods else None
        self._shown: tuple[int, int] | None = None

    def publish(self, instance: SimulationInstance, *, is_last: bool) -> None:
        """Tell of the boundary that an Instance is at, if that is due.

        Args:
            instance: the Instance, on its own thread.
            is_last: whether the episode is over, which is always told.

        Raises:
            HostError: a sink raised.
        """
        if not self._sinks or (instance.tick % self._every and not is_last):
            return
        output = HostOutput(
            episode_index=instance.episode_index,
            tick=instance.tick,
            episode_time_s=instance.episode_time_s,
            session_time_s=instance.session_time_s,
            devices=MappingProxyType(instance.outputs()),
            fault=instance.fault,
            end=instance.end,
            snapshot=instance.snapshot() if self._snapshot_due(instance) else None,
        )
        for sink in self._sinks:
            try:
                sink.publish(output)
            except (Exception, SystemExit) as error:
                where = f"at tick {output.tick} of episode {output.episode_index}"
                raise HostError(f"sink {type(sink).__name__} raised {where}: {what_raised(error)}") from error

    def close(self) -> HostError | None:
        """Close every sink; returns what the first that raised had to say."""
        errors = []
        for sink in self._sinks:
            try:
                sink.close()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the other sinks still have something to write
                errors.append(HostError(f"sink {type(sink).__name__} raised while closing: {what_raised(error)}"))
        return errors[0] if errors else None

    def _snapshot_due(self, instance: SimulationInstance) -> bool:
        if self._snapshot_every is None:
            return False
        showing = instance.episode_index, instance.tick // self._snapshot_every
        due, self._shown = showing != self._shown, showing
        return due
