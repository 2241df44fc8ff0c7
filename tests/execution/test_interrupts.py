"""Signals: the first one asks, the next one insists, and patience ends."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from sweep.execution import interrupts
from sweep.execution.interrupts import Interrupts


@pytest.fixture
def told():
    """What ``stop`` was called with; the handlers must be as before in the end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = [signal.getsignal(number) for number in numbers]
    calls = []
    yield calls
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_insists(told, first, second):
    with Interrupts(lambda: told.append("stop")):
        signal.raise_signal(first)
        told.append("what was in hand")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(second)
    assert told == ["stop", "what was in hand"]


def test_what_does_not_finish_is_interrupted(told, monkeypatch):
    monkeypatch.setattr(interrupts, "GRACE_S", 0.05)
    started = time.monotonic()
    with Interrupts(lambda: told.append("stop")):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
    assert time.monotonic() - started < 5
    assert told == ["stop"]


def test_what_finishes_in_time_is_left_alone(told):
    with Interrupts(lambda: told.append("stop")):
        signal.raise_signal(signal.SIGTERM)
    assert told == ["stop"]


def test_between_two_times_signals_are_the_callers_and_a_second_one_still_insists(told):
    interrupts = Interrupts(lambda: told.append("stop"))
    before = signal.getsignal(signal.SIGINT)
    with interrupts:
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
    with interrupts, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    assert told == ["stop"]


def test_one_inside_another_of_the_same_is_one(told):
    interrupts = Interrupts(lambda: told.append("stop"))
    with interrupts:
        with interrupts:
            pass
        signal.raise_signal(signal.SIGINT)
        with interrupts, pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert told == ["stop"]


def test_other_threads_hear_of_no_signal(told):
    def work():
        with Interrupts(lambda: told.append("stop")):
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        told.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told == ["done"]
