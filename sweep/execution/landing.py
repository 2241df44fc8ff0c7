"""Landing: whether what is swept changes anything at all, seen in the first moments of a few runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from sweep.execution.contrast import Contrast
from sweep.plan.plan import Plan
from sweep.runtime.batch import InstanceBatch
from sweep.runtime.fault import Fault

LOOK_S = 1.0
"""Wall time after which nobody looks on for a difference [s] ..."""

CONFIRM_S = 0.25
"""... and where none is expected, because both values are the same on the grid."""

FIRST_LOOK = 16
"""Ticks after which most axes have shown themselves; then they are looked at less and less often."""

OFTEN_S = 0.05
"""Wall time between two looks, at most by half [s]."""


def landing_remarks(contrasts: Sequence[Contrast], seed: int) -> tuple[str, ...]:
    """What people should know of axes that change nothing, a sentence each; nothing of those that do.

    All Plans are run side by side until each axis has made a difference, for at most about :data:`LOOK_S`.

    Args:
        contrasts: of all axes; an axis that lands in one of its contrasts lands.
        seed: the episode seed.
    """
    asked = [contrast for contrast in contrasts if _is_open(contrast)]
    return _Watch(asked, seed).remarks() if asked else ()


def _is_open(contrast: Contrast) -> bool:
    """Whether it takes a look: metrics read every run, and runs on another grid or of another length are others."""
    first, last = contrast.plans
    is_measured = any(path.startswith("metrics.") for path in contrast.bindings)
    return not is_measured and (first.grid, first.horizon) == (last.grid, last.horizon)


class _Watch:
    """The Plans of contrasts side by side, and the contrasts that have made no difference so far."""

    def __init__(self, contrasts: Sequence[Contrast], seed: int) -> None:
        self._seed = seed
        self._same = list(contrasts)
        layouts: dict[str, dict[str, Plan]] = {}
        for plan in (plan for contrast in contrasts for plan in contrast.plans):
            is_alone = plan.manifest.runtime.max_lanes == 1
            layouts.setdefault(plan.plan_id if is_alone else plan.layout, {})[plan.plan_id] = plan
        self._batches = [
            InstanceBatch([*plans.values()], [seed] * len(plans), trace="summary") for plans in layouts.values()
        ]
        self._places = {plan.plan_id: (batch, lane) for batch in self._batches for lane, plan in enumerate(batch.plans)}

    def remarks(self) -> tuple[str, ...]:
        """Look on while there is something to see, then tell."""
        started, ticks = time.perf_counter(), FIRST_LOOK
        while self._same and self._is_worth(time.perf_counter() - started):
            before = time.perf_counter()
            for batch in {id(batch): batch for batch in self._involved()}.values():
                batch.advance(min(ticks, batch.horizon - batch.tick))
            self._drop_landed()
            ticks *= 2 if time.perf_counter() - before < OFTEN_S / 2 else 1
        return tuple(dict.fromkeys(self._told(contrast) for contrast in self._same if not self._has_faulted(contrast)))

    def _involved(self) -> Iterator[InstanceBatch]:
        for contrast in self._same:
            yield from (self._places[plan.plan_id][0] for plan in contrast.plans)

    def _is_worth(self, spent_s: float) -> bool:
        patience = LOOK_S if not all(contrast.common for contrast in self._same) else CONFIRM_S
        return spent_s < patience and any(batch.living and batch.tick < batch.horizon for batch in self._involved())

    def _drop_landed(self) -> None:
        landed = [contrast for contrast in self._same if self._signature(contrast, 0) != self._signature(contrast, 1)]
        # Neighbouring values that are the same on the grid are a question of their own.
        axes = {(contrast.axis, contrast.common) for contrast in landed}
        self._same = [contrast for contrast in self._same if (contrast.axis, contrast.common) not in axes]

    def _signature(self, contrast: Contrast, which: int) -> Any:
        batch, lane = self._places[contrast.plans[which].plan_id]
        watched = {name: repr(observer.summary(lane)) for name, observer in batch.parts.observers.items()}
        return batch.trace_digest(lane), watched

    def _has_faulted(self, contrast: Contrast) -> bool:
        """Whether there was nothing more to see because both runs faulted alike, of which the canary tells."""
        batch, lane = self._places[contrast.plans[0].plan_id]
        return isinstance(batch.stops.get(lane), Fault)

    def _told(self, contrast: Contrast) -> str:
        batch, lane = self._places[contrast.plans[0].plan_id]
        paths = ", ".join(contrast.bindings)
        if contrast.common:
            others = f"; of its {contrast.count} values {contrast.distinct} differ" * (contrast.count > 2)
            return f"{contrast} make no difference: both {contrast.common}{others}"
        if batch.tick < batch.horizon and lane not in batch.stops:
            seen = f"in the first {batch.grid.time_s(batch.tick):g} s, which is as far as was looked"
            return f"{contrast} give the same trace {seen}; see whether {paths} acts later"
        return f"{contrast} give the same trace from start to end (seed {self._seed}): {paths} has no effect here"
