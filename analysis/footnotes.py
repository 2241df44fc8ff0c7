"""What stands under a table: what Δ is, what the brackets are, what was left out, what the numbers come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.comparison import Comparison, Contrast, MetricContrast
from analysis.format import grouped

OTHERS = "†"
"""Marks a difference among those seeds alone where both runs have a value, while outcomes differ."""


def footnotes(comparison: Comparison, hidden: int = 0) -> Sequence[str]:
    """The lines under the table of a comparison of which ``hidden`` cells are not shown."""
    contrasts = [cell.contrast for cell in comparison.cells if cell.contrast]
    found = [f for contrast in contrasts for f in contrast.metrics.values() if f.difference is not None]
    return [
        *_hidden(comparison, hidden),
        *(_differences(comparison, contrasts, found) if found else ()),
        *(f"Note: {note}." for note in comparison.notes),
        *comparison.made_with,
    ]


def _hidden(comparison: Comparison, hidden: int) -> Iterator[str]:
    if hidden:
        counts = f"{grouped(hidden)} of {grouped(len(comparison.cells))}"
        yield f"{counts} cells are not shown, those that differ least; compare --all and --csv have them."


def _differences(
    comparison: Comparison, contrasts: Sequence[Contrast], found: Sequence[MetricContrast]
) -> Iterator[str]:
    against = comparison.baseline or "the row above"
    if any(contrast.is_paired for contrast in contrasts):
        yield f"Δ is paired by seed, from {against}; [ ] are 95 % intervals, by t, of Δ % by Fieller; ± is by t."
    else:
        yield f"Δ is between independent runs, from {against}; [ ] are 95 % intervals by Welch's t; ± is by t."
    if len(contrasts) > 1:
        yield f"Colour marks what stays clear of 0 when all {grouped(len(contrasts))} comparisons are counted."
    if any(f.rank_p is not None for f in found):
        yield (
            f"{OTHERS} Among seeds where both have a value. Failures are in the outcomes, and in the rank test, which "
            "takes every pair and counts a failure as the worst value; where the two disagree, Δ is withheld."
        )
    worth = [f.receipt for f in found if f.receipt.worth is not None]
    if worth and not any(receipt.hurts for receipt in worth):  # where pairing hurts, a note says so
        least = min(worth, key=lambda receipt: receipt.worth or 0)
        yield f"Pairing: {least.at_least} per cell."
