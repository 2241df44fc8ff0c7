"""Nodes: raylets that come and go beside a head that stays."""

from __future__ import annotations

from tests.execution.cluster import Cluster
from tests.execution.processes import Process, of_session

BUSY = "ray::ShardWorker.run"
"""What a worker calls itself while it is at a shard."""

RAYLET = "/raylet/raylet "


class Nodes:
    """Nodes that are killed and replaced.

    Args:
        cluster: its head is up.
        count: nodes beside it.

    Attributes:
        made: nodes that were started.
    """

    def __init__(self, cluster: Cluster, count: int = 2) -> None:
        self._cluster = cluster
        self._count = count
        self.made = 0

    def are_up(self) -> bool:
        """Whether all are; starts what is missing."""
        self.tend()
        nodes = self._cluster.nodes
        return len(nodes) > self._count and all(self._cluster.is_up(name) for name in nodes)

    def tend(self) -> None:
        """Bury what has ended, and start one node in its place; the next one once that is up."""
        nodes = self._cluster.nodes
        # A node ends by itself once its raylet has died, and its workers when they notice.
        for name in [name for name, node in nodes.items() if node.poll() is not None]:
            assert name != "head", "the head died, which nobody killed"
            self._cluster.kill(name)
        if len(nodes) <= self._count and all(self._cluster.is_up(name) for name in nodes):
            self.made += 1
            self._cluster.join(f"node-{self.made}")

    def at_work(self) -> list[Process]:
        """The workers that are at a shard, the head's among them."""
        return [worker for node in self._cluster.nodes.values() for worker in of_session(node.pid, BUSY)]

    def raylets_at_work(self) -> dict[str, Process]:
        """The raylets whose node is at a shard, by its name; the head's is left alone."""
        places = {name: node.pid for name, node in self._cluster.nodes.items() if name != "head"}
        raylets = {name: of_session(pid, RAYLET) for name, pid in places.items() if of_session(pid, BUSY)}
        return {name: found[0] for name, found in raylets.items() if found}

    def switch_off(self, name: str) -> None:
        """Kill all processes of a node."""
        self._cluster.kill(name)
