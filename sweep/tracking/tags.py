"""The tags of runs: MLflow's own, which its client does not set by itself, and ours, which begin with ``sweep.``."""

from __future__ import annotations

import getpass
import json
from collections.abc import Mapping, Sequence
from typing import Any

import sweep as package
from analysis.comparison import CellSummary, Comparison
from analysis.source import Sweep
from sweep.digest import canonical_json, content_id
from sweep.results import RunRecord, SweepHeader
from sweep.tracking.names import metric_bases
from sweep.tracking.notes import described, experiment_note, headed

NOTE = "mlflow.note.content"
PARENT = "mlflow.parentRunId"
SWEEP, CELL = "sweep.id", "sweep.cell"
"""What a run is looked up by."""

LONGEST_TAG = 8000


def sweep_id(header: SweepHeader) -> str:
    """Which sweep folder: digest of what it is and of who made it, when and where."""
    return content_id([header.name, header.model_id, header.code_id, dict(header.provenance)])


def experiment_tags(header: SweepHeader) -> dict[str, str]:
    """What MLflow's pages need to show an experiment without asking what it is."""
    tags = {NOTE: experiment_note(header), "mlflow.experimentKind": "custom_model_development"}
    first = next(iter(metric_bases(header.metrics).values()), None)
    return tags if first is None else {**tags, "mlflow.experiment.primaryMetric.name": f"{first}/mean"}


def common_tags(sweep: Sweep, provenance: Mapping[str, Any]) -> dict[str, str]:
    """What a sweep's run and its cells have in common: who asked, with what."""
    header, git = sweep.header, provenance.get("git")
    tags = {
        "mlflow.user": provenance.get("user") or _user(),
        "mlflow.source.name": provenance.get("command") or "python -m sweep",
        "mlflow.source.type": "LOCAL",
        SWEEP: sweep_id(header),
        "sweep.name": header.name,
        "sweep.scene": header.scene,
        "sweep.model": header.model_id,
        "sweep.code": header.code_id,
        "sweep.version": package.__version__,
    }
    if isinstance(git, Mapping):
        known = {f"mlflow.source.git.{name}": git.get(name) for name in ("commit", "branch", "dirty", "repoURL")}
        tags |= {name: value for name, value in known.items() if value is not None and value != ""}
    return {name: as_tag(value) for name, value in tags.items()}


def sweep_tags(comparison: Comparison, note: str) -> dict[str, str]:
    """What the sweep's run alone has."""
    return {**meaning_tags(comparison), "sweep.headline": as_tag(comparison.headline), NOTE: note}


def meaning_tags(comparison: Comparison) -> dict[str, str]:
    """What the numbers of a sweep and its cells mean: axes and metrics with their units, and the baseline."""
    axes = (headed(key, comparison.axes[key].unit if key in comparison.axes else "") for key in comparison.swept)
    metrics = (described(name, info) for name, info in comparison.metrics.items())
    tags = {"sweep.axes": ", ".join(axes), "sweep.metrics": "; ".join(metrics), "sweep.baseline": comparison.baseline}
    return {name: as_tag(text) for name, text in tags.items() if text}


def cell_tags(cell: CellSummary, records: Sequence[RunRecord]) -> dict[str, str]:
    """What a cell's run alone has, its note left out."""
    tags = {
        CELL: cell.cell_id,
        "sweep.role": "cell" if cell.contrast is not None else "baseline",
        "sweep.seeds": seeds_tag([record.seed for record in records]),
        "sweep.streams": streams_tag(records),
    }
    reasons = {**cell.end_reasons, **cell.fault_kinds}
    attempts = {str(record.seed): record.attempt for record in records if record.attempt > 1}
    tags |= {"sweep.status_reason": as_tag(canonical_json(reasons))} if reasons else {}
    tags |= {"sweep.attempts": as_tag(canonical_json(attempts))} if attempts else {}
    return tags


def as_tag(value: Any) -> str:
    """Text as it is, words with spaces between, anything else as JSON; cut off where MLflow would refuse it."""
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    return (value if isinstance(value, str) else json.dumps(value))[:LONGEST_TAG]


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


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "unknown"
