"""Paired, resumable parameter sweeps of robot simulations.

``python -m sweep +latency=0.002,0.005`` answers what a parameter does to a robot.

Values flow, folders transform: a configuration (:mod:`sweep.config`) becomes a design
(:mod:`sweep.design`), a design becomes Plans and seeds (:mod:`sweep.plan`), a Plan and a seed
become an Instance (:mod:`sweep.runtime`), an Instance leaves a record (:mod:`sweep.results`),
records become a comparison (:mod:`analysis`).  Importing this package imports nothing heavy.
"""

__version__ = "0.1.0"
