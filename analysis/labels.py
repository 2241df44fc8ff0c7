"""What stands in tables and on figures: names with units people use, and how many runs something rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from analysis.comparison import CellSummary, Comparison, OutcomeContrast
from analysis.format import Scale, decimals, is_number, number, plain, scale_for

WITHOUT_RECORD = "no record yet"
TINY = 0.01
"""Of a unit: below it, a smaller unit reads better."""


class Labels:
    """The names, units and scales of one comparison, each found out once.

    Args:
        comparison: the comparison.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._axes: dict[str, Scale | None] = {}

    @cached_property
    def has_two_sweeps(self) -> bool:
        """Whether rows are of two sweeps."""
        return len({row.sweep for row in self.comparison.cells}) > 1

    @cached_property
    def baseline_name(self) -> str:
        """The baseline by what was swept; empty if every row has its own."""
        own = next((cell for cell in self.comparison.cells if cell.contrast is None), None)
        return self.cell_name(own) if self.comparison.baseline and own is not None else ""

    def axis_scale(self, key: str) -> Scale | None:
        """What the values of a swept axis are divided by; None if they are not all numbers."""
        if key not in self._axes:
            values = [cell.values.get(key) for cell in self.comparison.cells]
            numbers = [float(value) for value in values if is_number(value)]
            unit = self.comparison.axes[key].unit if key in self.comparison.axes else ""
            self._axes[key] = scale_for(numbers, unit) if len(numbers) == len(values) else None
        return self._axes[key]

    def metric_scale(self, metric: str) -> Scale:
        """What the values of a metric are divided by."""
        means = [mean for cell in self.comparison.cells if (mean := cell.means.get(metric)) is not None]
        return scale_for([mean.estimate for mean in means], self.comparison.metrics[metric].unit)

    def difference_scale(self, metric: str) -> Scale:
        """What paired differences of a metric are divided by: what its values are, unless that leaves them tiny."""
        contrasts = [cell.contrast.metrics.get(metric) for cell in self.comparison.cells if cell.contrast]
        sizes = [abs(found.difference.estimate) for found in contrasts if found is not None and found.difference]
        scale = self.metric_scale(metric)
        if any(sizes) and max(sizes) < TINY * scale.factor:
            return scale_for(sizes, self.comparison.metrics[metric].unit)
        return scale

    def axis_title(self, key: str) -> str:
        """``latency [ms]``."""
        scale = self.axis_scale(key)
        return scale.head(short(key)) if scale else short(key)

    def axis_values(self, key: str, values: Iterable[Any]) -> list[Any]:
        """Values of an axis as they stand on a figure: numbers in the axis's scale, else text."""
        scale = self.axis_scale(key)
        return [float(f"{value / scale.factor:.12g}") if scale else plain(value) for value in values]

    def levels(self, values: Mapping[str, Any]) -> str:
        """``latency 5 ms, mass_scale 1.2``."""
        return ", ".join(self._level(key, value) for key, value in values.items())

    def cell_name(self, cell: CellSummary) -> str:
        """A row by what was swept, and by its sweep where there are two."""
        swept = self.levels({key: cell.values.get(key) for key in self.comparison.swept})
        parts = [*([cell.sweep] if self.has_two_sweeps else []), *([swept] if swept else [])]
        return ", ".join(parts) or cell.label or "nominal"

    @cached_property
    def axis_keys(self) -> tuple[str, ...]:
        """What names a row: the swept axes, ``sweep`` first where there are two; ``cell`` where nothing else does."""
        return (*(["sweep"] if self.has_two_sweeps else []), *self.comparison.swept) or ("cell",)

    def axis_heads(self) -> list[str]:
        """The heads of columns that name a row."""
        return [self.axis_title(key) for key in self.axis_keys]

    def axis_texts(self, cell: CellSummary) -> list[str]:
        """A row's texts under :meth:`axis_heads`."""
        texts = [plain(self.axis_values(key, [cell.values.get(key)])[0]) for key in self.comparison.swept]
        return [*([cell.sweep] if self.has_two_sweeps else []), *texts] or [cell.label or "nominal"]

    def succeeded(self, cell: CellSummary) -> tuple[int, int]:
        """Runs of a cell that completed or ended well, and runs of which that is known, as far as pairs tell."""
        if cell.contrast is not None:
            outcome = cell.contrast.outcome
            return outcome.both + outcome.only_cell, outcome.decided
        widest = self._widest.get(cell.cell_id)
        if widest is None:
            return cell.outcomes.get("completed", 0), cell.n
        return widest.both + widest.only_base, widest.decided

    def _level(self, key: str, value: Any) -> str:
        scale = self.axis_scale(key)
        if scale is None:
            return f"{short(key)} {plain(value)}"
        return f"{short(key)} {plain(value / scale.factor)} {scale.unit}".rstrip()

    @cached_property
    def _widest(self) -> dict[str, OutcomeContrast]:
        """Baseline to the contrast with it that knows of most pairs."""
        found: dict[str, OutcomeContrast] = {}
        for contrast in (cell.contrast for cell in self.comparison.cells if cell.contrast):
            best = found.get(contrast.against)
            if best is None or contrast.outcome.decided > best.decided:
                found[contrast.against] = contrast.outcome
        return found


def short(key: str) -> str:
    """An axis by its name, a full path by its last two steps."""
    return key if len(key) <= 16 else ".".join(key.split(".")[-2:])


def outcome_parts(cell: CellSummary) -> dict[str, int]:
    """How many runs of a cell ended which way: ends by their reason, faults by their kind."""
    parts: dict[str, int] = {}
    for status, count in cell.outcomes.items():
        detail = {"ended": cell.end_reasons, "faulted": cell.fault_kinds}.get(status, {})
        if detail and sum(detail.values()) == count:
            parts |= {reason if status == "ended" else f"faulted: {reason}": n for reason, n in detail.items()}
        else:
            parts[status.replace("_", " ")] = count
    if cell.planned > cell.n:
        parts[WITHOUT_RECORD] = cell.planned - cell.n
    return parts


def outcome_words(cells: Iterable[CellSummary]) -> str:
    """``all 32 runs completed``, or ``32 runs: 30 completed, 2 fell``."""
    total: Counter[str] = Counter()
    planned = 0
    for cell in cells:
        planned += cell.planned
        total.update(outcome_parts(cell))
    if planned and total["completed"] == planned:
        return f"all {counted(planned)} runs completed" if planned > 1 else "the only run completed"
    parts = ", ".join(f"{counted(count)} {part}" for part, count in total.items())
    return f"{counted(planned)} {'run' if planned == 1 else 'runs'}: {parts or 'none has a record'}"


def seed_words(cells: Iterable[CellSummary], metric: str) -> str:
    """How many seeds the means of a metric rest on: ``16 seeds per cell``, ``9 to 16 of 16 seeds per cell``."""
    rows = list(cells)
    used = [mean.n if (mean := cell.means.get(metric)) is not None else 0 for cell in rows]
    planned = max((cell.planned for cell in rows), default=0)
    if not used:
        return "no cells"
    few, many = min(used), max(used)
    if few == many == planned:
        return f"{planned} {'seed' if planned == 1 else 'seeds'} per cell"
    span = f"{few}" if few == many else f"{few} to {many}"
    return f"{span} of {planned} seeds per cell have a value"


def counted(number: int) -> str:
    """A count with thin spaces between thousands."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def evenly(values: Iterable[float | None], *, sign: bool = False) -> list[str]:
    """Numbers that are compared with each other, with as many decimal places as tell them apart; empty for None."""
    rows = list(values)
    known = [value for value in rows if value is not None]
    span = max(known) - min(known) if known else 0.0
    places = decimals(span / 10 or None, max(map(abs, known), default=0.0))
    return ["" if value is None else number(value, places, sign=sign) for value in rows]


def all_completed(comparison: Comparison) -> bool:
    """Whether every planned run completed."""
    return all(cell.outcomes.get("completed", 0) == cell.planned for cell in comparison.cells)
