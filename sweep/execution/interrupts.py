"""Ctrl-C and the polite signal of a scheduler: once is to stop in good order, twice is to stop now."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

GRACE_S = 10.0
"""How long what runs may take to finish once it is to stop [s]."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def orderly(stop: Callable[[], None]) -> Iterator[None]:
    """Turn the first SIGINT or SIGTERM into a call of ``stop``.

    The next one raises KeyboardInterrupt, and so does the end of :data:`GRACE_S`.  Only the main thread hears of
    signals: elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (*_SIGNALS, signal.SIGALRM)}

    def first(*_: object) -> None:
        for number in (*_SIGNALS, signal.SIGALRM):
            signal.signal(number, _now)
        signal.setitimer(signal.ITIMER_REAL, GRACE_S)
        stop()

    for asked in _SIGNALS:
        signal.signal(asked, first)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _now(*_: object) -> NoReturn:
    raise KeyboardInterrupt
