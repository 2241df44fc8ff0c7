"""The syncer: follows a ledger that a driver writes, until both are done."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from sweep.errors import TrackingError
from sweep.results import Ledger
from sweep.tracking.mirror import SyncReport, sync

POLL_S = 1.0
"""Least time between two passes [s]."""

DUTY = 4.0
"""A pass is followed by at least this many times its own duration, so that the syncer leaves the cores alone."""


def follow(ledger: Path, uri: str, experiment: str, *, artifacts: str | None = None) -> SyncReport:
    """Mirror cells as they complete; return when the driver's session is over and everything is mirrored.

    MLflow out of reach is said once on stderr, at once, and tried again, the last time when the driver is done.

    Raises:
        TrackingError: MLflow was out of reach that last time too.
    """
    seen, complained = -1, False
    while True:
        started = time.monotonic()
        state, revision = _look(ledger)
        if revision != seen or state != "running":
            try:
                report = sync(ledger, uri, experiment, artifacts=artifacts)
                seen = revision
                if report.state != "RUNNING":
                    return report
            except TrackingError as error:
                if not complained:
                    sys.stderr.write(f"{error}\n")
                    sys.stderr.flush()
                complained = True
                if state != "running":
                    raise
        _rest(ledger, max(POLL_S, DUTY * (time.monotonic() - started)) if state == "running" else POLL_S)


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
