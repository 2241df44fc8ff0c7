"""Cells that share no seed: independent runs, compared as such or not at all."""

from __future__ import annotations

import numpy as np

from analysis.comparison import MetricContrast
from analysis.estimate import welch_t
from analysis.interval import LEVEL
from analysis.pairing import PairingReceipt
from analysis.runs import Floats, Runs
from analysis.source import Sweep

UNEQUAL = "no seed in common, and runs without a value"


def unpaired_metrics(a: Sweep, b: Sweep, base: int, other: int, contrasts: int) -> dict[str, MetricContrast]:
    """Metrics of cell ``other`` of ``b`` against cell ``base`` of ``a``, by Welch's interval.

    Where a run has no value there is no difference: which seeds failed is then part of the answer, and without pairs
    nothing can be said about those that did not.
    """
    found = {}
    for name, info in a.header.metrics.items():
        if name not in b.header.metrics:
            continue
        x, y = _values(a.runs, base, name), _values(b.runs, other, name)
        whole = bool(x.size and y.size) and not (np.isnan(x).any() or np.isnan(y).any())
        found[name] = MetricContrast(
            better=info.better,
            pairs_used=0,
            pairs_total=0,
            difference=welch_t(x, y) if whole else None,
            simultaneous=welch_t(x, y, 1 - (1 - LEVEL) / contrasts) if whole else None,
            percent=None,
            withheld="no seed in common" if whole else UNEQUAL,
            rank_p=None,
            receipt=PairingReceipt(pairs=0, correlation=None, variance_ratio=None),
        )
    return found


def _values(runs: Runs, cell: int, metric: str) -> Floats:
    return runs.values[metric][runs.spans[cell]]
