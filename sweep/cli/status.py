"""How far a sweep is, from its ledger."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from sweep.execution.capsules import capsules_in
from sweep.results import Ledger


def status_document(ledger: Ledger) -> dict[str, Any]:
    """The state of a sweep as plain data; other tools read it, so keys stay."""
    runs = {row.run_id for row in ledger.runs()}
    records = [record for record in ledger.records() if record.run_id in runs]
    outcomes = Counter(record.outcome.status.value for record in records)
    failures = [record for record in records if record.outcome.status.value in ("faulted", "timed_out", "lost")]
    capsules = {run_id: os.path.relpath(path) for run_id, path in capsules_in(ledger.path.parent).items()}
    return {
        "name": ledger.header.name,
        "scene": ledger.header.scene,
        "state": ledger.state,
        "cells": len(ledger.cells()),
        "runs": len(runs),
        "recorded": len(records),
        "outcomes": dict(sorted(outcomes.items())),
        "failures": [
            {
                "run_id": record.run_id,
                "status": record.outcome.status.value,
                "tick": record.outcome.tick,
                "phase": record.outcome.phase,
                "kind": record.outcome.kind,
                "message": record.outcome.message,
                "capsule": capsules.get(record.run_id),
            }
            for record in failures
        ],
        "remarks": sorted({remark for record in records for remark in record.remarks}),
    }


def status_lines(document: dict[str, Any]) -> list[str]:
    """The same for people."""
    outcomes = ", ".join(f"{count} {name}" for name, count in document["outcomes"].items()) or "none yet"
    lines = [
        f"{document['name']} (scene {document['scene']}): {document['state']}",
        f"{document['recorded']} of {document['runs']} runs in {document['cells']} cells: {outcomes}",
    ]
    shown = document["failures"][:5]
    for f in shown:
        where = f" at tick {f['tick']} in {f['phase']}" if f["phase"] else ""
        hint = f"open {f['capsule']}" if f["capsule"] else f"replay {f['run_id'][:8]}"
        lines.append(f"  {f['status']}{where}: {f['message']}  ({hint})")
    if len(document["failures"]) > len(shown):
        lines.append(f"  and {len(document['failures']) - len(shown)} more")
    return [*lines, *document["remarks"]]
