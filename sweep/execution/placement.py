"""Placement: which nodes of a cluster work on a sweep, and where its next worker goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sweep.errors import ExecutorError
from sweep.execution.node import class_differences
from sweep.execution.preflight import NodeReport, Question, misfits, worker_nodes

ANYWHERE = "SPREAD"

REMEDY = (
    "Nodes need this machine's versions of Python, ray, mujoco and numpy, and the packages that your classes import; "
    "your own modules are sent. `python -m sweep doctor` tells what is here and what is there."
)


class Placement:
    """Where workers go: anywhere while every node fits, else onto the nodes that do.

    Args:
        ray: Ray's module, connected.
        reports: what the preflight found; empty where there was none, on a cluster of our own.
        question: what workers are asked as they start; None asks nothing.
        options: what else Ray should know of the workers.
        cores: how many there are, where there are no reports.

    Raises:
        ExecutorError: no node fits; each is named with its reasons.
    """

    def __init__(
        self,
        ray: Any,
        reports: Sequence[NodeReport] = (),
        question: Question | None = None,
        options: Mapping[str, Any] | None = None,
        *,
        cores: int = 0,
    ) -> None:
        self._ray = ray
        self._reports = {report.node_id: report for report in reports}
        self._question = question
        self._options = dict(options or {})
        self._cores = cores
        self._seats: Counter[str] = Counter()
        if reports and not self.usable:
            raise ExecutorError(no_node(reports))

    @property
    def usable(self) -> list[NodeReport]:
        """The nodes that fit."""
        return [report for report in self._reports.values() if report.fits]

    @property
    def cores(self) -> int:
        """Cores on the nodes that fit."""
        return sum(report.cores for report in self.usable) or self._cores

    @property
    def is_partial(self) -> bool:
        """Whether some node is left out; one that is gone leaves its place to whoever joins."""
        left_out = {report.node_id for report in self._reports.values() if not report.fits}
        return bool(left_out) and not left_out.isdisjoint(node["NodeID"] for node in worker_nodes(self._ray))

    @property
    def question(self) -> bytes | None:
        """What a worker is asked as it starts, since nodes may join later; None asks nothing."""
        return None if self._question is None else self._question.parcel

    def take(self) -> tuple[dict[str, Any], str]:
        """Ray's options for one more worker, and the node it goes to; ``""`` where Ray chooses."""
        if not self.is_partial:
            return {**self._options, "scheduling_strategy": ANYWHERE}, ""
        alive = {node["NodeID"] for node in worker_nodes(self._ray)}
        # Ray takes a while to notice a death; if all seem dead, one of them is asked until it has.
        nodes = [report for report in self.usable if report.node_id in alive] or self.usable
        best = max(nodes, key=lambda report: report.cores - self._seats[report.node_id]).node_id
        self._seats[best] += 1
        on = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        return {**self._options, "scheduling_strategy": on(node_id=best, soft=False)}, best

    def give_back(self, node_id: str) -> None:
        """A worker that :meth:`take` sent to a node is gone."""
        self._seats[node_id] -= 1

    def admit(self, node_id: str, answer: Mapping[str, Any]) -> bool:
        """Whether a worker that has started may work where it is.

        Raises:
            ExecutorError: it may not, and no other node is left.
        """
        if self._question is None:
            return True
        problems = misfits(answer, self._question.here)
        if node_id not in self._reports or problems:
            self._reports[node_id] = self._joined(node_id, answer, problems)
        if not self.usable:
            raise ExecutorError(no_node(list(self._reports.values())))
        return not problems

    def _joined(self, node_id: str, answer: Mapping[str, Any], problems: tuple[str, ...]) -> NodeReport:
        cores = next((int(n["Resources"]["CPU"]) for n in worker_nodes(self._ray) if n["NodeID"] == node_id), 1)
        found = answer.get("fingerprint", {})
        name = found.get("host", node_id[:8])
        return NodeReport(node_id=node_id, name=name, cores=cores, fingerprint=found, problems=problems)

    def remarks(self) -> list[str]:
        """What a person should know of the nodes: those left out and why, and whether bits may differ between them."""
        told = [f"node {r.name} is left out: {'; '.join(r.problems)}" for r in self._reports.values() if not r.fits]
        return told + class_remarks(self.usable)


def no_node(reports: Sequence[NodeReport]) -> str:
    """The message where no node of a cluster can work."""
    lines = [f"  {report.name}: {'; '.join(report.problems)}" for report in reports]
    return "\n".join(["No node of the cluster can work on this sweep:", *lines, REMEDY])


def class_remarks(nodes: Sequence[NodeReport]) -> list[str]:
    """Whether nodes give each other's bits, and this machine's."""
    classes: dict[str, list[NodeReport]] = {}
    for node in nodes:
        classes.setdefault(node.fingerprint["bit_class"], []).append(node)
    first, *others = classes.values() or [[]]
    if others:
        parts = " | ".join(", ".join(node.name for node in group) for group in (first, *others))
        one, other = first[0], others[0][0]
        names = (f"on {one.name}", f"on {other.name}")
        what = "; ".join(class_differences(other.fingerprint, one.fingerprint, names=names))
        return [
            f"the nodes are of {len(classes)} bit classes ({parts}), so runs on one agree with those on another within "
            f"rounding, not bit for bit: {what}"
        ]
    if first and (differences := class_differences(first[0].fingerprint, names=("here", "on the nodes"))):
        what = "; ".join(differences)
        return [f"the nodes are of another bit class than this machine, so a replay here is not bit for bit: {what}"]
    return []
