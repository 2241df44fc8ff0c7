"""How far a sweep is, from its ledger."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from sweep.cli.progress import repeating
from sweep.execution.capsules import capsules_in
from sweep.execution.words import counted
from sweep.results import Failures, Ledger, Status
from sweep.results.attempts import RunHistory, State


def status_document(ledger: Ledger) -> dict[str, Any]:
    """The state of a sweep as plain data; other tools read it, so keys stay."""
    runs = {row.run_id for row in ledger.runs()}
    statuses = {run_id: status for run_id, status in ledger.statuses().items() if run_id in runs}
    failures = [r for r in ledger.records([s for s in Status if s.is_failure]) if r.run_id in runs]
    histories = ledger.leases.histories(unanswered=True)
    folder = os.path.relpath(ledger.path.parent)
    capsules = {run_id: os.path.relpath(path) for run_id, path in capsules_in(ledger.path.parent).items()}
    return {
        "name": ledger.header.name,
        "scene": ledger.header.scene,
        "folder": folder,
        "state": ledger.state,
        "cells": len(ledger.cells()),
        "runs": len(runs),
        "recorded": len(statuses),
        "in_hand": sum(history.state is State.LEASED for history in histories.values()),
        "outcomes": dict(sorted(Counter(status.value for status in statuses.values()).items())),
        "failures": [
            {
                "run_id": record.run_id,
                "status": record.outcome.status.value,
                "tick": record.outcome.tick,
                "phase": record.outcome.phase,
                "kind": record.outcome.kind,
                "message": record.outcome.message,
                "capsule": capsules.get(record.run_id),
                "attempts": [str(a) for a in histories.get(record.run_id, RunHistory()).attempts],
            }
            for record in failures
        ],
        "causes": [
            {
                "run_id": group.run_id,
                "count": group.count,
                "told": str(group),
                "command": repeating(group, folder, capsules.get(group.run_id)),
            }
            for group in Failures(failures).groups
        ],
        "remarks": ledger.remarks(),
    }


def status_lines(document: dict[str, Any]) -> list[str]:
    """The same for people."""
    outcomes = ", ".join(f"{count} {name}" for name, count in document["outcomes"].items()) or "none yet"
    in_hand = f"; {document['in_hand']} in hand" if document["in_hand"] else ""
    lines = [
        f"{document['name']} (scene {document['scene']}): {document['state']}",
        f"{document['recorded']} of {counted(document['runs'], 'run')} in {counted(document['cells'], 'cell')}: "
        f"{outcomes}{in_hand}",
    ]
    for cause in document["causes"]:
        lines.append(f"  {cause['count']} × {cause['told']}")
        lines.append(f"      {cause['command']}")
    if document["state"] == "interrupted":
        lines.append(f"go on with it: python -m sweep resume {document['folder']}")
    return [*lines, *document["remarks"]]
