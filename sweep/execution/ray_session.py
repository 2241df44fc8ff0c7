"""RaySession: Ray for the time of one sweep, a cluster of one's own or an existing one."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sweep.errors import ExecutorError
from sweep.execution.executor import cores
from sweep.execution.preflight import worker_nodes
from sweep.execution.ray_address import check_address, no_answer, refusal
from sweep.execution.scratch import Scratch
from sweep.execution.shipping import Shipment
from sweep.plan.plan import Plan

STORE_BYTES = 256 * 2**20
"""Object store of a cluster of our own [bytes]: Plans are small, and the default is a third of the memory."""

START_S = 180.0
"""How long Ray may take to start here [s]; 5 to 13 are usual."""

REACH_S = 90.0
"""How long an existing cluster may take to answer [s]; what is no Ray never does."""

JOIN_S = 60.0
"""How long an existing cluster is given to grow to the workers that were asked for [s]: its nodes may still start."""

POLL_S = 0.5
CLOSE_S = 30.0

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run` Ray would zip the whole working directory and start each worker through uv.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # What waited behind a dead worker is put back, not asked for: that it failed is no news.
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",
    # Inside a submitted job, what we send takes the place of the same entries of the job's environment.
    "RAY_OVERRIDE_JOB_RUNTIME_ENV": "1",
    # While Ray starts, its store may listen a moment after it is first called; the next try would come a second later.
    "RAY_raylet_client_connect_timeout_milliseconds": "50",
    "RAY_raylet_client_num_connect_attempts": "200",
}
_QUIET = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
_log = logging.getLogger("sweep.ray")


class RaySession:
    """Ray for the time of one sweep.

    The thread that starts Ray lives as long as it does: Linux kills Ray's processes when the *thread* ends that
    started them, because they are told to die with their parent.

    Args:
        workers: cores to use; None means all.
        address: an existing cluster; None means ``RAY_ADDRESS``, else a cluster of our own.
        pythonpath: import folders for the workers of a cluster on this machine; None means the driver's own.
    """

    def __init__(
        self, workers: int | None = None, address: str | None = None, pythonpath: Sequence[str] | None = None
    ) -> None:
        self._workers = workers
        address = address or os.environ.get("RAY_ADDRESS") or None
        self.address = None if address == "local" else address
        self._pythonpath = user_paths() if pythonpath is None else list(pythonpath)
        self._up, self._release = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live, name="ray-session", daemon=True)
        self._failure: BaseException | None = None
        self._scratch: Scratch | None = None
        self._borrowed = False
        self.shipment: Shipment | None = None
        self.ray: Any = None

    def start(self) -> None:
        """Begin; returns at once.  Starting twice is fine."""
        if self._thread.ident is None:
            self._thread.start()

    def pack(self, plans: Iterable[Plan]) -> list[str]:
        """Take along the code of Plans where the cluster is not ours and not reached yet.

        Returns:
            What a person should know of it.

        Raises:
            ExecutorError: it is too heavy.
        """
        if self.address is None or self.is_up:
            return []
        self.shipment = Shipment.of(plans)
        return self.shipment.check()

    @property
    def is_up(self) -> bool:
        """Whether the start is over, well or not."""
        return self._up.is_set()

    @property
    def is_own(self) -> bool:
        """Whether the cluster is this session's: one machine, this one."""
        return self.address is None and not self._borrowed

    @property
    def options(self) -> dict[str, Any]:
        """What workers and tasks need in a Ray that somebody else started in this process."""
        return {"runtime_env": {"env_vars": self._environment(here=True)}} if self._borrowed else {}

    def wait(self) -> int:
        """Wait until Ray is up and has the cores that were asked for.

        Returns:
            The number of workers: as asked, else one for each core.

        Raises:
            ExecutorError: Ray cannot be started or reached, or has fewer cores.
        """
        self.start()
        patience = START_S if self.address is None else REACH_S
        if not self._up.wait(patience):
            raise ExecutorError(no_answer(self.address, patience))
        if isinstance(self._failure, ExecutorError):
            raise self._failure
        if self._failure is not None:
            raise ExecutorError(refusal(self.address, self._failure)) from self._failure
        self._workers = self._enough_cores()
        return self._workers

    def check(self) -> None:
        """See to it that Ray's own process on this machine, the raylet, is there.

        Once it is gone, Ray ends this process too, a little later and without a word.

        Raises:
            ExecutorError: it is gone.
        """
        from ray._private.worker import global_worker

        place = getattr(global_worker.node, "raylet_socket_name", None)  # there is no node behind ray://
        if place is None:
            return
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(place)
            except OSError as error:
                raise ExecutorError(
                    f"Ray on this machine is gone: its raylet was killed or has crashed ({error.strerror})."
                ) from error

    def close(self) -> None:
        """End what this session started, and remove its files."""
        self._release.set()
        if self._thread.ident is not None:
            # One that never came up is left behind: it hangs inside Ray, and ends with the process.
            self._thread.join(None if self.is_up else CLOSE_S if self.address is None else POLL_S)

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
        if self.address is not None:
            check_address(self.address)
        # Here, not at the top: the settings above come first, and the import takes seconds on a cold disk.
        import ray

        self.ray = ray
        logging.getLogger("ray").setLevel(logging.ERROR)
        self._borrowed = self.ray.is_initialized()
        if self._borrowed:
            self.shipment = None
            return
        with _plain_stdout():
            self._join() if self.address is not None else self._begin()

    def _begin(self) -> None:
        """Start a cluster of our own."""
        self._workers = self._workers or cores()
        # A folder of our own can be removed without harm to other sessions.
        self._scratch = Scratch()
        if "RAY_AUTH_TOKEN_PATH" not in os.environ:
            # It keeps other users of the machine out; without one, Ray would write one into the home folder.
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        # Not a runtime_env: Ray starts a worker for each core by itself, and would not use those for another one.
        with inherited(self._environment(here=True)):
            self.ray.init(
                address="local",
                num_cpus=self._workers,
                include_dashboard=False,
                object_store_memory=STORE_BYTES,
                _temp_dir=str(self._scratch.path),
                **_QUIET,
            )

    def _join(self) -> None:
        """Connect to an existing cluster, which refuses sizes, and whose nodes see none of our folders."""
        environment: dict[str, Any] = {"env_vars": self._environment(here=False)}
        with tempfile.TemporaryDirectory(prefix="sweep-code-") as folder:
            if self.shipment is not None:
                environment["working_dir"] = str(self.shipment.stage(Path(folder)))
            self.ray.init(address=self.address, runtime_env=environment, **_QUIET)

    def _environment(self, *, here: bool) -> dict[str, str]:
        """Environment variables of the workers: one thread each, byte code kept, and where modules are found here.

        Without byte code every one of them, and of Ray's own processes, compiles all it imports.
        """
        path = {"PYTHONPATH": os.pathsep.join(self._pythonpath)} if here else {}
        return {**dict.fromkeys(ONE_THREAD, "1"), "PYTHONDONTWRITEBYTECODE": "", **path}

    def _enough_cores(self) -> int:
        """The cores to use; Ray would wait for more than there are for ever, without a word."""
        give_up = time.monotonic() + (0.0 if self.address is None else JOIN_S)
        while True:
            there = sum(int(node["Resources"]["CPU"]) for node in worker_nodes(self.ray))
            wanted = self._workers or there
            if there >= max(wanted, 1):
                return wanted
            if time.monotonic() >= give_up:
                raise ExecutorError(
                    f"{wanted or 1} Ray workers need a core each, and the cluster has {there} in all; ask for fewer "
                    "with executor.workers=, or add nodes."
                )
            time.sleep(POLL_S)

    def _close(self) -> None:
        if self.ray is not None and not self._borrowed and self.ray.is_initialized():
            self.ray.shutdown()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None


def this_node() -> str:
    """Ray's name for the node that a worker is on."""
    import ray

    return str(ray.get_runtime_context().get_node_id())


def user_paths() -> list[str]:
    """The driver's import folders that are not Python's own or installed packages, absolute."""
    installed = [os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())]
    found = [os.path.realpath(path or os.getcwd()) for path in sys.path]
    mine = [p for p in found if not any(p == i or p.startswith(i + os.sep) for i in installed) and os.path.exists(p)]
    return list(dict.fromkeys(mine))


@contextmanager
def inherited(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for the processes that are started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


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
