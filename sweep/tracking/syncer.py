"""The syncer: follows a ledger that a driver writes, until both are done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from sweep.errors import SweepError, TrackingError
from sweep.results import Ledger
from sweep.tracking.advice import MidwayError, in_a_line
from sweep.tracking.destination import Destination
from sweep.tracking.mirror import SyncReport, sync
from sweep.tracking.process import MARK, RECOVERED
from sweep.tracking.rows import RUNNING

POLL_S = 1.0
"""Least time between two passes [s]."""

DUTY = 4.0
"""A pass is followed by at least this many times its own duration, so that the syncer leaves the cores alone."""

LIVE_AFTER_S = 60.0
"""From then on cells are shown while their runs go on [s]; a shorter sweep is over before anyone looks."""

GRACE_S = 15.0
"""How long a sweep that is over waits for an MLflow that has answered before [s]; it may be starting again."""


def follow(
    ledger: Path, destination: Destination, *, has_successor: Callable[[], bool] = lambda: False
) -> SyncReport | None:
    """Mirror cells as they complete; return when the driver's session is over and everything is mirrored.

    A driver that was killed and started again has a syncer of its own: once there is a successor, and a driver at
    work, the older one leaves with None.

    MLflow out of reach is said on stderr, once until it answers again, and tried again.  When the driver is done, an
    MLflow that never answered is given up at once, another one after :data:`GRACE_S`.

    Raises:
        TrackingError: MLflow was out of reach that last time too.
    """
    began, seen = time.monotonic(), -1
    done_at: float | None = None
    has_answered = has_complained = False
    while True:
        started = time.monotonic()
        state, revision = _look(ledger)
        is_over = state != "running"
        if not is_over and has_successor():
            return None
        done_at = (done_at or started) if is_over else None
        try:
            if is_over or revision != seen:
                report = sync(ledger, destination, live=started - began >= LIVE_AFTER_S)
                if has_complained:
                    _say(RECOVERED)
                seen, has_answered, has_complained = revision, True, False
                if report.state != RUNNING:
                    return report
        except TrackingError as error:
            has_answered = has_answered or isinstance(error, MidwayError)
            if done_at is not None and (not has_answered or time.monotonic() - done_at >= GRACE_S):
                raise
            if not has_complained:
                complain(error)
            has_complained = True
        _rest(ledger, POLL_S if is_over or has_complained else max(POLL_S, DUTY * (time.monotonic() - started)))


def complain(error: SweepError) -> None:
    """Say on stderr what is wrong: the details first, the sentence for people last."""
    if error.__cause__ is not None:
        _say(in_a_line(error.__cause__))
    _say(" ".join(str(error).split()))


def _say(line: str) -> None:
    sys.stderr.write(f"{MARK}{line}\n")
    sys.stderr.flush()


def _rest(ledger: Path, seconds: float) -> None:
    """Sleep, but not on after the driver has finished."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL_S))
        if left > POLL_S and _look(ledger)[0] != "running":
            return


def _look(ledger: Path) -> tuple[str, int]:
    with Ledger.open(ledger, read_only=True) as opened:
        return opened.state, opened.revision
