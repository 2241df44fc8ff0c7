"""A Ray cluster of real nodes on this machine, each a process of ``ray start --block`` that can be killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.execution.processes import end_session
from tests.tracking.stores import free_port, until

ROOT = Path(__file__).parents[2]
RAY = Path(sys.executable).with_name("ray")


@dataclass
class Cluster:
    """Nodes by name, each the leader of a session of its own.

    Their files are apart, as on several machines: nodes that share a folder take shipped code away from each other.
    """

    folder: Path
    scratch: Path
    ports: dict[str, int]
    environment: dict[str, str]
    nodes: dict[str, subprocess.Popen] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.ports['']}"

    def join(self, name: str, *words: str, **environment: str) -> None:
        """Start a node, told more words; two that start at once on one machine take the same names for sockets."""
        self.start(name, f"--address={self.address}", *words, **environment)

    def start(self, name: str, *words: str, **environment: str) -> None:
        """Start a node in a working directory of its own."""
        place = self.folder / name
        place.mkdir(parents=True)
        common = ["--num-cpus=1", "--block", "--object-store-memory=80000000", f"--node-name={name}"]
        common += [
            f"--temp-dir={self.scratch / name}",
            "--min-worker-port=0",
            "--max-worker-port=0",
            f"--dashboard-agent-listen-port={free_port()}",
        ]
        env = self.environment | environment
        with (place / "log").open("wb") as log:
            self.nodes[name] = subprocess.Popen(
                [RAY, "start", *common, *words], cwd=place, stdout=log, stderr=log, env=env, start_new_session=True
            )

    def is_up(self, name: str) -> bool:
        """Whether a node has joined, and lives."""
        return self.nodes[name].poll() is None and b"Ray runtime started" in self._log(name).read_bytes()

    def wait(self, name: str) -> None:
        until(lambda: self.is_up(name) or self.nodes[name].poll() is not None)
        assert self.nodes[name].poll() is None, self._log(name).read_text()

    def kill(self, name: str) -> None:
        """End a node with all its processes, as when its machine is switched off."""
        node = self.nodes.pop(name)
        end_session(node.pid)  # not its process group, which Ray's workers are not in
        node.wait(10)

    def run(self, *command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
        """Run a command beside the cluster, as a person would."""
        env = self.environment | {"PYTHONPATH": str(ROOT)} | environment
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)

    def _log(self, name: str) -> Path:
        return self.folder / name / "log"


@contextmanager
def started(folder: Path, *words: str) -> Iterator[Cluster]:
    """A cluster of a head with one core, told some more words; what has joined it by then ends with it."""
    scratch = Path(tempfile.mkdtemp(prefix="ray-test-", dir="/tmp"))  # Ray's sockets lie in it: a short path
    left_out = ("PYTHONPATH", "RAY_ADDRESS", "PYTHONDONTWRITEBYTECODE", "MLFLOW_TRACKING_URI")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "4" * 64, "RAY_USAGE_STATS_ENABLED": "0"}
    environment |= {"RAY_health_check_period_ms": "1000", "RAY_health_check_failure_threshold": "3"}
    environment |= {"RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "80"}
    ports = {kind: free_port() for kind in ("", "ray-client-server-", "dashboard-")}
    cluster = Cluster(folder, scratch, ports, environment)
    try:
        cluster.start("head", "--head", *words, *(f"--{kind}port={port}" for kind, port in ports.items()))
        cluster.wait("head")
        yield cluster
    finally:
        for name in list(cluster.nodes):
            cluster.kill(name)
        shutil.rmtree(scratch, ignore_errors=True)
