"""Apart: a call in a process of its own, for code that may change this one, hang, or take it along."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class DiedError(Exception):
    """The process of a call ended without an answer; the message says how."""


def call_apart(call: Callable[[], T], limit_s: float) -> T:
    """What a call returns, made in a copy of this process: nothing of it is left here but the answer.

    A copy, not a new process, because that takes milliseconds and the call need not travel.  What it prints is not
    shown.

    Args:
        call: what to do; its answer is pickled.
        limit_s: when the process is ended, also if it hangs in C or this one dies [s].

    Raises:
        DiedError: it crashed, took too long, or raised.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Threads of this process are not copied; the copy calls nothing that waits for them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(call, writing, limit_s)
    os.close(writing)
    try:
        text = _received(reading, time.monotonic() + limit_s)
    finally:
        os.close(reading)
        # Whatever is still running has no answer to give any more.
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if text is None:
        raise DiedError(f"took longer than {limit_s:g} s")
    answer: T = _read(text, status)
    return answer


def _answer(call: Callable[[], Any], pipe: int, limit_s: float) -> None:
    """The life of the copy: it never returns."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limit_s + 1)  # for when nobody waits any more
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with open(os.devnull, "r+b") as nowhere:
            for stream in (0, 1, 2):
                os.dup2(nowhere.fileno(), stream)
        answer = pickle.dumps(call())
        with open(pipe, "wb") as writing:
            writing.write(answer)
        code = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process ends here
        with suppress(Exception), open(pipe, "wb", closefd=False) as writing:
            writing.write(pickle.dumps(DiedError(f"raised {type(error).__name__}: {error}")))
    finally:
        os._exit(code)


def _received(pipe: int, deadline: float) -> bytes | None:
    """All that comes until the pipe is closed; None if it is still open at the deadline."""
    parts: list[bytes] = []
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return None


def _read(text: bytes, status: int) -> Any:
    if not text:
        code = os.waitstatus_to_exitcode(status)
        raise DiedError(f"was killed by {_signal_name(-code)}" if code < 0 else f"ended its process with code {code}")
    answer = pickle.loads(text)
    if isinstance(answer, DiedError):
        raise answer
    return answer


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
