"""``python -m sweep.tracking DIR --experiment NAME``: the syncer process; ``MLFLOW_TRACKING_URI`` says where to.

Exit codes: 0 everything is mirrored, 2 asked wrong, 3 MLflow could not be reached (the last line on stderr says why).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from sweep.errors import SweepError, TrackingError
from sweep.tracking.destination import Destination
from sweep.tracking.environment import quiet
from sweep.tracking.process import UNREACHABLE, has_successor

ASKED_WRONG = 2
NICENESS = 10
"""Physics comes first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow one ledger, or mirror it once; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m sweep.tracking", description="Mirror a sweep's ledger to MLflow.")
    parser.add_argument("folder", type=Path, help="a sweep's folder, or its ledger")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--artifacts", help="where a new experiment keeps artifacts; the server's choice otherwise")
    parser.add_argument("--once", action="store_true", help="mirror what there is now, and follow no driver")
    chosen = parser.parse_args(arguments)
    uri = os.environ.get("MLFLOW_TRACKING_URI") or parser.error("MLFLOW_TRACKING_URI is not set")
    quiet()
    _step_back()
    from sweep.tracking.mirror import sync
    from sweep.tracking.syncer import complain, follow

    destination = Destination(uri=uri, experiment=chosen.experiment, artifacts=chosen.artifacts)
    try:
        if chosen.once:
            sync(chosen.folder, destination)
        else:
            follow(chosen.folder, destination, has_successor=partial(has_successor, chosen.folder, destination))
    except SweepError as error:
        complain(error)
        return UNREACHABLE if isinstance(error, TrackingError) else ASKED_WRONG
    return 0


def _step_back() -> None:
    """Leave the cores to physics, also where Linux shares them out among sessions first, and this one has its own."""
    os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))


if __name__ == "__main__":
    sys.exit(main())
