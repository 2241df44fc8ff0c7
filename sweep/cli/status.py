"""How far a sweep is, from its ledger."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sweep.results import Ledger


def status_document(ledger: Ledger) -> dict[str, Any]:
    """The state of a sweep as plain data; other tools read it, so keys stay."""
    runs = {row.run_id for row in ledger.runs()}
    records = [record for record in ledger.records() if record.run_id in runs]
    outcomes = Counter(record.outcome.status.value for record in records)
    failures = [record for record in records if record.outcome.status.value in ("faulted", "timed_out", "lost")]
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
            }
            for record in failures
        ],
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
        lines.append(f"  {f['status']}{where}: {f['message']}  (replay {f['run_id'][:8]})")
    if len(document["failures"]) > len(shown):
        lines.append(f"  and {len(document['failures']) - len(shown)} more")
    return lines
