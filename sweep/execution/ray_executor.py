"""RayExecutor: runs shards on the workers of a Ray cluster, one's own or an existing one."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Self

from sweep.execution.placement import Placement, class_remarks
from sweep.execution.preflight import NodeReport, Question, check_nodes
from sweep.execution.ray_crew import Crew
from sweep.execution.ray_session import RaySession
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import ShardQueue
from sweep.execution.words import counted
from sweep.plan.plan import Plan
from sweep.results import RunRecord


class RayExecutor:
    """Runs shards on Ray workers, one process and one core each.

    Args:
        workers: how many; by default one per core of this machine, or of the cluster.
        address: an existing cluster (``auto``, ``ray://...``, ``host:port``); by default ``RAY_ADDRESS``, else one
            is started on this machine and ends with this executor.
        pythonpath: import folders for workers on this machine; by default the driver's own, without installed
            packages.  To an existing cluster the code itself is sent.
        reason: why Ray.
        timeout_s: wall time that one shard may take [s]; None is no limit.

    Attributes:
        reason: where the work is done and why, as far as is known.
    """

    isolates = True

    def __init__(
        self,
        workers: int | None = None,
        address: str | None = None,
        pythonpath: Sequence[str] | None = None,
        *,
        reason: str = "ray: as asked",
        timeout_s: float | None = None,
    ) -> None:
        self.reason = reason
        self._timeout_s = timeout_s
        self.threads = 1  # a core each
        self._told: list[str] = []
        self._placement: Placement | None = None
        self._session = RaySession(workers, address, pythonpath)
        self._stopped = threading.Event()

    @property
    def remarks(self) -> tuple[str, ...]:
        """See :meth:`sweep.execution.executor.Executor.remarks`."""
        return (*self._told, *(self._placement.remarks() if self._placement is not None else ()))

    def start(self) -> None:
        """Begin to start or reach Ray, in the background."""
        self._session.start()

    @property
    def is_up(self) -> bool:
        """Whether the start is over, well or not."""
        return self._session.is_up

    def wait(self) -> int:
        """Wait until Ray is up.

        Returns:
            The number of workers there will be.

        Raises:
            ExecutorError: Ray cannot be started or reached, or has fewer cores than workers were asked for.
        """
        return self._session.wait()

    def stop(self) -> None:
        """See :meth:`sweep.execution.executor.Executor.stop`."""
        self._stopped.set()

    def __enter__(self) -> Self:
        if self._session.address is None:
            self.start()  # an existing cluster is joined with the code that its workers need
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._session.close()

    def execute(self, queue: ShardQueue, files: RunFiles | None = None) -> Iterator[list[RunRecord]]:
        """See :meth:`sweep.execution.executor.Executor.execute`."""
        plans = queue.plans()
        placement = self._placement = self._place(plans)
        workers = queue.workers = min(self.wait(), placement.cores)
        if self.remarks:
            yield []  # nothing is done yet, and there is something to tell
        if not len(queue) or self._stopped.is_set():
            return
        count = min(workers, len(queue))
        crew = Crew(self._session.ray, plans, count, placement, files=files, timeout_s=self._timeout_s)
        try:
            while True:
                if not self._stopped.is_set():
                    crew.fill(queue)
                elif not crew.is_busy:
                    return
                if not crew.is_busy and not len(queue):
                    return
                self._session.check()
                yield from crew.collect(queue)
        finally:
            crew.dismiss()

    def _place(self, plans: Sequence[Plan]) -> Placement:
        """Reach the cluster, with the code of the Plans where it is not ours, and look at its nodes."""
        session = self._session
        self._told += session.pack(plans)
        workers = self.wait()
        if session.is_own:
            return Placement(session.ray, cores=workers)
        question = Question.about(plans)
        reports = check_nodes(session.ray, question, session.options)
        placement = Placement(session.ray, reports, question, session.options)
        self._describe(placement, min(workers, placement.cores))
        return placement

    def _describe(self, placement: Placement, workers: int) -> None:
        session, nodes = self._session, placement.usable
        where = f"{counted(workers, 'worker')} on {counted(len(nodes), 'node')}"
        sent = f", {session.shipment.describe()} sent" if session.shipment is not None else ""
        self.reason = f"ray: {where}{sent}"
        self._told.append(f"the cluster{f' at {session.address}' if session.address else ''}: {where}{sent}")
        free = int(session.ray.available_resources().get("CPU", 0))
        if free < workers:
            self._told.append(f"{free} of {counted(placement.cores, 'core')} are free; workers start as others finish")


def inspected(address: str, plans: Sequence[Plan]) -> tuple[list[str], list[NodeReport]]:
    """Look at the nodes of a cluster without working on it.

    Args:
        address: the cluster.
        plans: what its nodes would work on.

    Returns:
        What a person should know of the code that is sent and of the nodes' bits, and every node.

    Raises:
        ExecutorError: the cluster cannot be reached, or has no core.
    """
    session = RaySession(address=address)
    told = session.pack(plans)
    try:
        session.wait()
        reports = check_nodes(session.ray, Question.about(plans), session.options)
    finally:
        session.close()
    return [*told, *class_remarks([report for report in reports if report.fits])], reports
