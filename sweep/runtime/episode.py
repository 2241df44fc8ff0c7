"""One episode of an Instance: everything that a reset replaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sweep.plan.plan import Plan
from sweep.plan.sections import TraceLevel
from sweep.runtime.batch import InstanceBatch
from sweep.runtime.fault import Stop
from sweep.runtime.hosting.recent import BoundaryHistory, RecentBoundaries
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.ingress.recorded_input import RecordedInput
from sweep.runtime.injection import Write
from sweep.runtime.snapshot import (
    MujocoPhysicsStateSnapshot,
    SimulationSnapshot,
    physics_state_of,
    restored_writes,
    snapshot_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One value, so that another thread that asks where the Instance stands never sees half of two episodes.

    Attributes:
        index: how many resets there were before.
        seed: its seed.
        past_ticks: steps that earlier episodes made.
        batch: its live state, of one lane.
        recent: its last boundaries.
    """

    index: int
    seed: int
    past_ticks: int
    batch: InstanceBatch
    recent: RecentBoundaries

    @classmethod
    def begin(
        cls, plan: Plan, seed: int, mailbox: Mailbox, max_block: int | None, *, after: Episode | None = None
    ) -> Episode:
        """A new one.  All but the mailbox is built anew, so that no trace of an earlier episode, however broken, is in
        it.
        """
        recent = RecentBoundaries()
        level: TraceLevel = "full" if plan.manifest.runtime.trace == "full" else "events"
        return cls(
            index=0 if after is None else after.index + 1,
            seed=seed,
            past_ticks=0 if after is None else after.past_ticks + after.tick,
            batch=InstanceBatch([plan], [seed], max_block, trace=level, observers=[recent], mailbox=mailbox),
            recent=recent,
        )

    @property
    def stop(self) -> Stop | None:
        """How it stopped, if it did."""
        return self.batch.stops.get(0)

    @property
    def tick(self) -> int:
        """The boundary reached."""
        stop = self.stop
        return self.batch.tick if stop is None else stop.settled

    @property
    def history(self) -> BoundaryHistory:
        """The last boundaries."""
        self.batch.observation.flush()
        return self.recent.history(self.batch.context.index)

    @property
    def recorded_inputs(self) -> tuple[RecordedInput, ...]:
        """What was committed from outside, in the order of commit."""
        assert self.batch.recorder is not None
        last = self.batch.outputs_tick(0)  # a block may have cut more than the lane lived to see
        outside = (c for c in self.batch.recorder.commands if c.from_outside and c.commit_tick <= last)
        return tuple(RecordedInput.of(command, self.index) for command in outside)

    def snapshot(self) -> SimulationSnapshot:
        """A copy of the state with all that follows from it."""
        _, data = self.batch.physics.data(0)
        return snapshot_of(data, **self._instant())

    def physics_state(self) -> MujocoPhysicsStateSnapshot:
        """A copy of MuJoCo's physics state."""
        model, data = self.batch.physics.data(0)
        return physics_state_of(model, data, model_id=self._model_id, **self._instant())

    def restore(self, state: MujocoPhysicsStateSnapshot) -> SimulationSnapshot:
        """Overwrite the physics state."""
        return self.overwrite(restored_writes(self.batch.physics.model, state, model_id=self._model_id))

    def overwrite(self, writes: Iterable[Write]) -> SimulationSnapshot:
        """Overwrite parts of the state, and copy what it is then."""
        for field, columns, numbers in writes:
            self.batch.physics.write(0, field, columns, numbers)
        self.batch.take_over_state()
        return self.snapshot()

    @property
    def _model_id(self) -> str:
        return self.batch.plans[0].model.source_id

    def _instant(self) -> dict[str, Any]:
        return {"episode_index": self.index, "tick": self.tick, "time_s": self.batch.grid.time_s(self.tick)}
