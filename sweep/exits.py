"""How a command ends: its exit code, and the words it says if it did not do what was asked."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from sweep.errors import StoppedError, SweepError
from sweep.terminal import fitted

SOME_FAILED = 1
ASKED_WRONG = 2
CANCELLED = 130

_UNWRITABLE = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO}


def exit_code(answer: Callable[[], int]) -> int:
    """Answer a command; errors that are for people are told on standard error, in words.

    Args:
        answer: does what was asked, prints it, and returns the exit code.

    Returns:
        That code; 1 or 2 if an error was told, 130 for Ctrl-C, whatever a library made of it, and 0 if whoever read
        the output has gone.
    """
    with _interrupts() as heard:
        try:
            return _flushed(answer)
        except KeyboardInterrupt:
            return _stopped()
        except Exception as error:
            # A library that is loaded right then makes an ImportError of an interrupt, or loses it on the way.
            if heard:
                return _stopped()
            code = _explained(error)
            if code is None:
                raise
            return code


def _explained(error: Exception) -> int | None:
    """Tell an error in words, if it has any for people."""
    if isinstance(error, SweepError):
        return _told(str(error), SOME_FAILED if isinstance(error, StoppedError) else ASKED_WRONG)
    if isinstance(error, OSError) and error.errno in _UNWRITABLE and error.filename is None:
        return _silenced(error)
    return None


def _flushed(answer: Callable[[], int]) -> int:
    try:
        return answer()
    finally:
        sys.stdout.flush()  # fails here, if it does, and not at exit


def _silenced(error: OSError) -> int:
    """Standard output takes no more; nothing can be said there, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    return _told(f"the output cannot be written: {error.strerror}", SOME_FAILED)


def _told(text: str, code: int) -> int:
    sys.stderr.write(f"{fitted(text, sys.stderr)}\n")
    return code


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """Ctrl-C ends the process right there, with its word and its code: for what leaves nothing to put in order.

    No exception has to find its way through a library that is being loaded: some swallow it, and an interpreter that
    ran one of their scripts meanwhile kills itself with the signal when it ends.
    """

    def stop(*_: object) -> NoReturn:
        os._exit(_stopped())

    with _on_interrupt(stop):
        yield


def _stopped() -> int:
    return _told("\nstopped" if sys.stderr.isatty() else "stopped", CANCELLED)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """The interrupts that came; each raises KeyboardInterrupt, unless somebody else has taken over."""
    heard: list[int] = []

    def hear(number: int, _: object) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    with _on_interrupt(hear):
        yield heard


@contextmanager
def _on_interrupt(handler: Callable[[int, FrameType | None], NoReturn]) -> Iterator[None]:
    """Handle SIGINT, where it is heard and not ignored on purpose."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
