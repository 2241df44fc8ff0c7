"""SimulationInstance: one episode after another of one Plan, one lane, owned by one thread."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from operator import index as as_index
from typing import Any

from sweep.errors import EndedError, FaultedError, InvalidInputError, OwnershipError
from sweep.plan.claims import StateResource
from sweep.plan.plan import Plan
from sweep.plan.problems import unknown_name
from sweep.plan.streams import checked_seed
from sweep.results.record import RunRecord, StreamReceipt
from sweep.runtime.batch import InstanceBatch
from sweep.runtime.episode import Episode
from sweep.runtime.fault import EpisodeEnd, Fault
from sweep.runtime.hosting.recent import BoundaryHistory
from sweep.runtime.ingress.external_input import ExternalInputs, InputProducer
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.ingress.recorded_input import RecordedInput
from sweep.runtime.injection import refuse_claimed, resource_of, writes_of
from sweep.runtime.output import DeviceOutput
from sweep.runtime.snapshot import MujocoPhysicsStateSnapshot, SimulationSnapshot
from sweep.runtime.tracing.batch_trace import BatchTrace
from sweep.runtime.tracing.trace import TraceEvent


class SimulationInstance:
    """The live state of one episode of a Plan under a seed.

    The thread that makes it owns it; elsewhere everything raises :class:`OwnershipError` but the ways in,
    :meth:`enqueue_external_input` and :meth:`open_producer`, and what only says where the episode stands: ``tick``,
    ``episode_index``, ``episode_time_s``, ``session_time_s``, ``seed``, ``fault`` and ``end``.

    Args:
        plan: what to simulate.
        seed: the episode seed; the manifest's ``runtime.episode_seed`` by default.
        max_block: longest block of ticks executed at once.
    """

    def __init__(self, plan: Plan, seed: int | None = None, *, max_block: int | None = None) -> None:
        self.plan = plan
        self._max_block = max_block
        self._owner = threading.current_thread()
        self._past_events: list[TraceEvent] = []
        self._mailbox = Mailbox(plan.grid)
        seed = checked_seed(plan.manifest.runtime.episode_seed if seed is None else seed)
        self._episode = Episode.begin(plan, seed, self._mailbox, max_block)
        self._inputs = ExternalInputs(self._mailbox, {n: d.width for n, d in self._batch.parts.drivers.items()})

    @property
    def seed(self) -> int:
        """The episode seed."""
        return self._episode.seed

    @property
    def tick(self) -> int:
        """The boundary reached in this episode."""
        return self._episode.tick

    @property
    def episode_index(self) -> int:
        """How many resets there were."""
        return self._episode.index

    @property
    def episode_time_s(self) -> float:
        """Simulated time of this episode [s]; a reset returns it to zero."""
        return self.plan.grid.time_s(self.tick)

    @property
    def session_time_s(self) -> float:
        """Simulated time of all episodes together [s]; it only grows."""
        episode = self._episode
        return self.plan.grid.time_s(episode.past_ticks + episode.tick)

    @property
    def fault(self) -> Fault | None:
        """The fault, if the Instance is faulted."""
        stop = self._episode.stop
        return stop if isinstance(stop, Fault) else None

    @property
    def end(self) -> EpisodeEnd | None:
        """The domain's end of the episode, if there was one."""
        stop = self._episode.stop
        return stop if isinstance(stop, EpisodeEnd) else None

    @property
    def trace_digest(self) -> str:
        """Digest of this episode's trace so far."""
        self._own("trace_digest")
        return self._batch.trace_digest(0)

    @property
    def record(self) -> RunRecord:
        """What this episode has left behind so far."""
        self._own("record")
        return self._batch.record(0)

    @property
    def history(self) -> BoundaryHistory:
        """The last boundaries of this episode."""
        self._own("history")
        return self._episode.history

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
        return {name: metric.value(0) for name, metric in self._batch.parts.metrics.items()}

    def step(self) -> None:
        """Advance one physics interval through the thirteen phases; see :meth:`advance`."""
        self._own("step")
        self._advance(1)

    def advance(self, ticks: int) -> None:
        """Advance by a number of steps, running the Plan's controllers after the steps they are due at.

        Raises:
            FaultedError: the Instance is faulted.
            EndedError: the episode has ended.
            OwnershipError: called from another thread.
            ValueError: a negative number.
        """
        self._own("advance")
        self._advance(as_index(ticks))

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
        old = self._episode
        seed = old.seed if seed is None else checked_seed(seed)
        new = Episode.begin(self.plan, seed, self._mailbox, self._max_block, after=old)
        # What is accepted up to here is of the old episode, what comes later of the new one.
        left = self._mailbox.cancel()
        self._past_events += BatchTrace(old.batch, left).events(0, old.index)
        self._episode = new

    def output(self, component_id: str) -> DeviceOutput:
        """What a device shows; reading advances nothing.

        Raises:
            InvalidInputError: no such device.
        """
        self._own("output")
        shown = self._batch.outputs()
        if component_id not in shown:
            raise InvalidInputError("output", unknown_name("", "device", [component_id], list(shown)))
        return shown[component_id].lane(0)

    def outputs(self) -> dict[str, DeviceOutput]:
        """What every device shows, by id; reading advances nothing."""
        self._own("outputs")
        return {name: output.lane(0) for name, output in self._batch.outputs().items()}

    def snapshot(self) -> SimulationSnapshot:
        """A coherent copy of the state; it changes nothing, the trace digest included."""
        self._own("snapshot")
        return self._episode.snapshot()

    def physics_state(self) -> MujocoPhysicsStateSnapshot:
        """A copy of MuJoCo's physics state, for diagnosis; NOT a checkpoint, see there.  It changes nothing."""
        self._own("physics_state")
        return self._episode.physics_state()

    def restore_physics_state(self, state: MujocoPhysicsStateSnapshot) -> SimulationSnapshot:
        """Overwrite positions, velocities and activations (diagnosis), and return the coherent state that results.

        Nothing is rewound: see :class:`MujocoPhysicsStateSnapshot`.  No claim is touched, since what can be claimed,
        the pose of a mocap body, is no part of the physics state.

        Raises:
            InvalidInputError: it is a state of another model.
        """
        self._own("restore_physics_state")
        return self._episode.restore(state)

    def inject(self, resource: str | StateResource, value: Any) -> SimulationSnapshot:
        """Overwrite one complete resource (diagnosis), and return the coherent state that results.

        Args:
            resource: for example ``JointKinematics("hinge")`` or ``"joint_kinematics:hinge"``.
            value: all of it: ``(qpos, qvel)`` of a joint (7 and 6 numbers of a free one, 4 and 3 of a ball),
                ``(mocap_pos, mocap_quat)`` of a mocap body, the activation of an actuator; or a mapping
                ``{"qpos": ..., "qvel": ...}``.  Quaternions are (w, x, y, z) and of unit length.

        Raises:
            InvalidInputError: no such resource, an incomplete value, an orientation that is none, or a resource that
                a component has claimed.
        """
        self._own("inject")
        resource = resource_of(resource)
        refuse_claimed(resource, self.plan.manifest.claimed)
        return self._episode.overwrite(writes_of(resource, value, self._batch.context.index))

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

        Sent while ``advance`` runs in another thread, it is committed at the start of a later block; for the very next
        step, :meth:`open_producer`.

        Args:
            target: the driver's id.
            values: one number per control of the driver.
            source_id: who sends it.
            source_sequence: the sender's own count; one that does not rise is stale, and dropped at the commit.
            effective_time_s: not before this episode time [s]; as soon as possible by default.

        Returns:
            The run-unique number it was accepted under.

        Raises:
            InvalidInputError: no such driver, another number of values, or a source that is none.
            GridError: the effective time is negative or not a time.
            MailboxFullError: nothing was accepted.
        """
        return self._inputs.enqueue(target, values, source_id, source_sequence, effective_time_s)

    def open_producer(self, source_id: str) -> InputProducer:
        """Announce input that may come at any time, from any thread, until the producer is closed.

        While one is open, what it sends during ``advance`` is committed before the next step.

        Raises:
            InvalidInputError: a producer of this name is open already.
        """
        return self._inputs.open_producer(source_id)

    @property
    def recorded_inputs(self) -> tuple[RecordedInput, ...]:
        """Everything committed from outside in this episode so far, in the order of commit."""
        self._own("recorded_inputs")
        return self._episode.recorded_inputs

    def replay_inputs(self, records: Iterable[RecordedInput]) -> None:
        """Accept recorded inputs once more, each with the acceptance number and the commit tick that it had.

        In whatever order they come, the episode commits the same input at the same tick: under the same Plan and seed,
        and if nothing was injected, its events and its trace digest are the recorded one's.  New input keeps getting
        new numbers.

        Args:
            records: what :attr:`recorded_inputs` said, of this or another Instance, of any episode; their ticks must
                lie ahead, so give them before the first step.

        Raises:
            InvalidInputError: every record whose tick is over, whose number another input of this episode has, or
                that fits no driver; none was accepted.
        """
        self._own("replay_inputs")
        self._inputs.replay(records, tick=self.tick, committed=self._episode.recorded_inputs)

    def events(self) -> list[TraceEvent]:
        """Everything that happened in this session so far: samples with their four times, committed inputs, what was
        applied, domain events, ends, faults, cancellations; in the order of episodes, ticks and components.
        """
        self._own("events")
        return self._past_events + BatchTrace(self._batch).events(0, self.episode_index)

    @property
    def _batch(self) -> InstanceBatch:
        return self._episode.batch

    def _advance(self, ticks: int) -> None:
        if ticks < 0:
            raise ValueError(f"an Instance advances by 0 or more ticks, not {ticks}")
        if self.fault is not None:
            raise FaultedError(f"the Instance is faulted ({self.fault}); reset() begins a new episode")
        if self.end is not None:
            raise EndedError(f"the episode ended at tick {self.end.tick} ({self.end.reason}); reset() begins a new one")
        self._batch.advance(ticks)

    def _own(self, operation: str) -> None:
        caller = threading.current_thread()
        if caller is not self._owner:
            raise OwnershipError(operation, self._owner.name, caller.name)
