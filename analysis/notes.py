"""What a reader of a comparison has to know: what is missing, what is weak, what was not given and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.comparison import CellSummary
from analysis.estimate import BOOTSTRAP_FROM, quantile_needs
from analysis.pairs import Extras

FEW = 16
"""Below this many seeds the intervals lean on the normal distribution (docs/intervals.md has the coverage)."""


def notes(rows: Sequence[CellSummary], extras: Extras) -> tuple[str, ...]:
    """The notes on the rows of a comparison."""
    return (*_missing(rows), *_pairing(rows), *_weak(rows), *_withheld(rows, extras))


def _missing(rows: Sequence[CellSummary]) -> Iterator[str]:
    waiting = sum(row.planned - row.n for row in rows)
    if waiting:
        yield f"{waiting} of {sum(row.planned for row in rows)} runs have no record yet"
    unanswered = sum(row.outcomes.get(status, 0) for row in rows for status in ("lost", "timed_out", "cancelled"))
    if unanswered:
        yield f"{unanswered} {_runs(unanswered)} lost, timed out or cancelled: left out of every comparison of outcomes"


def _runs(count: int) -> str:
    return "run was" if count == 1 else "runs were"


def _pairing(rows: Sequence[CellSummary]) -> Iterator[str]:
    apart = [(row, row.contrast.streams) for row in rows if row.contrast and row.contrast.streams.out_of_step]
    for row, check in apart[:3]:
        yield f"{row.label}: {check.words}; its differences are not between equal noise"
    if len(apart) > 3:
        yield f"{len(apart) - 3} more cells have noise out of step"
    hurt: dict[str, str] = {}
    for row in rows:
        for name, contrast in row.contrast.metrics.items() if row.contrast else ():
            if contrast.receipt.hurts:
                hurt.setdefault(name, contrast.receipt.words)
    for name, words in hurt.items():
        yield f"{name}: {words}"
    alone = [row.label for row in rows if row.contrast and not row.contrast.is_paired]
    if alone:
        yield (
            f"no seed in common at {alone[0]}"
            + (f" and {len(alone) - 1} more" if len(alone) > 1 else "")
            + ": nothing "
            "is paired there, and Δ is between independent runs (Welch's t interval), given only if all runs have a "
            "value"
        )


def _weak(rows: Sequence[CellSummary]) -> Iterator[str]:
    seeds = max((row.planned for row in rows), default=0)
    means = [mean for row in rows for mean in row.means.values() if mean is not None and mean.n > 1]
    if means and all(mean.is_constant for mean in means):
        yield "seeds make no difference here: all runs of a cell give the same values"
    elif means and seeds < FEW:
        yield f"{seeds} seeds are few: these intervals rest on values being roughly normal"


def _withheld(rows: Sequence[CellSummary], extras: Extras) -> Iterator[str]:
    pairs = [c.pairs_used for row in rows if row.contrast for c in row.contrast.metrics.values()]
    if extras.bootstrap and pairs and min(pairs) < BOOTSTRAP_FROM:
        yield f"bootstrap intervals are given from {BOOTSTRAP_FROM} pairs on; with fewer they are too narrow"
    if extras.quantile is not None:
        needed = quantile_needs(extras.quantile)
        found = [value.n for row in rows for value in row.quantiles.values() if value is not None]
        if found and min(found) < needed:
            yield f"an interval for the {100 * extras.quantile:g}th percentile needs {needed} runs that have a value"
