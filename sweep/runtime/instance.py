"""SimulationInstance: one episode after another of one Plan, one lane, owned by one thread."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from sweep.errors import EndedError, FaultedError, InvalidInputError, OwnershipError, Problem, did_you_mean
from sweep.plan.claims import StateResource
from sweep.plan.plan import Plan
from sweep.plan.streams import checked_seed
from sweep.results.record import RunRecord, StreamReceipt
from sweep.runtime.batch import InstanceBatch
from sweep.runtime.fault import EpisodeEnd, Fault
from sweep.runtime.injection import resource_of, writes_of
from sweep.runtime.mailbox import Mailbox
from sweep.runtime.output import DeviceOutput
from sweep.runtime.snapshot import SimulationSnapshot, snapshot_of
from sweep.runtime.trace import TraceEvent


class SimulationInstance:
    """The live state of one episode of a Plan under a seed.

    The thread that makes it owns it: ``step``, ``advance``, ``snapshot``, ``inject``, ``reset`` and ``events`` raise
    :class:`OwnershipError` elsewhere.  :meth:`enqueue_external_input` is safe from any thread.

    Args:
        plan: what to simulate.
        seed: the episode seed; the manifest's ``runtime.episode_seed`` by default.
        max_block: longest block of ticks executed at once.
    """

    def __init__(self, plan: Plan, seed: int | None = None, *, max_block: int | None = None) -> None:
        self.plan = plan
        self._max_block = max_block
        self._owner = threading.current_thread()
        self._episode = 0
        self._past_ticks = 0
        self._past_events: list[TraceEvent] = []
        self._mailbox = Mailbox(plan.grid)
        self._seed = plan.manifest.runtime.episode_seed if seed is None else seed
        self._batch = self._new_episode()

    @property
    def seed(self) -> int:
        """The episode seed."""
        return self._seed

    @property
    def tick(self) -> int:
        """The boundary reached in this episode."""
        stop = self._batch.stops.get(0)
        return self._batch.tick if stop is None else stop.settled

    @property
    def episode_index(self) -> int:
        """How many resets there were."""
        return self._episode

    @property
    def episode_time_s(self) -> float:
        """Simulated time of this episode [s]; a reset returns it to zero."""
        return self.plan.grid.time_s(self.tick)

    @property
    def session_time_s(self) -> float:
        """Simulated time of all episodes together [s]; it only grows."""
        return self.plan.grid.time_s(self._past_ticks + self.tick)

    @property
    def fault(self) -> Fault | None:
        """The fault, if the Instance is faulted."""
        stop = self._batch.stops.get(0)
        return stop if isinstance(stop, Fault) else None

    @property
    def end(self) -> EpisodeEnd | None:
        """The domain's end of the episode, if there was one."""
        stop = self._batch.stops.get(0)
        return stop if isinstance(stop, EpisodeEnd) else None

    @property
    def trace_digest(self) -> str:
        """Digest of this episode's trace so far."""
        self._own("trace_digest")
        return self._batch.trace_digest(0)

    @property
    def stream_receipts(self) -> dict[str, StreamReceipt]:
        """Which noise draws were used, by ``component/stream``."""
        self._own("stream_receipts")
        return dict(self._batch.record(0).receipts)

    @property
    def metrics(self) -> dict[str, float | None]:
        """Every metric folded over the steps so far."""
        self._own("metrics")
        self._batch.observation.flush()
        return {name: metric.value(0) for name, metric in self._batch.metrics.items()}

    def step(self) -> None:
        """Advance one physics interval through the thirteen phases."""
        self.advance(1)

    def advance(self, ticks: int) -> None:
        """Advance by a number of steps, running the Plan's controllers after the steps they are due at.

        Raises:
            FaultedError: the Instance is faulted.
            EndedError: the episode has ended.
            OwnershipError: called from another thread.
            ValueError: a negative number.
        """
        self._own("advance")
        if ticks < 0:
            raise ValueError(f"an Instance advances by 0 or more ticks, not {ticks}")
        if self.fault is not None:
            raise FaultedError(f"the Instance is faulted ({self.fault}); reset() begins a new episode")
        if self.end is not None:
            raise EndedError(f"the episode ended at tick {self.end.tick} ({self.end.reason}); reset() begins a new one")
        self._batch.advance(ticks)

    def run(self) -> RunRecord:
        """Run to the Plan's horizon and return the record."""
        self._own("run")
        return self._batch.run()[0]

    def reset(self, seed: int | None = None) -> None:
        """Begin a new episode; what was in flight is cancelled, and the old episode's events say so.

        Args:
            seed: a new episode seed; the present one is kept by default.
        """
        self._own("reset")
        seed = self._seed if seed is None else checked_seed(seed)
        self._past_events = self.events() + self._cancelled()
        self._past_ticks += self.tick
        self._episode += 1
        self._seed = seed
        self._batch = self._new_episode()

    def output(self, component_id: str) -> DeviceOutput:
        """What a device shows; reading advances nothing.

        Raises:
            InvalidInputError: no such device.
        """
        self._own("output")
        device = self._batch.devices.get(component_id)
        if device is None:
            message = f"there is no device {component_id!r}{did_you_mean(component_id, list(self._batch.devices))}"
            raise InvalidInputError("output", [Problem("", message)])
        return self._batch.outputs()[component_id].lane(0)

    def snapshot(self) -> SimulationSnapshot:
        """A coherent copy of the state; it changes nothing, the trace digest included."""
        self._own("snapshot")
        _, data = self._batch.physics.data(0)
        return snapshot_of(data, episode_index=self._episode, tick=self.tick, time_s=self.episode_time_s)

    def inject(self, resource: str | StateResource, value: Any) -> SimulationSnapshot:
        """Overwrite one complete resource (diagnosis), and return the coherent state that results.

        Args:
            resource: for example ``JointKinematics("hinge")`` or ``"joint_kinematics:hinge"``.
            value: all of it: ``(qpos, qvel)`` of a joint, ``(pos, quat)`` of a mocap body, the activation of an
                actuator; or a mapping ``{"qpos": ..., "qvel": ...}``.

        Raises:
            InvalidInputError: no such resource, an incomplete value, or a resource that a component has claimed.
        """
        self._own("inject")
        resource = resource_of(resource)
        claims = {c.resource: c.owner for n, s in self.plan.manifest.components.items() for c in s.claims(n)}
        if resource in claims:
            message = f"is claimed by {claims[resource]!r}, which would overwrite it"
            raise InvalidInputError("injection", [Problem(str(resource), message)])
        for field, columns, numbers in writes_of(resource, value, self._batch.context.index):
            self._batch.physics.write(0, field, columns, numbers)
        self._batch.boundary = self._batch.physics.boundary()
        return self.snapshot()

    def enqueue_external_input(
        self,
        target: str,
        values: Any,
        *,
        source_id: str = "external",
        source_sequence: int | None = None,
        effective_time_s: float | None = None,
    ) -> int:
        """Send a command to a driver, from any thread.  Nothing changes until the next ExternalInputCommit.

        Args:
            target: the driver's id.
            values: one number per control of the driver.
            source_id: who sends it.
            source_sequence: the sender's own count; one that does not rise is stale, and dropped at the commit.
            effective_time_s: not before this episode time [s]; as soon as possible by default.

        Returns:
            The run-unique number it was accepted under.

        Raises:
            InvalidInputError: no such driver, or another number of values.
            GridError: the effective time is negative or not a time.
            MailboxFullError: nothing was accepted.
        """
        drivers = self._batch.drivers
        if target not in drivers:
            message = f"there is no driver {target!r}{did_you_mean(target, list(drivers))}"
            raise InvalidInputError("external input", [Problem("", message)])
        numbers = np.array(values, np.float64).reshape(-1)
        if numbers.shape != (drivers[target].width,):
            message = f"{len(numbers)} values for {target!r}, which has {drivers[target].width} controls"
            raise InvalidInputError("external input", [Problem("", message)])
        numbers.flags.writeable = False
        return self._mailbox.enqueue(
            target,
            numbers,
            source_id=source_id,
            source_sequence=source_sequence,
            effective_s=effective_time_s,
        )

    def events(self) -> list[TraceEvent]:
        """Everything that happened in this session so far: samples with their four times, committed inputs, ends,
        faults, cancellations; in the order of episodes, ticks and components.
        """
        self._own("events")
        events = [e for device in self._batch.devices.values() for e in device.events(0, self._episode)]
        events += [e for driver in self._batch.drivers.values() for e in driver.events(0, self._episode)]
        stop = self._batch.stops.get(0)
        if isinstance(stop, Fault):
            data = {"phase": stop.phase.title, "kind": stop.kind, "message": stop.message}
            events.append(self._event("fault", stop.tick, stop.component, data))
        elif stop is not None:
            events.append(
                self._event("end", stop.tick, stop.component, {"reason": stop.reason, "success": stop.success})
            )
        return self._past_events + sorted(events, key=lambda e: (e.tick, e.component))

    def _cancelled(self) -> list[TraceEvent]:
        """What the episode leaves behind in queues."""
        tick, updated = self.tick, int(self._batch.outputs_tick(0))
        cancelled = []
        for name, device in self._batch.devices.items():
            count = device.in_flight(0, updated)
            if count:
                cancelled.append(self._event("cancelled", tick, name, {"what": "samples", "count": count}))
        commands = [c for driver in self._batch.drivers.values() for c in driver.in_flight()]
        for command in [*commands, *self._mailbox.cancel()]:
            data = {"what": "input", "source_id": command.source_id, "acceptance": command.acceptance}
            cancelled.append(self._event("cancelled", tick, command.target, data))
        return cancelled

    def _event(self, kind: str, tick: int, component: str, data: dict[str, Any]) -> TraceEvent:
        return TraceEvent(kind=kind, episode_index=self._episode, tick=tick, component=component, data=data)

    def _new_episode(self) -> InstanceBatch:
        # All but the mailbox is built anew, so that no trace of an earlier episode, however broken, is left in it.
        return InstanceBatch([self.plan], [self._seed], self._max_block, keep_events=True, mailbox=self._mailbox)

    def _own(self, operation: str) -> None:
        caller = threading.current_thread()
        if caller is not self._owner:
            raise OwnershipError(operation, self._owner.name, caller.name)
