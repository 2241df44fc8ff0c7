"""The ratios that were accepted, and what of a measurement is worse than they are.

``baseline.json`` beside this module has them by part and name.  Only ratios, since seconds differ between machines.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tests.bench.measures import Measure

FILE = Path(__file__).with_name("baseline.json")

TOLERANCE = 0.25
"""The fraction by which a ratio may be worse than its baseline."""

Measured = Mapping[str, Sequence[Measure]]
"""By part."""

Baseline = Mapping[str, Mapping[str, float]]
"""Part -> name -> ratio."""


def load() -> Baseline:
    """What was accepted; empty before anything was."""
    if not FILE.exists():
        return {}
    accepted: Baseline = json.loads(FILE.read_text())
    return accepted


def accept(measured: Measured, parts: Collection[str]) -> None:
    """Make the ratios of what was measured the baseline; of other parts that still exist, it keeps them."""
    kept = {part: ratios for part, ratios in load().items() if part in parts}
    new = {part: {m.what: round(m.value, 3) for m in found if m.is_ratio} for part, found in measured.items()}
    merged = {**kept, **new}
    ordered = {part: merged[part] for part in parts if merged.get(part)}
    FILE.write_text(json.dumps(ordered, indent=2, ensure_ascii=False) + "\n")


def complaints(measured: Measured, baseline: Baseline) -> Iterator[str]:
    """A line for each ratio that is worse than the baseline tolerates, and for each that could not be compared."""
    for part, found in measured.items():
        accepted = baseline.get(part, {})
        ratios = {measure.what: measure for measure in found if measure.is_ratio}
        for what, measure in ratios.items():
            if what not in accepted:
                yield f"{part}: {what}: no baseline ({_accept(part)} makes this one it)"
            elif (worse := measure.worsening(accepted[what])) > TOLERANCE:
                told = f"{measure.value:.3g}, baseline {accepted[what]:.3g}: {worse:.0%} worse"
                yield f"{part}: {what}: {told}, {TOLERANCE:.0%} is allowed"
        for what in accepted.keys() - ratios.keys():
            yield f"{part}: {what}: in the baseline, but not measured ({_accept(part)} if that is meant)"


def _accept(part: str) -> str:
    return f"python -m tests.bench --accept {part}"
