"""What other threads ask of the thread that owns an Instance."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sweep.errors import HostError
from sweep.runtime.instance import SimulationInstance

T = TypeVar("T")


class Requests:
    """Functions of the Instance that wait for the owner to run them, in order."""

    def __init__(self) -> None:
        # None only wakes the owner up.
        self._waiting: queue.SimpleQueue[tuple[Callable[[SimulationInstance], Any], Future[Any]] | None]
        self._waiting = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._is_open = True

    def ask(self, function: Callable[[SimulationInstance], T]) -> Future[T]:
        """Leave a function; safe from any thread.

        Raises:
            HostError: nobody answers any more.
        """
        future: Future[T] = Future()
        with self._lock:
            if not self._is_open:
                raise HostError("the host is stopped: there is no Instance")
            self._waiting.put((function, future))
        return future

    def wake(self) -> None:
        """Let an owner that waits for a request look around; safe from any thread."""
        self._waiting.put(None)

    def answer(self, instance: SimulationInstance, *, wait: bool) -> None:
        """Run what is waiting; what comes meanwhile waits for the next call, so that nobody keeps the owner from its
        steps.

        Args:
            instance: what the functions are given.
            wait: wait for one where there is none.
        """
        for _ in range(max(self._waiting.qsize(), wait)):
            self._run(self._waiting.get(), instance)

    def refuse(self) -> None:
        """Take no more, and tell those that wait."""
        with self._lock:
            self._is_open = False
        while not self._waiting.empty():
            if (request := self._waiting.get()) is not None:
                request[1].set_exception(HostError("the host stopped before it answered"))

    def _run(
        self, request: tuple[Callable[[SimulationInstance], Any], Future[Any]] | None, instance: SimulationInstance
    ) -> None:
        if request is None:
            return
        function, future = request
        try:
            future.set_result(function(instance))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever asked
            future.set_exception(error)
