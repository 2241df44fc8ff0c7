"""What names a cell in a table: a column per swept axis, scaled so that its values are short."""

from __future__ import annotations

from analysis.comparison import CellSummary, Comparison
from analysis.format import Scale, is_number, plain, scale_for

Heads = list[tuple[str, Scale]]


def axis_heads(comparison: Comparison) -> Heads:
    """Column names with the scale of their values; a factor of 0 marks text."""
    heads = []
    if len({cell.sweep for cell in comparison.cells}) > 1:
        heads.append(("sweep", Scale(0.0, "")))
    for key in comparison.swept:
        values = [cell.values.get(key) for cell in comparison.cells]
        unit = comparison.axes[key].unit if key in comparison.axes else ""
        numbers = [float(v) for v in values if is_number(v)]
        heads.append((_short(key), scale_for(numbers, unit) if len(numbers) == len(values) else Scale(0.0, "")))
    return heads or [("cell", Scale(0.0, ""))]


def _short(key: str) -> str:
    """A full path by its last two steps: the whole of it is in the plan."""
    return key if len(key) <= 16 else ".".join(key.split(".")[-2:])


def cell_names(comparison: Comparison, cell: CellSummary, heads: Heads) -> list[str]:
    """What names a cell, one text per column of :func:`axis_heads`."""
    texts = [cell.sweep] if heads[0][0] == "sweep" else []
    for key, (_, scale) in zip(comparison.swept, heads[len(texts) :], strict=False):
        value = cell.values.get(key)
        texts.append(plain(value / scale.factor) if scale.factor and is_number(value) else plain(value))
    return texts or [cell.label]
