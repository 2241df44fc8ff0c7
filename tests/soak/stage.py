"""Stage: everything real, on this machine, set up, disturbed, judged and taken down."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.execution import cluster
from tests.soak.commands import CELLS, QUESTION, Driver, ledger_in, typed
from tests.soak.judge import complaints, endings, lost_for_a_while, mirror_complaints
from tests.soak.killer import Killer
from tests.soak.nodes import Nodes
from tests.soak.schedule import Kind, drawn
from tests.soak.server import Server
from tests.tracking.stores import Store, until

POLL_S = 0.2
LIMIT_S = 3600.0
"""How long it may take [s], also on a machine that has other things to do."""

MOST_EXITS = 10
"""Drivers that may end by themselves without having done everything."""

START_S = 180.0
"""How long the nodes may take to come up [s]."""

SYNCED_S = 120.0
"""How long the syncers of all drivers may stay when the sweep is over [s]."""

DISTURBED, UNDISTURBED = "disturbed", "undisturbed"
"""MLflow's experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How hard it gets.

    Attributes:
        seed: chooses who is killed when.
        kills: how many.
        runs: of the sweep, a multiple of its cells.
    """

    seed: int
    kills: int
    runs: int


@dataclass(slots=True, kw_only=True)
class Found:
    """What happened, and what is wrong."""

    complaints: list[str] = field(default_factory=list)
    kills: Counter[Kind] = field(default_factory=Counter)
    drivers: int = 0
    exits: Counter[int] = field(default_factory=Counter)
    nodes: int = 0
    servers: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    elapsed_s: float = 0.0


def soak(settings: Settings, folder: Path, say: Callable[[str], None]) -> Found:
    """Run the sweep twice, once under kills; nothing that was started is left.

    Args:
        settings: how hard.
        folder: an empty one, which ledgers and logs go to.
        say: told of every kill.
    """
    began, found = time.monotonic(), Found()
    (folder / "server").mkdir()
    words = (*QUESTION, f"seeds={settings.runs // CELLS}")
    with cluster.started(folder / "nodes", "--include-dashboard=false") as ray, Server(folder / "server") as server:
        cluster_words = ("executor=ray", f"executor.address={ray.address}", "executor.shard_s=0.5")
        tracked = (*words, *cluster_words, f"tracking.uri={server.url}", f"tracking.experiment={DISTURBED}")
        with Driver(tracked, folder, ray.environment) as driver, _undisturbed(words, folder, ray.environment) as other:
            nodes = Nodes(ray)
            until(nodes.are_up, START_S)
            killer = Killer(
                drawn(settings.seed, settings.kills, settings.runs), driver=driver, nodes=nodes, server=server, say=say
            )
            found.complaints += _disturbed(killer, driver, nodes)
            found.kills, found.drivers, found.exits = killer.kills, driver.starts, Counter(driver.exits)
            found.nodes, found.servers = nodes.made, server.starts
            if not found.complaints:
                assert other.wait() == 0, "the undisturbed sweep failed"
                _judge(found, driver, server)
    found.elapsed_s = time.monotonic() - began
    return found


def _disturbed(killer: Killer, driver: Driver, nodes: Nodes) -> list[str]:
    """Kill until the schedule is empty, and let the sweep end; what went wrong on the way."""
    give_up = time.monotonic() + LIMIT_S
    while not driver.is_done:
        nodes.tend()
        driver.tend()
        killer.strike(driver.committed())
        if len(driver.exits) > MOST_EXITS:
            return [f"{len(driver.exits)} drivers ended by themselves: {driver.exits}"]
        if time.monotonic() > give_up:
            return [f"it is not over after {LIMIT_S:g} s; {killer.left} kills were to come"]
        time.sleep(POLL_S)
    return [f"the sweep was over with {killer.left} kills to come"] if killer.left else []


def _judge(found: Found, driver: Driver, server: Server) -> None:
    assert driver.ledger is not None
    here, there = driver.ledger.parent, ledger_in(driver.folder / UNDISTURBED).parent
    found.endings, found.lost = endings(here), lost_for_a_while(here)
    found.complaints += complaints(here, there)
    server.wait_until_up()
    try:
        until(lambda: not driver.syncers(), SYNCED_S)
    except AssertionError:
        found.complaints.append(f"{len(driver.syncers())} processes that feed MLflow do not end")
    for words in (("sync", str(here)), ("sync", str(there), f"--uri={server.url}", f"--experiment={UNDISTURBED}")):
        if driver.run(*words) != 0:
            found.complaints.append(f"python -m sweep {' '.join(words)} failed")
    mirrors = (Store(server.folder, server.url, name) for name in (DISTURBED, UNDISTURBED))
    found.complaints += mirror_complaints(*mirrors)


@contextmanager
def _undisturbed(words: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen]:
    """The same sweep in one process, meanwhile."""
    plain = (*words, "executor=inline", "tracking=none", f"output={UNDISTURBED}")
    process = typed(plain, folder, environment, log_name=f"{UNDISTURBED}.log")
    try:
        yield process
    finally:
        process.kill()
        process.wait()
