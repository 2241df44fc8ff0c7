"""What the mirror says about a cell and about the sweep: plain values, computed from the ledger alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.comparison import CellSummary, Comparison
from analysis.contrast import summary_means
from analysis.source import Sweep
from sweep.digest import content_id
from sweep.results import RunRecord, Status
from sweep.tracking.names import LONGEST, metric_bases, telling_name, unique
from sweep.tracking.notes import cell_note
from sweep.tracking.tags import NOTE, cell_tags, meaning_tags

FINISHED, FAILED, KILLED, RUNNING = "FINISHED", "FAILED", "KILLED", "RUNNING"

LONGEST_PARAM = 500
"""MLflow's column of values [characters] in its older databases."""

LONGEST_NAME = 250
"""MLflow's column of run names [characters]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One MLflow run as it should be.

    Attributes:
        key: the cell's id; empty for the sweep's own run.
        name: ``mlflow.runName``.
        status: one of MLflow's states.
        started_ms: first commit [ms since 1970].
        ended_ms: last commit that the metrics rest on [ms since 1970]; also their timestamp.
        params: swept axes, bare numbers.
        metrics: finite values, at step 0.
        tags: ``mlflow.*`` and ``sweep.*``.
    """

    key: str
    name: str
    status: str
    started_ms: int
    ended_ms: int
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Mapping[str, float]

    @property
    def fingerprint(self) -> str:
        """Changes when anything about the run does."""
        fields = [self.name, self.status, self.started_ms, self.ended_ms, self.params, self.metrics, self.tags]
        return content_id([dict(f) if isinstance(f, Mapping) else f for f in fields])


def sweep_row(sweep: Sweep, tags: Mapping[str, str], status: str) -> RunRow:
    """The run of the sweep itself, the parent of its cells; what it counts is in them."""
    times = [time for span in sweep.commits.values() for time in span]
    if sweep.began_ms is not None:
        times.append(sweep.began_ms)
    return RunRow(
        key="",
        name=sweep.header.name[:LONGEST_NAME],
        status=status,
        started_ms=min(times, default=0),
        ended_ms=max(times, default=0),
        tags=tags,
        params={},
        metrics={},
    )


def cell_row(
    sweep: Sweep, comparison: Comparison, cell: CellSummary, common: Mapping[str, str], *, is_over: bool
) -> RunRow:
    """The child run of one cell.

    The timestamp is the last commit of the cell or of its baseline, since ``delta_vs_baseline`` rests on both
    and MLflow keeps the larger of two values with equal timestamps.

    Args:
        sweep: the sweep.
        comparison: of its cells.
        cell: one of them, with a record at least.
        common: tags that all cells share.
        is_over: whether no driver is at it.
    """
    records = [sweep.records[cell.cell_id][seed] for seed in sorted(sweep.records[cell.cell_id])]
    first, last = sweep.commits[cell.cell_id]
    if cell.contrast is not None and cell.contrast.against in sweep.commits:
        last = max(last, sweep.commits[cell.contrast.against][1])
    note = cell_note(comparison, cell, sweep.header.name, records[0].run_id)
    return RunRow(
        key=cell.cell_id,
        name=cell_name(comparison, cell),
        status=cell_status(cell, is_over=is_over),
        started_ms=first,
        ended_ms=last,
        tags={**common, **meaning_tags(comparison), **cell_tags(cell, records), NOTE: note},
        params=_params(comparison, cell),
        metrics=_metrics(comparison, cell, records),
    )


def cell_status(cell: CellSummary, *, is_over: bool) -> str:
    """FAILED if nothing completed or ended, or something was lost; KILLED if the sweep stopped before it was done."""
    answered = cell.outcomes.get("completed", 0) + cell.outcomes.get("ended", 0)
    unanswered = cell.planned - cell.n
    if unanswered and not is_over:
        return RUNNING
    if unanswered or cell.outcomes.get("cancelled"):
        return KILLED
    return FAILED if cell.outcomes.get("lost") or not answered else FINISHED


def sweep_status(statuses: Sequence[str], *, state: str, is_complete: bool) -> str:
    """The parent's: RUNNING while the driver lives, KILLED if it stopped early, FAILED if every cell did."""
    if state == "running":
        return RUNNING
    if not is_complete or KILLED in statuses or state != "finished":
        return KILLED
    return FAILED if statuses and all(status == FAILED for status in statuses) else FINISHED


def cell_name(comparison: Comparison, cell: CellSummary) -> str:
    """``latency=0.005, mass_scale=1.2``: the parameters, as they were swept."""
    swept = [f"{key}={_bare(cell.values.get(key))}" for key in comparison.swept]
    name = ", ".join(swept) or cell.label or "nominal"
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 20]}... {cell.cell_id}"


def _params(comparison: Comparison, cell: CellSummary) -> dict[str, str]:
    names = unique(comparison.swept)
    return {names[key]: _bare(cell.values.get(key)) for key in comparison.swept}


def _bare(value: Any) -> str:
    """A number as JavaScript's parseFloat reads it; anything else as short JSON."""
    text = value if isinstance(value, str) else repr(value) if isinstance(value, float) else json.dumps(value)
    return text if len(text) <= LONGEST_PARAM else f"{text[: LONGEST_PARAM - 20]}... {content_id(value)}"


def _metrics(comparison: Comparison, cell: CellSummary, records: Sequence[RunRecord]) -> dict[str, float]:
    """What the cell measured, then how its runs ended, then what happened in its components.

    The order counts: MLflow's parallel coordinates begin with what was logged first, its scatter and contour plots
    with what sorts first.  Both are the first metric's mean, under a name that needs no explanation.
    """
    found: dict[str, float | None] = {}
    for name, base in metric_bases(comparison.metrics).items():
        mean = cell.means.get(name)
        if mean is None:
            continue
        if name == next(iter(comparison.metrics)):
            found[telling_name(name, comparison.metrics[name])] = mean.estimate
        found |= {f"{base}/mean": mean.estimate, f"{base}/ci_low": mean.low, f"{base}/ci_high": mean.high}
        contrast = cell.contrast.metrics.get(name) if cell.contrast else None
        if cell.contrast is None:
            found[f"{base}/delta_vs_baseline"] = 0.0
        elif contrast is not None and contrast.difference is not None:
            found[f"{base}/delta_vs_baseline"] = contrast.difference.estimate
    found |= {f"outcomes/{s.value}": float(cell.outcomes.get(s.value, 0)) for s in Status}
    means = summary_means(records)
    names = unique([*found, *means], LONGEST)
    found |= {names[name]: mean for name, mean in means.items() if name not in found}
    return {name: value for name, value in found.items() if value is not None and math.isfinite(value)}
