"""Ray: a cluster of one's own or an existing one, and the executor that runs shards on it."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from sweep.errors import ExecutorError
from sweep.execution.executor import cores
from sweep.execution.isolation import Isolation
from sweep.execution.ray_crew import Crew
from sweep.execution.run_files import RunFiles
from sweep.execution.shards import ShardQueue
from sweep.results import RunRecord

STORE_BYTES = 256 * 2**20
"""Object store of a cluster of our own [bytes]: Plans are small, and the default is a third of the memory."""

START_S = 180.0
"""How long Ray may take to start or to be reached [s]; 5 to 13 are usual."""

CLOSE_S = 30.0
KNOCK_S = 5.0

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run` Ray would zip the whole working directory and start each worker through uv.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # What waited behind a dead worker is put back, not asked for: that it failed is no news.
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
}
_log = logging.getLogger("sweep.ray")


class RayExecutor:
    """Runs shards on Ray workers, one process and one core each.

    Args:
        workers: how many; by default one per core of this machine, or of the cluster.
        address: an existing cluster (``auto``, ``ray://...``, ``host:port``); by default ``RAY_ADDRESS``, else one
            is started on this machine and ends with this executor.
        pythonpath: import folders for the workers; by default the driver's own, without installed packages.
        reason: why Ray.
    """

    def __init__(
        self,
        workers: int | None = None,
        address: str | None = None,
        pythonpath: Sequence[str] | None = None,
        *,
        reason: str = "ray: as asked",
    ) -> None:
        self.reason = reason
        self._session = RaySession(workers, address, pythonpath)
        self._stopped = threading.Event()
        self._isolation = Isolation()

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
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._session.close()

    def execute(self, queue: ShardQueue, files: RunFiles | None = None) -> Iterator[list[RunRecord]]:
        """See :meth:`sweep.execution.executor.Executor.execute`."""
        workers = self.wait()
        queue.workers = workers
        if not len(queue) or self._stopped.is_set():
            return
        session = self._session
        crew = Crew(
            session.ray,
            queue.plans(),
            min(workers, len(queue)),
            self._isolation,
            session.actor_options,
            files=files,
        )
        try:
            while True:
                if not self._stopped.is_set():
                    crew.fill(queue)
                elif not crew.is_busy:
                    return
                if not crew.is_busy and not len(queue):
                    return
                yield from crew.collect(queue)
        finally:
            crew.dismiss()


class RaySession:
    """Ray for the time of one sweep.

    The thread that starts Ray lives as long as it does: Linux kills Ray's processes when the *thread* ends that
    started them, because they are told to die with their parent.

    Args:
        workers: cores to use; None means all.
        address: an existing cluster; None means ``RAY_ADDRESS``, else a cluster of our own.
        pythonpath: import folders for the workers; None means the driver's own.
    """

    def __init__(self, workers: int | None, address: str | None, pythonpath: Sequence[str] | None) -> None:
        self._workers = workers
        self._address = address or os.environ.get("RAY_ADDRESS") or None
        self._env = _worker_environment(pythonpath if pythonpath is not None else user_paths())
        self._up, self._release = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live, name="ray-session", daemon=True)
        self._failure: BaseException | None = None
        self._folder: str | None = None
        self._borrowed = False
        self.ray: Any = None

    def start(self) -> None:
        """Begin; returns at once.  Starting twice is fine."""
        if self._thread.ident is None:
            self._thread.start()

    @property
    def is_up(self) -> bool:
        """Whether the start is over, well or not."""
        return self._up.is_set()

    @property
    def actor_options(self) -> dict[str, Any]:
        """What actors need in a Ray that somebody else started in this process."""
        return {"runtime_env": {"env_vars": self._env}} if self._borrowed else {}

    def wait(self) -> int:
        """See :meth:`sweep.execution.ray_executor.RayExecutor.wait`."""
        self.start()
        if not self._up.wait(START_S):
            raise ExecutorError(f"Ray did not come up within {START_S:g} s{self._where()}; see executor.address=.")
        if isinstance(self._failure, ExecutorError):
            raise self._failure
        if self._failure is not None:
            text = " ".join(str(self._failure).split())
            what = "reached" if self._address else "started"
            raise ExecutorError(f"Ray cannot be {what}{self._where()}: {text}") from self._failure
        assert self._workers is not None
        return self._workers

    def close(self) -> None:
        """End what this session started, and remove its files."""
        self._release.set()
        if self._thread.ident is not None:
            # One that never came up is left behind: it hangs inside Ray, and ends with the process.
            self._thread.join(None if self.is_up else CLOSE_S)

    def _where(self) -> str:
        return f" at {self._address}" if self._address else ""

    def _live(self) -> None:
        try:
            self._open()
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that waits
            self._failure = error
        self._up.set()
        self._release.wait()
        self._close()

    def _open(self) -> None:
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        # Here, not at the top: the settings above come first, and the import takes seconds on a cold disk.
        import ray

        self.ray = ray
        logging.getLogger("ray").setLevel(logging.ERROR)
        self._borrowed = self.ray.is_initialized()
        if not self._borrowed:
            common = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
            with _plain_stdout(), _daemon_environment(local=self._address in (None, "local")):
                self.ray.init(**common, **self._place(), runtime_env={"env_vars": self._env})
        self._check_resources()

    def _place(self) -> dict[str, Any]:
        if self._address not in (None, "local"):
            _knock(self._address)
            return {"address": self._address}  # an existing cluster refuses sizes
        self._workers = self._workers or cores()
        # A folder of our own can be removed without harm to other sessions.  Not under TMPDIR: Ray's sockets lie in
        # it, and their paths may not be long.
        self._folder = tempfile.mkdtemp(prefix="sweep-ray-", dir="/tmp")
        return {
            "address": "local",
            "num_cpus": self._workers,
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
            "_temp_dir": self._folder,
        }

    def _check_resources(self) -> None:
        there = int(self.ray.cluster_resources().get("CPU", 0))
        wanted = self._workers or there
        if wanted > there or not there:
            # Ray would wait for ever without a word.
            raise ExecutorError(
                f"{wanted or 1} Ray workers need a core each, and the cluster has {there} in all; ask for fewer with "
                "executor.workers=, or add nodes."
            )
        self._workers = wanted

    def _close(self) -> None:
        if self.ray is not None and not self._borrowed and self.ray.is_initialized():
            self.ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _knock(address: str) -> None:
    """Fail where nobody listens: Ray itself would try for ever.

    Raises:
        OSError: nobody does.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK_S).close()


def user_paths() -> list[str]:
    """The driver's import folders that are not Python's own or installed packages, absolute."""
    installed = [os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())]
    found = [os.path.realpath(path or os.getcwd()) for path in sys.path]
    mine = [p for p in found if not any(p == i or p.startswith(i + os.sep) for i in installed) and os.path.exists(p)]
    return list(dict.fromkeys(mine))


def _worker_environment(pythonpath: Sequence[str]) -> dict[str, str]:
    threads = dict.fromkeys(ONE_THREAD, "1")
    return {**threads, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": os.pathsep.join(pythonpath)}


@contextmanager
def _daemon_environment(*, local: bool) -> Iterator[None]:
    """What Ray's own processes should inherit when they are started here.

    Without byte code every one of them compiles all it imports.  A token of our own keeps other users of the machine
    out of the cluster; without one, Ray would write one into the home folder.
    """
    before: Mapping[str, str | None] = {n: os.environ.get(n) for n in ("PYTHONDONTWRITEBYTECODE", "RAY_AUTH_TOKEN")}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if local and "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    try:
        yield
    finally:
        if before["PYTHONDONTWRITEBYTECODE"] is not None:
            os.environ["PYTHONDONTWRITEBYTECODE"] = before["PYTHONDONTWRITEBYTECODE"]


@contextmanager
def _plain_stdout() -> Iterator[None]:
    """Send what Ray's daemons say about dead workers to our log: Ray prints it to stdout, whatever it is told."""
    from ray._private import worker as module

    if hasattr(module, "print_to_stdstream"):
        module.print_to_stdstream = _to_log
    yield


def _to_log(data: Mapping[str, Any], *_: object, **__: object) -> None:
    for line in data.get("lines", ()):
        _log.debug("%s: %s", data.get("pid", "ray"), line)
