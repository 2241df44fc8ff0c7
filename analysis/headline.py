"""The main finding of a comparison, in one sentence that claims no more than was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.clearest import clearness
from analysis.comparison import CellSummary, Comparison, Contrast, MetricContrast, OutcomeContrast
from analysis.format import bracketed, grouped, scale_for
from analysis.interval import LEVEL, Interval

OVER = "over these seeds"


def headline(comparison: Comparison) -> str:
    """Outcomes first: where they differ, that is it; else the largest clear paired difference, or its absence."""
    contrasts = [(cell, cell.contrast) for cell in comparison.cells if cell.contrast is not None]
    if not comparison.cells:
        return "Nothing to compare."
    if not any(cell.n for cell in comparison.cells):
        return "No run has a record yet."
    if not contrasts:
        return _alone(comparison.cells[0])
    differing = [(cell, contrast) for cell, contrast in contrasts if contrast.outcome.differs]
    if differing:
        cell, contrast = max(differing, key=lambda pair: _outcome_weight(pair[1].outcome))
        return _outcome_sentence(cell, contrast, len(contrasts))
    measured = [
        (metric, contrast, found)
        for _, contrast in contrasts
        for metric, found in contrast.metrics.items()
        if found.difference is not None
    ]
    if not measured:
        return f"No pair of runs has values to compare: {_outcomes(comparison.cells)} in all."
    if all(found.difference is not None and _nothing(found.difference) for _, _, found in measured):
        return f"Every metric is the same in all cells, to the last bit, {OVER}: does the parameter reach the model?"
    return _difference_sentence(comparison, *max(measured, key=_weight))


def _nothing(difference: Interval) -> bool:
    return difference.estimate == 0.0 and not difference.half_width


def _outcomes(cells: Sequence[CellSummary]) -> str:
    total: Counter[str] = Counter()
    for cell in cells:
        total.update(cell.outcomes)
    return ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in total.items())


def _alone(cell: CellSummary) -> str:
    return f"One cell, {_outcomes([cell])}: sweep an axis to compare it with something."


def _outcome_weight(outcome: OutcomeContrast) -> tuple[float, float]:
    return (-outcome.p, abs(outcome.difference.estimate) if outcome.difference else 0.0)


def _outcome_sentence(cell: CellSummary, contrast: Contrast, contrasts: int) -> str:
    outcome = contrast.outcome
    here, base = outcome.both + outcome.only_cell, outcome.both + outcome.only_base
    word = "succeeded" if _mixed(cell) else "completed"
    points = ""
    if outcome.difference is not None:
        low, high = outcome.difference.low, outcome.difference.high
        scaled = Interval(outcome.difference.estimate, low, high, outcome.decided)
        least = f", the least of {grouped(contrasts)}" if contrasts > 1 else ""
        points = f" ({bracketed(scaled, 0.01)} percentage points, exact McNemar {p_words(outcome.p)}{least})"
    ranked = next((_ranked(name, found) for name, found in contrast.metrics.items() if found.rank_p is not None), "")
    return (
        f"{contrast.change}: {here} of {outcome.decided} {word}, {base} of {outcome.decided} at the baseline{points}, "
        f"{contrast.streams.words}, {OVER}.{ranked} Differences of means are among seeds where both have a value; "
        "percentages are withheld."
    )


def _ranked(metric: str, found: MetricContrast) -> str:
    lean = "worse" if found.is_worse else "better"
    is_clear = found.rank_p is not None and found.rank_p < 1 - LEVEL
    lean = lean if is_clear else "not clearly different"
    return f" Failures ranked worst, {metric} is {lean} over all pairs (signed-rank {p_words(found.rank_p or 0.0)})."


def _mixed(cell: CellSummary) -> bool:
    """Whether some runs ended without failing, so that "completed" would miss them."""
    contrast = cell.contrast
    good = contrast.outcome.both + contrast.outcome.only_cell if contrast else 0
    return good != cell.outcomes.get("completed", 0)


def p_words(p: float) -> str:
    """A p value with two digits, as far down as anybody should care."""
    return "p = 1" if p > 0.995 else f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def _weight(candidate: tuple[str, Contrast, MetricContrast]) -> tuple[bool, int, float, float]:
    """A difference clear of 0 first, then the fewest causes, then the largest relative change, then the clearest.

    A difference that is not clear of 0 has no size to speak of.
    """
    _, contrast, found = candidate
    size = abs(found.percent.estimate) if found.clear and found.percent is not None else 0.0
    return found.clear, -contrast.causes, size, clearness(found)


def _difference_sentence(comparison: Comparison, metric: str, contrast: Contrast, found: MetricContrast) -> str:
    difference = found.difference
    assert difference is not None
    unit = comparison.metrics[metric].unit
    size = found.percent if found.percent is not None else difference
    clear = found.clear
    pairs = f"{found.pairs_used} of {found.pairs_total} pairs, {contrast.streams.words}"
    if not contrast.is_paired:
        pairs = "unpaired (no seed in common, Welch's t interval)"
    if clear:
        verb = "raises" if difference.estimate > 0 else "lowers"
        size = Interval(abs(size.estimate), *_turned(size), size.n)
    else:
        verb = "changes"
    scale = scale_for([difference.estimate], unit)
    if found.percent is not None:
        amount = bracketed(size, 1.0, " %")
    else:
        amount = bracketed(size, scale.factor, f" {scale.unit}" if scale.unit else "")
    start = "" if clear else "No clear difference: " if difference.n > 1 else "One pair only, so no interval: "
    return f"{start}{contrast.change} {verb} {metric} by {amount.lstrip('+') if clear else amount}, {pairs}, {OVER}"


def _turned(size: Interval) -> tuple[float | None, float | None]:
    if size.estimate >= 0 or size.low is None or size.high is None:
        return size.low, size.high
    return -size.high, -size.low
