"""Real ledgers with invented numbers: cells of one axis whose effect on a metric is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sweep.digest import content_id
from sweep.results import (
    AxisInfo,
    CellRow,
    Ledger,
    MetricInfo,
    Outcome,
    RunRecord,
    Status,
    StreamReceipt,
    SweepHeader,
)

CODE = "c0de" * 4
Invent = Callable[[Mapping[str, Any], int], Mapping[str, Any]]

METRICS = {
    "tracking_error_rms": MetricInfo(unit="rad", better="lower", window="horizon"),
    "effort_rms": MetricInfo(unit="N m", better="lower", window="horizon"),
}
AXES = {
    "latency": AxisInfo(nominal=0.002, unit="s", bindings=("components.encoders.latency_s",)),
    "mass_scale": AxisInfo(nominal=1.0, unit="", bindings=("model.mass_scale",)),
}


def header(**changes: Any) -> SweepHeader:
    fields: dict[str, Any] = {
        "name": "arm-1a2b3c4d",
        "scene": "arm",
        "manifest": {"schema": "3.3", "components": {"encoders": {"latency_s": 0.002}}, "controllers": {"tracker": {}}},
        "model_id": "m" * 16,
        "code_id": CODE,
        "axes": AXES,
        "metrics": METRICS,
        "baseline": None,
        "provenance": {"command": "python -m sweep +latency=0.002,0.005", "created": "2026-01-01T00:00:00Z"},
    }
    return SweepHeader(**{**fields, **changes})


def cell(ordinal: int = 0, **values: Any) -> CellRow:
    full = {"latency": 0.002, "mass_scale": 1.0, **values}
    label = ", ".join(f"{name}={value}" for name, value in values.items()) or "nominal"
    return CellRow(
        cell_id=content_id(full),
        ordinal=ordinal,
        label=label,
        values=full,
        parameters={"components.encoders.latency_s": full["latency"]},
        plan_id=content_id({"plan": full}),
    )


def receipt(seed: int, *, key: str = "", count: int = 1000, width: int = 7) -> StreamReceipt:
    key = key or content_id(["encoders/noise", seed]) * 2
    return StreamReceipt(key=key, first=0, count=count, width=width, digest=recompute(key, 0, count, width))


def recompute(key: str, first: int, count: int, width: int) -> str:
    """Stands in for the runtime's generator: any deterministic function of its arguments will do."""
    return content_id([key, first, count, width]) * 2


def effects(values: Mapping[str, Any], seed: int) -> Mapping[str, Any]:
    """A shared difficulty per seed, an effect of latency, a little noise of the run itself."""
    hard = np.random.default_rng([7, seed]).normal(0.0, 1.0, 2)
    own = np.random.default_rng([seed, round(values["latency"] * 1e6), round(values["mass_scale"] * 1e6)])
    extra = values["latency"] - 0.002
    noise = own.normal(0.0, 1.0, 2)
    return {
        "tracking_error_rms": float(0.0521 + 0.0042 * hard[0] + 0.71 * extra + 0.0001 * noise[0]),
        "effort_rms": float((1.31 + 0.05 * hard[1] + 2.0 * extra + 0.004 * noise[1]) * values["mass_scale"]),
    }


def record(place: CellRow, seed: int, **changes: Any) -> RunRecord:
    outcome = changes.pop("outcome", Outcome(status=Status.COMPLETED, tick=5000, time_s=5.0))
    metrics = changes.pop("metrics", None)
    if metrics is None:
        valued = outcome.status is Status.COMPLETED
        metrics = effects(place.values, seed) if valued else dict.fromkeys(METRICS)
    fields: dict[str, Any] = {
        "run_id": content_id([place.plan_id, seed]),
        "plan_id": place.plan_id,
        "seed": seed,
        "outcome": outcome,
        "metrics": metrics,
        "summaries": {"encoders/delivered": 5000.0, "tracker/age_at_use_s": place.values["latency"] + 0.0005},
        "trace_digest": content_id(["trace", place.plan_id, seed]),
        "receipts": {"encoders/noise": receipt(seed)},
        "code_id": CODE,
    }
    return RunRecord(**{**fields, **changes})


def run_row(place: CellRow, seed: int) -> tuple[str, str, str, int]:
    return (content_id([place.plan_id, seed]), place.cell_id, place.plan_id, seed)


def fell(seed_time: float = 1.2) -> Outcome:
    return Outcome(status=Status.ENDED, tick=1200, time_s=seed_time, reason="fell", success=False, component="judge")


def faulted() -> Outcome:
    return Outcome(status=Status.FAULTED, tick=700, time_s=0.7, phase="physics", kind="diverged", component="arm")


def build(
    folder: Path,
    cells: Sequence[CellRow],
    seeds: Sequence[int] = range(16),
    make: Callable[[CellRow, int], RunRecord | None] = record,
    **changes: Any,
) -> Path:
    """A finished sweep's folder; ``make`` returns None for a run that has no record yet."""
    with Ledger.create(folder / "ledger.sqlite", header(**changes)) as ledger:
        ledger.begin({"command": "python -m sweep +latency=0.002,0.005"})
        fill(ledger, cells, seeds, make)
        ledger.finish()
    return folder


def fill(
    ledger: Ledger,
    cells: Sequence[CellRow],
    seeds: Sequence[int],
    make: Callable[[CellRow, int], RunRecord | None] = record,
) -> None:
    ledger.add_cells(cells)
    ledger.add_runs(run_row(place, seed) for seed in seeds for place in cells)
    made = [make(place, seed) for seed in seeds for place in cells]
    ledger.append(r for r in made if r is not None)


def latencies(*values: float) -> list[CellRow]:
    return [cell(i, latency=value) for i, value in enumerate(values)]
