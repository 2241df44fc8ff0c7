"""Killer: carries out the strikes as they come due, each on a victim that has work in hand."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence

from tests.soak.commands import Driver
from tests.soak.nodes import Nodes
from tests.soak.schedule import Kind, Strike
from tests.soak.server import Server


class Killer:
    """What kills.

    Args:
        schedule: the strikes of each kind.
        driver: the sweep's.
        nodes: the cluster's.
        server: MLflow's.
        say: told of every kill.

    Attributes:
        kills: by kind.
    """

    def __init__(
        self,
        schedule: Mapping[Kind, Sequence[Strike]],
        *,
        driver: Driver,
        nodes: Nodes,
        server: Server,
        say: Callable[[str], None],
    ) -> None:
        self._coming = {kind: deque(strikes) for kind, strikes in schedule.items()}
        self._not_before: dict[Strike, float] = {}
        self._driver, self._nodes, self._server = driver, nodes, server
        self._say = say
        self._ways: dict[Kind, Callable[[Strike], str | None]] = {
            Kind.DRIVER: self._kill_driver,
            Kind.WORKER: self._kill_worker,
            Kind.RAYLET: self._kill_raylet,
            Kind.SERVER: self._kill_server,
        }
        self.kills: Counter[Kind] = Counter()

    @property
    def left(self) -> int:
        """Strikes to come."""
        return sum(map(len, self._coming.values()))

    def strike(self, committed: int) -> None:
        """Carry out what is due after so many committed runs and meets work; the rest of it waits."""
        for kind, coming in self._coming.items():
            if not coming or coming[0].after > committed or not self._driver.is_at_it:
                continue
            strike = coming[0]
            if time.monotonic() < self._not_before.setdefault(strike, time.monotonic() + strike.delay_s):
                continue
            if (victim := self._ways[kind](strike)) is not None:
                coming.popleft()
                self.kills[kind] += 1
                self._say(f"{self.kills.total():4}  at {committed:4} runs  {kind}: {victim}")

    def _kill_driver(self, _: Strike) -> str | None:
        return f"process {self._driver.kill()}" if self._nodes.at_work() else None

    def _kill_worker(self, strike: Strike) -> str | None:
        if not (workers := self._nodes.at_work()):
            return None
        victim = workers[int(strike.pick * len(workers))]
        victim.kill()
        return f"process {victim.pid}"

    def _kill_raylet(self, strike: Strike) -> str | None:
        if not (raylets := self._nodes.raylets_at_work()):
            return None
        name = list(raylets)[int(strike.pick * len(raylets))]
        if not strike.is_partial:
            self._nodes.switch_off(name)
            return f"all of {name}"
        raylets[name].kill()
        return f"of {name}, process {raylets[name].pid}"

    def _kill_server(self, _: Strike) -> str | None:
        if not self._server.is_in_use:
            return None
        self._server.kill()
        return f"start {self._server.starts} follows"
