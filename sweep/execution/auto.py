"""Where to run: measured, not guessed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Self

from sweep.design.spec import ExecutorSpec
from sweep.errors import ExecutorError
from sweep.execution.executor import Executor, InlineExecutor, cores
from sweep.execution.ray_executor import RayExecutor
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import ShardQueue
from sweep.execution.words import counted
from sweep.results import RunRecord

RAY_WORTH_S = 20.0
"""Work that is worth starting Ray for [s]: about three times its start."""

TELLING_S = 2.0
"""A lone run that takes this long [s] says enough; a shorter one is mostly set-up, which many lanes share."""


def choose(spec: ExecutorSpec) -> Executor:
    """The executor that was asked for.

    Args:
        spec: its kind, workers and address; a cluster's address (``RAY_ADDRESS``, too) decides for Ray.
    """
    if spec.kind == "inline":
        return InlineExecutor(spec.workers, timeout_s=spec.timeout_s)
    address = cluster_address(spec)
    if spec.kind == "ray" or address:
        reason = f"ray: {f'cluster at {address}' if address else 'as asked'}"
        return RayExecutor(spec.workers, address, reason=reason, timeout_s=spec.timeout_s)
    return AutoExecutor(spec.workers, timeout_s=spec.timeout_s)


def cluster_address(spec: ExecutorSpec) -> str | None:
    """The existing cluster that was asked for, if one was."""
    return None if spec.kind == "inline" else spec.address or os.environ.get("RAY_ADDRESS")


class AutoExecutor:
    """Begins in this process, and moves to Ray workers if what remains is worth their start.

    Args:
        workers: Ray workers, or threads here; one per core by default.
        make_ray: how a Ray executor is made.
        timeout_s: wall time that one shard may take [s]; None is no limit.

    Attributes:
        reason: where the work is done and why, as far as is known.
    """

    isolates = True

    def __init__(
        self,
        workers: int | None = None,
        make_ray: Callable[[int], RayExecutor] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> None:
        self._workers = workers or cores()
        self._make_ray = make_ray or partial(RayExecutor, timeout_s=timeout_s)
        self._inline = InlineExecutor(self._workers, timeout_s=timeout_s)
        self._ray: RayExecutor | None = None
        self.threads = 1  # of a worker; what is done here meanwhile has all cores
        self._stopped = False
        self._is_short = self._is_refused = False
        self.reason = "inline: one run is measured first"

    @property
    def remarks(self) -> tuple[str, ...]:
        """See :meth:`sweep.execution.executor.Executor.remarks`."""
        return self._inline.remarks if self._ray is None else self._ray.remarks

    def execute(self, queue: ShardQueue, files: RunFiles | None = None) -> Iterator[list[RunRecord]]:
        """See :meth:`sweep.execution.executor.Executor.execute`."""
        if queue.suspects:
            self._inline.takes_suspects = False
            self._hand_over(f"ray: {counted(queue.suspects, 'run')} may kill the process they run in")
        for records in self._inline.execute(queue, files):
            yield records
            self._decide(queue)
            if self._ray is not None and self._ray.is_up and self._is_usable(self._ray):
                break
        if self._ray is not None and len(queue) and not self._stopped:
            yield from self._ray.execute(queue, files)
        elif queue.suspects and not self._stopped:
            left = counted(queue.suspects, "run")
            raise ExecutorError(f"{left} may kill the process they run in and wait for a worker of Ray: {self.reason}.")

    def stop(self) -> None:
        """See :meth:`sweep.execution.executor.Executor.stop`."""
        self._stopped = True
        self._inline.stop()
        if self._ray is not None:
            self._ray.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._ray is not None:
            self._ray.__exit__()

    def _decide(self, queue: ShardQueue) -> None:
        remaining, share = queue.remaining_s(), queue.share_s
        if self._ray is not None or self._is_refused or remaining is None or share is None:
            return
        if remaining < RAY_WORTH_S:
            # Said of the first shards only: what remains gets less with each.
            if not self._is_short:
                self.reason = f"inline: about {in_words(remaining)} of work is less than starting Ray is worth"
            self._is_short = queue.largest > 1
        elif self._workers == 1:
            self.reason = f"inline: about {in_words(remaining)} of work, and only one core"
        elif share >= TELLING_S or queue.largest > 1:
            self._hand_over(f"ray: about {in_words(remaining)} of work for {self._workers} workers on this machine")

    def _hand_over(self, reason: str) -> None:
        self.reason = reason
        self._ray = self._make_ray(self._workers)
        self._ray.start()

    def _is_usable(self, ray: RayExecutor) -> bool:
        try:
            ray.wait()
        except ExecutorError as error:
            # It is only faster: the work can be done here.
            self.reason = f"inline: {error}"
            ray.__exit__()
            self._ray, self._is_refused = None, True
            return False
        return True


def in_words(seconds: float) -> str:
    """A duration as people say it: ``4 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
