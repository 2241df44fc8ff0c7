"""Paired, resumable parameter sweeps of robot simulations.

``python -m sweep +latency=0.002,0.005`` answers what a parameter does to a robot.

Values flow, folders transform: a configuration (:mod:`sweep.config`) becomes a design
(:mod:`sweep.design`), a design becomes Plans and seeds (:mod:`sweep.plan`), a Plan and a seed
become an Instance (:mod:`sweep.runtime`), an Instance leaves a record (:mod:`sweep.results`),
records become a comparison (:mod:`analysis`).  Importing this package imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from sweep.run import SweepRun


def run_sweep(*overrides: str, **options: Any) -> SweepRun:
    """A sweep from Python, as the command line runs it; see :func:`sweep.run.run_sweep`."""
    from sweep.run import run_sweep as implementation

    return implementation(*overrides, **options)
