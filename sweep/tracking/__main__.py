"""``python -m sweep.tracking LEDGER --uri URI --experiment NAME``: the syncer process.

Exit codes: 0 everything is mirrored, 2 asked wrong, 3 MLflow could not be reached (one line on stderr says why).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sweep.errors import SweepError, TrackingError
from sweep.tracking.environment import quiet
from sweep.tracking.process import UNREACHABLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow one ledger; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m sweep.tracking", description="Mirror a sweep's ledger to MLflow.")
    parser.add_argument("ledger", type=Path, help="ledger.sqlite, or its folder")
    parser.add_argument("--uri", required=True, help="MLflow's tracking URI")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--artifacts", help="where a new experiment keeps artifacts; the server's choice otherwise")
    chosen = parser.parse_args(arguments)
    quiet()
    os.nice(10)  # physics comes first
    from sweep.tracking.syncer import follow

    try:
        follow(chosen.ledger, chosen.uri, chosen.experiment, artifacts=chosen.artifacts)
    except TrackingError:
        return UNREACHABLE  # the syncer has said it
    except SweepError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
