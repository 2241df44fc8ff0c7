"""Crew: the Ray workers of one execution, and what each of them has in hand.

Ray's own retries are off.  A worker's death is seen here: what it had in hand is halved until the run is found
that kills it, what waited behind that goes on elsewhere.  A worker that does not look at the clock is killed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from sweep.design.run import Run
from sweep.errors import ExecutorError
from sweep.execution.deadline import Overdue
from sweep.execution.placement import Placement
from sweep.execution.preflight import cause, inspect
from sweep.execution.ray_session import this_node
from sweep.execution.run_files import Luggage, RunFiles
from sweep.execution.seats import Seat, division
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard
from sweep.plan.plan import Plan
from sweep.results import RunRecord

WINDOW = 2
"""Shards in the hands of one worker: one at work and one that waits, so that it never idles for the driver."""

POLL_S = 0.5
"""How long one wait for Ray lasts [s]; between two, signals and stops are noticed."""

PATIENCE_S = 300.0
"""How long no worker may come up, with none at work [s], before the cluster counts as full."""

FETCH_S = 30.0
GRACE_S = 10.0
"""How much longer than its limit a shard may take to come back [s], before its worker is killed."""

RESTART_S = 60.0
"""How long a worker may take to come back [s], before another one takes its place; a few are usual."""


class ShardWorker:
    """A worker's end: it has the Plans, and shards come as indices into them."""

    _plans: Sequence[Plan]
    _files: RunFiles | None

    def load(
        self, plans: Sequence[Plan], files: RunFiles | None = None, question: bytes | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """Take the Plans, and where files go: the first call, and again after each restart.

        Not a constructor's argument, which Ray warns about wherever an actor may restart.

        Returns:
            The answer to the question, if there is one: the node, and what it is.
        """
        self._plans, self._files = plans, files
        return None if question is None else (this_node(), inspect(question))

    def run(
        self, shard: Sequence[tuple[int, int, str, str]], timeout_s: float | None = None
    ) -> tuple[list[RunRecord] | Overdue, dict[str, bytes]]:
        """Run (plan index, seed, run_id, cell_id) tuples; also returns the files that could not be written here."""
        runs = [Run(run_id=run, plan=self._plans[plan], seed=seed, cell_id=cell) for plan, seed, run, cell in shard]
        luggage = None if self._files is None else Luggage(self._files)
        answer = execute_shard(runs, keep=None if luggage is None else luggage.keep, timeout_s=timeout_s)
        return answer, {} if luggage is None else luggage.carried


class Crew:
    """The workers of one execution.

    Args:
        ray: Ray's module, connected; only the executor imports it.
        plans: every Plan that shards will refer to.
        count: number of workers.
        placement: where workers go, and whether they may work there.
        files: where runs leave their files; None drops them.
        timeout_s: wall time that one shard may take [s]; None is no limit.
    """

    def __init__(
        self,
        ray: Any,
        plans: Sequence[Plan],
        count: int,
        placement: Placement,
        *,
        files: RunFiles | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self._ray = ray
        self._index = {plan.plan_id: index for index, plan in enumerate(plans)}
        # Once for all workers; the reference also keeps them in the store for workers that restart.
        self._plans = self._ray.put(list(plans))
        self._remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(ShardWorker)
        self._placement = placement
        self._files = files
        self._timeout_s = timeout_s
        self._alive_at = time.monotonic()
        self._has_worked = False
        self._made = 0
        self._seats = [self._seat() for _ in range(count)]

    def _seat(self) -> Seat:
        options, node = self._placement.take()
        actor = self._remote.options(**options).remote()
        self._made += 1
        return Seat(f"worker {self._made}", actor, self._open(actor), node)

    def _open(self, actor: Any) -> Any:
        return actor.load.remote(self._plans, self._files, self._placement.question)

    @property
    def is_busy(self) -> bool:
        """Whether any worker has a shard in hand."""
        return any(seat.flying for seat in self._seats)

    def fill(self, queue: ShardQueue) -> None:
        """Give every open worker what its window holds, one shard in turn.

        Until a run was measured shards are single runs, and those that wait would be cheaper in a batch.
        """
        seats = [seat for seat in self._seats if seat.opening is None]
        if not seats or not len(queue):
            return
        fair = division(seats, queue, plenty=WINDOW)
        for depth in range(1 if queue.share_s is None else WINDOW):
            for seat in seats:
                if len(seat.flying) <= depth:
                    self._give(seat, queue, fair(seat))

    def _give(self, seat: Seat, queue: ShardQueue, fair: float) -> None:
        # What is the last for a worker waits until it is free: how much that is can be told better then.
        if seat.flying and queue.parts(fair) == 1:
            return
        shard = queue.take(seat.name, fair=fair)
        if shard is not None:
            runs = [(self._index[r.plan.plan_id], r.seed, r.run_id, r.cell_id) for r in shard]
            seat.give(seat.actor.run.remote(runs, self._timeout_s), shard)

    def collect(self, queue: ShardQueue) -> Iterator[list[RunRecord]]:
        """Wait a little; yield what came back."""
        refs = {ref: seat for seat in self._seats for ref in seat.refs}
        done, _ = self._ray.wait(list(refs), num_returns=1, timeout=POLL_S)
        self._check_patience()
        for ref in done:
            seat = refs[ref]
            if ref == seat.opening:
                self._opened(seat)
            else:
                yield from self._landed(seat, queue)
        for seat in self._hung():
            yield from self._killed(seat, queue)

    def _opened(self, seat: Seat) -> None:
        try:
            answer = self._ray.get(seat.opening)
        except self._ray.exceptions.RayError as error:
            self._reopen(seat, error)
            return
        if answer is not None and not self._placement.admit(*answer):
            self._replace(seat)
            return
        seat.opening, self._has_worked = None, True

    def _reopen(self, seat: Seat, error: Exception) -> None:
        """Try again: on the same worker while Ray restarts it, else on a new one."""
        known = self._ray.exceptions
        is_broken = isinstance(error, known.ActorDiedError | known.RayTaskError)
        if is_broken and not self._has_worked:
            # Nothing of ours ran yet, so it is the installation: the same would happen for ever.
            raise ExecutorError(f"Ray's workers cannot start: {cause(error)}") from error
        if not is_broken and time.monotonic() - seat.since < RESTART_S:
            seat.opening = self._open(seat.actor)
            return
        self._replace(seat)

    def _replace(self, seat: Seat) -> None:
        self._ray.kill(seat.actor, no_restart=True)
        self._placement.give_back(seat.node)
        self._seats[self._seats.index(seat)] = self._seat()

    def _landed(self, seat: Seat, queue: ShardQueue) -> Iterator[list[RunRecord]]:
        """The worker's oldest shard is back, or the worker died with it."""
        ref, _ = seat.flying[0]
        try:
            answer, carried = self._ray.get(ref, timeout=FETCH_S)
        except self._ray.exceptions.RayError as error:
            yield from self._died(seat, self._cause(error), queue)
            return
        for place, content in carried.items():
            assert self._files is not None
            self._files.keep(place, content)
        yield queue.settle(seat.finish(), answer)

    def _died(self, seat: Seat, cause: str, queue: ShardQueue) -> Iterator[list[RunRecord]]:
        """Only the oldest shard can be the culprit; the ones behind it never began."""
        suspect = seat.finish()
        queue.put_back(seat.clear())
        lost = queue.died(suspect, cause)
        # Calls fail until the worker is back: it gets none before it answers.
        seat.opening = self._open(seat.actor)
        if lost:
            yield lost

    def _cause(self, error: Exception) -> str:
        """Why a worker is gone, as far as Ray can tell: of a process that ends by itself it sees a closed socket."""
        if isinstance(error, self._ray.exceptions.ActorUnavailableError):
            return "its process ended: a crash, a kill, or no memory"
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return lines[0] if lines else type(error).__name__

    def _hung(self) -> list[Seat]:
        """The workers that are long overdue, and not because nobody listened."""
        if self._timeout_s is None:
            return []
        latest = time.monotonic() - self._timeout_s - GRACE_S
        late = [seat for seat in self._seats if seat.opening is None and seat.flying and seat.since < latest]
        return [seat for seat in late if not self._ray.wait([seat.flying[0][0]], timeout=0)[0]]

    def _killed(self, seat: Seat, queue: ShardQueue) -> Iterator[list[RunRecord]]:
        """End a worker that hangs, which nothing but a kill does, and let another one take its place."""
        assert self._timeout_s is not None
        overdue = Overdue(limit_s=self._timeout_s, wall_s=time.monotonic() - seat.since)
        self._replace(seat)
        culprit = seat.finish()
        queue.put_back(seat.clear())
        yield queue.overdue(culprit, overdue)

    def _check_patience(self) -> None:
        now = time.monotonic()
        if any(seat.opening is None for seat in self._seats):
            self._alive_at = now
        elif now - self._alive_at > PATIENCE_S:
            raise ExecutorError(
                f"No Ray worker came up in {PATIENCE_S:g} s: the cluster is full or cannot start processes. "
                "See `ray status`, ask for fewer with executor.workers=, or use executor=inline."
            )

    def dismiss(self) -> None:
        """Let the workers go, whatever they are at."""
        for seat in self._seats:
            self._ray.kill(seat.actor, no_restart=True)
