"""A metric that picks a number of an Observer."""

from __future__ import annotations

import math
from typing import Any

from sweep.plan.metric import MetricSpec
from sweep.runtime.block import BlockView
from sweep.runtime.reads import STATE_ONLY


class ObservedMetric:
    """``type: observed``; see :class:`sweep.plan.metric.MetricSpec`.

    Args:
        spec: the metric.
        observer: the Observer that keeps the number.
    """

    reads = STATE_ONLY

    def __init__(self, spec: MetricSpec, observer: Any) -> None:
        self.spec = spec
        self._observer = observer

    def fold(self, view: BlockView) -> None:
        """The Observer has seen the steps itself."""

    def value(self, lane: int) -> float | None:
        """The lane's number so far; None where the Observer has none, or none that is finite."""
        number: float | None = self._observer.summary(lane).get(self.spec.quantity)
        return number if number is not None and math.isfinite(number) else None
