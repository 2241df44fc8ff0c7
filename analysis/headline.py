"""The main finding of a comparison, in one sentence that claims no more than was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

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
        Candidate(cell, metric, contrast, found, found.difference)
        for cell, contrast in contrasts
        for metric, found in contrast.metrics.items()
        if found.difference is not None
    ]
    if not measured:
        return f"No pair of runs has values to compare: {_outcomes(comparison.cells)} in all."
    largest = max(measured, key=_weight)
    failures = _failures(comparison, largest)
    if all(_nothing(candidate.difference) for candidate in measured):
        return failures + _same(comparison)
    return failures + _signs(comparison, largest.metric) + _difference_sentence(comparison, largest)


class Candidate(NamedTuple):
    """A difference that the headline may be about."""

    cell: CellSummary
    metric: str
    contrast: Contrast
    found: MetricContrast
    difference: Interval


def _same(comparison: Comparison) -> str:
    if not comparison.baseline:
        return f"The two sweeps give the same results, bit for bit, {OVER}."
    return f"Every metric is the same in all cells, to the last bit, {OVER}: does the parameter reach the model?"


def _failures(comparison: Comparison, candidate: Candidate) -> str:
    """How many runs failed on both sides: ``In both cells 4 of 4 runs fell; metrics are until then. ``."""
    outcome, against = candidate.contrast.outcome, candidate.contrast.against
    where, cells = "both cells", comparison.cells
    pairs = [cell.contrast.outcome for cell in cells if cell.contrast]
    if not outcome.neither:
        failing = sum(one.neither > 0 for one in pairs)
        return f"Runs failed in {failing} of {len(pairs)} cells, the same seeds on both sides. " if failing else ""
    if len(cells) > 2 and all(one.neither == one.decided == outcome.decided for one in pairs):
        where = f"all {grouped(len(cells))} cells"
    else:
        cells = (*(c for c in cells if c.contrast is None and c.cell_id == against), candidate.cell)
    until = "; metrics are until then" if candidate.found.pairs_used > outcome.both else ""
    return f"In {where} {outcome.neither} of {outcome.decided} runs {_how_they_failed(cells)}{until}. "


def _how_they_failed(cells: Sequence[CellSummary]) -> str:
    """The one way there is, or else in general."""
    ways = {reason for cell in cells for reason in cell.end_reasons}
    ways |= {"faulted" for cell in cells if cell.outcomes.get("faulted")}
    return ways.pop().replace("_", " ") if len(ways) == 1 else "failed"


def _signs(comparison: Comparison, metric: str) -> str:
    """Where the cells of two sweeps disagree, how many went which way."""
    found = [cell.contrast.metrics.get(metric) for cell in comparison.cells if cell.contrast]
    ups = [one.difference.estimate > 0 for one in found if one is not None and one.difference and one.clear]
    if comparison.baseline or len(set(ups)) < 2:
        return ""
    return f"{metric} is mixed, {ups.count(True)} up and {ups.count(False)} down of {len(found)} cells; the largest: "


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
    if outcome.difference is not None and outcome.decided > 1:
        low, high = outcome.difference.low, outcome.difference.high
        scaled = Interval(outcome.difference.estimate, low, high, outcome.decided)
        least = f", the smallest of {grouped(contrasts)} p values" if contrasts > 1 else ""
        test = f", exact McNemar {p_words(outcome.p)}{least}" if outcome.p < 1.0 else ""
        points = f" ({bracketed(scaled, 0.01)} percentage points{test})"
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


def _weight(candidate: Candidate) -> tuple[bool, int, float, float]:
    """A difference clear of 0 first, then the fewest causes, then the largest relative change, then the clearest.

    A difference that is not clear of 0 has no size to speak of.
    """
    found = candidate.found
    size = abs(found.percent.estimate) if found.clear and found.percent is not None else 0.0
    return found.clear, -candidate.contrast.causes, size, clearness(found)


def _difference_sentence(comparison: Comparison, candidate: Candidate) -> str:
    cell, metric, contrast, found, difference = candidate
    unit = comparison.metrics[metric].unit
    size = found.percent if found.percent is not None else difference
    clear = found.clear
    rests_on = f"{found.pairs_used} of {found.pairs_total} pairs, {contrast.streams.words}, {OVER}"
    mean = cell.means.get(metric)
    if mean is not None and mean.is_constant and difference.is_constant:
        rests_on = "seeds make no difference here"
    elif not contrast.is_paired:
        rests_on = f"unpaired (no seed in common, Welch's t interval), {OVER}"
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
    return f"{start}{contrast.change} {verb} {metric} by {amount.lstrip('+') if clear else amount}, {rests_on}"


def _turned(size: Interval) -> tuple[float | None, float | None]:
    if size.estimate >= 0 or size.low is None or size.high is None:
        return size.low, size.high
    return -size.high, -size.low
