"""The one table of everything that was measured."""

from __future__ import annotations

from rich.table import Table

from tests.bench.baseline import Baseline, Measured
from tests.bench.measures import Measure


def table(measured: Measured, baseline: Baseline) -> Table:
    """A section for each part; a ratio stands beside its baseline."""
    drawn = Table("part", box=None, pad_edge=False)
    drawn.add_column("what", no_wrap=True)
    for heading in ("value", "unit", "aim", "baseline", "change"):
        drawn.add_column(heading, justify="left" if heading == "unit" else "right")
    for part, found in measured.items():
        for index, measure in enumerate(found):
            accepted = baseline.get(part, {}).get(measure.what) if measure.is_ratio else None
            drawn.add_row(part if index == 0 else "", measure.what, *_cells(measure), *_change(measure, accepted))
        drawn.add_row()
    return drawn


def _cells(measure: Measure) -> tuple[str, str, str]:
    if measure.aim is None:
        return number(measure.value), measure.unit, ""
    sign = ">=" if measure.more_is_better else "<="
    return number(measure.value), measure.unit, f"{'missed: ' * measure.misses_aim}{sign} {number(measure.aim)}"


def _change(measure: Measure, accepted: float | None) -> tuple[str, str]:
    if accepted is None:
        return "", ""
    worse = measure.worsening(accepted)
    return number(accepted), f"{abs(worse):.0%} {'worse' if worse > 0 else 'better'}"


def number(value: float) -> str:
    """Three digits of it, and all before the decimal point."""
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{decimals}f}"
