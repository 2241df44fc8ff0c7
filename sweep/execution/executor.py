"""Executor: takes shards from a queue and streams back records; and the one that does so in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol, Self

from sweep.design.spec import ExecutorSpec
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard
from sweep.results import RunRecord


def cores() -> int:
    """Cores this process may use; ``nproc`` and ``os.cpu_count`` tell of others, too."""
    return len(os.sched_getaffinity(0))


class Executor(Protocol):
    """Runs shards somewhere; used in ``with``.

    The records do not depend on which executor runs them, nor on the number of workers or the size of shards.

    Attributes:
        threads: threads that the physics of one shard runs on; fewer may be set before it begins.
    """

    threads: int

    @property
    def isolates(self) -> bool:
        """Whether a run that kills its process leaves the driver alive."""

    @property
    def reason(self) -> str:
        """Where the work is done and why, in one line for people; it may change meanwhile."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of where the work is done, once each; there may be more later."""

    def execute(self, queue: ShardQueue, files: RunFiles | None = None) -> Iterator[list[RunRecord]]:
        """Empty the queue; yields the records of each shard as it finishes, in any order, each run once.

        Every shard that :meth:`ShardQueue.take` gave ends in one of four ways: its records are yielded, it is put
        back because it was never begun, or the queue is told that it is overdue, or that a worker died with it.

        Args:
            queue: what to run.
            files: where runs leave their files, which are there before their record is yielded; None drops them.

        Raises:
            ExecutorError: there is nowhere to run; what was yielded stands.
            LedgerError: a file cannot be written; what was yielded stands.
        """

    def stop(self) -> None:
        """Take no more shards; :meth:`execute` ends when those in hand are done.  A signal handler may call it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class InlineExecutor:
    """Runs shards one after the other in this process.

    Args:
        threads: threads that physics of different lanes runs on; one per core by default.
        reason: why here.
        timeout_s: wall time that one shard may take [s]; None is no limit.

    Attributes:
        takes_suspects: whether runs are executed that may kill this process.
    """

    isolates = False

    def __init__(
        self, threads: int | None = None, reason: str = "inline: as asked", *, timeout_s: float | None = None
    ) -> None:
        self.threads = threads or cores()
        self.reason = reason
        self.takes_suspects = True
        self._timeout_s = timeout_s
        self._stopped = False

    @property
    def remarks(self) -> tuple[str, ...]:
        """See :meth:`Executor.remarks`."""
        if self._timeout_s in (None, ExecutorSpec().timeout_s):
            return ()
        limit = f"executor.timeout_s={self._timeout_s:g}"
        return (f"{limit} is looked at between steps in this process; executor=ray also ends a step that hangs",)

    def execute(self, queue: ShardQueue, files: RunFiles | None = None) -> Iterator[list[RunRecord]]:
        """See :meth:`Executor.execute`."""
        keep = None if files is None else files.keep
        while not self._stopped and (shard := queue.take(suspects=self.takes_suspects)) is not None:
            answer = execute_shard(shard, threads=self.threads, keep=keep, timeout_s=self._timeout_s)
            yield queue.settle(shard, answer)

    def stop(self) -> None:
        """See :meth:`Executor.stop`."""
        self._stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
