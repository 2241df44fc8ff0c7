"""What the numbers rest on: what pairing was worth, whether noise was the same, who asked for what with what."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from analysis.comparison import Comparison
from analysis.labels import Labels
from analysis.pairing import PairingReceipt
from analysis.reporting.tables import Table, table
from analysis.source import short_git

if TYPE_CHECKING:
    from analysis.source import Sweep

MOST_RECEIPTS = 12
"""Contrasts whose receipts are listed one by one."""

UNTOLD = ("host", "features")
"""Of a machine: whose it is, and the list of what its processor can do, which ``bit_class`` stands for."""


def receipts(label: Labels) -> Table:
    """What pairing was worth, a row per contrast and metric; of many contrasts, a row per metric."""
    comparison = label.comparison
    found = [(cell, cell.contrast.metrics) for cell in comparison.cells if cell.contrast and cell.contrast.is_paired]
    if len(found) <= MOST_RECEIPTS:
        rows = [
            [*label.axis_texts(cell), metric, *_receipt(contrast.receipt)]
            for cell, metrics in found
            for metric, contrast in metrics.items()
        ]
        return table([*label.axis_heads(), "metric", "correlation", "variance ratio", "finding"], rows, len(rows))
    rows = [[metric, *_receipts([m[metric].receipt for _, m in found if metric in m])] for metric in comparison.metrics]
    return table(["metric", "correlation (median)", "variance ratio (least, median)", "finding"], rows, len(rows))


def streams(comparison: Comparison) -> str:
    """Whether the pairs saw the same noise: ``identical noise in 29 of 29 comparisons``."""
    contrasts = [cell.contrast for cell in comparison.cells if cell.contrast]
    if not any(found.pairs_used for contrast in contrasts for found in contrast.metrics.values()):
        return "no pair has values"
    words = Counter(contrast.streams.words for contrast in contrasts)
    total = sum(words.values())
    if total == 1:
        return next(iter(words))
    return "; ".join(f"{text} in {count} of {total} comparisons" for text, count in words.most_common(5))


def provenance(sweep: Sweep, place: str) -> list[tuple[str, str]]:
    """Where the numbers come from, as names and texts.

    Args:
        sweep: the sweep.
        place: its folder, as people type it.
    """
    header, said = sweep.header, sweep.provenance
    git, machine = said.get("git"), said.get("machine") or {}
    facts = {
        "command": command(said),
        "folder": place,
        "scene": header.scene,
        "seeds": spans(sorted(set().union(*sweep.seeds.values()))),
        "created": str(said.get("created", "")),
        "commit": f"{short_git(git)} on {git.get('branch') or 'no branch'}" if isinstance(git, Mapping) else "",
        "code_id": header.code_id,
        "model_id": header.model_id,
        "versions": _listed(said.get("versions") or {}),
        "machine": _listed({name: text for name, text in machine.items() if name not in UNTOLD}),
    }
    return [(name, text) for name, text in facts.items() if text]


def command(said: Mapping[str, Any]) -> str:
    """The command line that asked for a sweep, as it is typed."""
    words = said.get("command")
    return shlex.join(map(str, words)) if isinstance(words, list | tuple) else str(words or "")


def spans(numbers: Sequence[int]) -> str:
    """``0 to 15, 20``."""
    parts: list[tuple[int, int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in parts)


def _receipt(receipt: PairingReceipt) -> list[str]:
    return [_number(receipt.correlation, 3), _number(receipt.variance_ratio, 2), _finding(receipt)]


def _finding(receipt: PairingReceipt) -> str:
    return receipt.words or ("no noise is left" if receipt.pairs > 1 else "too few pairs have both values")


def _receipts(found: Sequence[PairingReceipt]) -> list[str]:
    correlations = [r.correlation for r in found if r.correlation is not None]
    middle = _number(median(correlations) if correlations else None, 3)
    ratios = [r.variance_ratio for r in found if r.variance_ratio is not None]
    if not ratios:
        return [middle, "", _finding(max(found, key=lambda receipt: receipt.pairs))]
    least = min((r for r in found if r.variance_ratio is not None), key=lambda r: r.variance_ratio or 0.0)
    hurts = sum(r.hurts for r in found)
    words = f"pairing did not help in {hurts} of {len(found)} comparisons" if hurts else f"{least.at_least} per cell"
    return [middle, f"{min(ratios):.2f}, {median(ratios):.2f}", words]


def _number(value: float | None, places: int) -> str:
    return "" if value is None else f"{value:.{places}f}"


def _listed(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in found.items() if value not in (None, "", [], {}))
