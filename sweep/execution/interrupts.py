"""Ctrl-C and the polite signal of a scheduler: once is to stop in good order, twice is to stop now."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

GRACE_S = 10.0
"""How long what runs may take to finish once it is to stop [s]."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first SIGINT or SIGTERM into a call of ``stop``; used in ``with``, again and again.

    The next one raises KeyboardInterrupt, and so does the end of :data:`GRACE_S`.  Outside of ``with`` signals are
    whoever's they were.  Only the main thread hears of signals: elsewhere this does nothing.

    Args:
        stop: what the first one asks for.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._deadline: float | None = None
        self._before: dict[int, Any] = {}
        self._depth = 0

    def __enter__(self) -> None:
        self._depth += 1
        if self._depth > 1 or threading.current_thread() is not threading.main_thread():
            return
        self._before = {number: signal.getsignal(number) for number in (*_SIGNALS, signal.SIGALRM)}
        if self._deadline is None:
            for number in _SIGNALS:
                signal.signal(number, self._first)
        else:
            self._hurry(self._deadline - time.monotonic())

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._before:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            for number, handler in self._before.items():
                signal.signal(number, handler)
            self._before = {}

    def _first(self, *_: object) -> None:
        self._deadline = time.monotonic() + GRACE_S
        self._hurry(GRACE_S)
        self._stop()

    def _hurry(self, left_s: float) -> None:
        for number in (*_SIGNALS, signal.SIGALRM):
            signal.signal(number, _now)
        signal.setitimer(signal.ITIMER_REAL, max(left_s, 1e-3))


def _now(*_: object) -> NoReturn:
    raise KeyboardInterrupt
