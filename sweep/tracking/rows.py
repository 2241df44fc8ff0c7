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
from sweep.digest import canonical_json, content_id
from sweep.results import RunRecord, Status
from sweep.tracking.names import LONGEST, metric_bases, unique

LONGEST_TAG = 8000
FINISHED, FAILED, KILLED, RUNNING = "FINISHED", "FAILED", "KILLED", "RUNNING"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One MLflow run as it should be.

    Attributes:
        name: ``mlflow.runName``.
        status: one of MLflow's states.
        started_ms: first commit [ms since 1970].
        ended_ms: last commit that the metrics rest on [ms since 1970]; also their timestamp.
        params: swept axes, bare numbers.
        metrics: finite values, at step 0.
        tags: ``mlflow.*`` and ``sweep.*``.
    """

    name: str
    status: str
    started_ms: int
    ended_ms: int
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]

    @property
    def fingerprint(self) -> str:
        """Changes when anything about the run does."""
        fields = [self.name, self.status, self.started_ms, self.ended_ms, self.params, self.metrics, self.tags]
        return content_id([dict(f) if isinstance(f, Mapping) else f for f in fields])


def sweep_id(sweep: Sweep) -> str:
    """Which sweep folder: digest of everything its header says (the time of its creation among it)."""
    return content_id(sweep.header.to_json())


def cell_row(sweep: Sweep, comparison: Comparison, cell: CellSummary, *, over: bool) -> RunRow:
    """The child run of one cell.

    The timestamp is the last commit of the cell or of its baseline, since ``delta_vs_baseline`` rests on both
    and MLflow keeps the larger of two values with equal timestamps.
    """
    records = [sweep.records[cell.cell_id][seed] for seed in sorted(sweep.records[cell.cell_id])]
    first, last = sweep.commits[cell.cell_id]
    if cell.contrast is not None and cell.contrast.against in sweep.commits:
        last = max(last, sweep.commits[cell.contrast.against][1])
    return RunRow(
        name=_cell_name(sweep, cell),
        status=cell_status(cell, over=over),
        started_ms=first,
        ended_ms=last,
        params=_params(sweep, cell),
        metrics=_metrics(comparison, cell, records),
        tags={
            "sweep.cell": cell.cell_id,
            "sweep.streams": streams_tag(records),
            "sweep.seeds": seeds_tag([record.seed for record in records]),
            **_fault_tag(cell),
        },
    )


def cell_status(cell: CellSummary, *, over: bool) -> str:
    """FAILED if nothing completed or ended, or something was lost; KILLED if the sweep stopped before it was done."""
    answered = cell.outcomes.get("completed", 0) + cell.outcomes.get("ended", 0)
    unanswered = cell.planned - cell.n
    if unanswered and not over:
        return RUNNING
    if unanswered or cell.outcomes.get("cancelled"):
        return KILLED
    return FAILED if cell.outcomes.get("lost") or not answered else FINISHED


def sweep_status(statuses: Sequence[str], *, state: str, complete: bool) -> str:
    """The parent's: RUNNING while the driver lives, KILLED if it stopped early, FAILED if every cell did."""
    if state == "running":
        return RUNNING
    if not complete or KILLED in statuses or state == "interrupted":
        return KILLED
    return FAILED if statuses and all(status == FAILED for status in statuses) else FINISHED


def _cell_name(sweep: Sweep, cell: CellSummary) -> str:
    swept = [f"{key}={_bare(cell.values.get(key))}" for key in sweep.swept]
    return ", ".join(swept) or cell.label or "nominal"


def _params(sweep: Sweep, cell: CellSummary) -> dict[str, str]:
    names = unique(sweep.swept)
    return {names[key]: _bare(cell.values.get(key)) for key in sweep.swept}


def _bare(value: Any) -> str:
    """A number as JavaScript's parseFloat reads it; anything else as short JSON."""
    if isinstance(value, str):
        return value
    return repr(value) if isinstance(value, float) else json.dumps(value)


def _metrics(comparison: Comparison, cell: CellSummary, records: Sequence[RunRecord]) -> dict[str, float]:
    found: dict[str, float | None] = {f"outcomes/{s.value}": float(cell.outcomes.get(s.value, 0)) for s in Status}
    for name, base in metric_bases(comparison.metrics).items():
        mean = cell.means.get(name)
        if mean is None:
            continue
        found |= {f"{base}/mean": mean.estimate, f"{base}/ci_low": mean.low, f"{base}/ci_high": mean.high}
        contrast = cell.contrast.metrics.get(name) if cell.contrast else None
        if cell.contrast is None:
            found[f"{base}/delta_vs_baseline"] = 0.0
        elif contrast is not None and contrast.difference is not None:
            found[f"{base}/delta_vs_baseline"] = contrast.difference.estimate
    means = summary_means(records)
    names = unique([*found, *means], LONGEST)
    found |= {names[name]: mean for name, mean in means.items() if name not in found}
    return {name: value for name, value in found.items() if value is not None and math.isfinite(value)}


def _fault_tag(cell: CellSummary) -> dict[str, str]:
    reasons = {**cell.end_reasons, **cell.fault_kinds}
    return {"sweep.status_reason": canonical_json(reasons)[:LONGEST_TAG]} if reasons else {}


def seeds_tag(seeds: Sequence[int]) -> str:
    """``0-15`` or ``1,5,9-12``; a digest of it where that is too long."""
    spans: list[list[int]] = []
    for seed in sorted(seeds):
        if spans and seed == spans[-1][1] + 1:
            spans[-1][1] = seed
        else:
            spans.append([seed, seed])
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
    return text if len(text) <= LONGEST_TAG else f"{len(seeds)} seeds, digest {content_id(list(seeds))}"


def streams_tag(records: Sequence[RunRecord]) -> str:
    """The stream receipts as short JSON.

    ``{"imu/noise": {"0": "k9f3ac2d1:0+5000x6:77aa01bc", ...}}`` maps stream and seed to key, first draw, number
    of draws, width and digest; where that is too long, each stream has the number of runs and one digest.
    """
    streams: dict[str, dict[str, str]] = {}
    for record in records:
        for name, r in record.receipts.items():
            text = f"k{r.key[:8]}:{r.first}+{r.count}x{r.width}:{r.digest[:8]}"
            streams.setdefault(name, {})[str(record.seed)] = text
    text = canonical_json(streams)
    if len(text) > LONGEST_TAG:
        text = canonical_json({name: f"{len(runs)} runs:{content_id(runs)}" for name, runs in streams.items()})
    return text if len(text) <= LONGEST_TAG else canonical_json({"all": content_id(streams)})
