"""How long runs last: the share still running over time, and what ended the others.

A run that completed is censored at its horizon: it would have gone on.  Every end of a run is an event of its own
kind, a fault one of them.  What nobody knows (lost, timed out, cancelled) is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.interval import LEVEL
from analysis.moments import Floats
from analysis.source import Sweep
from sweep.results import Status

FAULTED = "faulted"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Survival:
    """Runs of one cell over time.

    All columns have an entry per time at which something happened, and hold from that time on.

    Attributes:
        cell_id: which cell.
        n: runs that it rests on.
        events: how many of each kind; ``faulted``, or an end's reason.
        censored: runs that completed.
        excluded: runs lost, timed out or cancelled, or without a time.
        times: ascending [s].
        running: share still running (Kaplan-Meier).
        low: lower 95 % limit of that share.
        high: upper 95 % limit.
        incidence: kind to the share that it has ended (Aalen-Johansen); with ``running`` they add up to 1.
    """

    cell_id: str
    n: int
    events: Mapping[str, int]
    censored: int
    excluded: int
    times: Floats
    running: Floats
    low: Floats
    high: Floats
    incidence: Mapping[str, Floats]


def survival(sweep: Sweep) -> tuple[Survival, ...]:
    """The survival of each cell, in the design's order."""
    runs, found = sweep.runs, []
    for cell, span in zip(sweep.cells, runs.spans, strict=True):
        kinds = [_kind(s, r) for s, r in zip(runs.status[span], runs.reason[span], strict=True)]
        found.append(_survival(cell.cell_id, runs.time_s[span], kinds))
    return tuple(found)


def _kind(status: Status, reason: str | None) -> str | None:
    """The event that ended a run, ``""`` for none; None if nobody knows."""
    if status is Status.COMPLETED:
        return ""
    if status is Status.ENDED:
        return reason or status.value
    return FAULTED if status is Status.FAULTED else None


def _survival(cell_id: str, times: Floats, kinds: list[str | None]) -> Survival:
    known = np.array([kind is not None for kind in kinds], dtype=bool) & ~np.isnan(times)
    time, kind = times[known], np.array([k for k, is_known in zip(kinds, known, strict=True) if is_known], dtype=object)
    moments = np.unique(time[kind != ""])
    at_risk = np.array([(time >= t).sum() for t in moments], dtype=float)
    names = sorted(set(kind.tolist()) - {""})
    ended = {name: np.array([((time == t) & (kind == name)).sum() for t in moments], dtype=float) for name in names}
    total = sum(ended.values(), np.zeros(len(moments)))
    running = np.cumprod(1 - total / at_risk)
    before = np.concatenate([[1.0], running[:-1]])[: len(moments)]
    low, high = _limits(running, total, at_risk)
    return Survival(
        cell_id=cell_id,
        n=len(time),
        events={name: int(counts.sum()) for name, counts in ended.items()},
        censored=int((kind == "").sum()),
        excluded=len(kinds) - len(time),
        times=moments,
        running=running,
        low=low,
        high=high,
        incidence={name: np.cumsum(before * counts / at_risk) for name, counts in ended.items()},
    )


def _limits(running: Floats, ended: Floats, at_risk: Floats) -> tuple[Floats, Floats]:
    """Pointwise limits on the log(-log) scale, which stay within 0 and 1; NaN once nothing runs any more.

    Source: J. D. Kalbfleisch and R. L. Prentice, The Statistical Analysis of Failure Time Data (2nd ed., 2002),
    section 1.4, with Greenwood's variance.
    """
    from scipy.special import ndtri

    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.cumsum(ended / (at_risk * (at_risk - ended)))
        reach = float(ndtri((1 + LEVEL) / 2)) * np.sqrt(variance) / np.abs(np.log(running))
        return running ** np.exp(reach), running ** np.exp(-reach)
