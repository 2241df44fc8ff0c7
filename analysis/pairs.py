"""Cells against cells: runs of the same seed side by side, and what follows for outcomes and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from analysis.comparison import Contrast, MetricContrast, OutcomeContrast
from analysis.estimate import bootstrap_bca, signed_rank_exact
from analysis.interval import LEVEL, Interval
from analysis.moments import Groups, PairedMoments
from analysis.pairing import Recompute, StreamCheck, check_streams, pairing_receipts
from analysis.proportion import mcnemar_exact, newcombe_paired
from analysis.runs import Floats, Ints, Runs
from analysis.source import Sweep
from analysis.unpaired import unpaired_metrics
from sweep.results import MetricInfo

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """Estimates that are made on request only.

    Attributes:
        bootstrap: BCa intervals of the differences, beside those by t.
        quantile: probability of a quantile of each cell's runs, for example 0.95.
    """

    bootstrap: bool = False
    quantile: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A cell and the one it is compared with.

    Attributes:
        base: index of the baseline in its sweep.
        other: index of the cell in its sweep.
        change: what differs, in words.
    """

    base: int
    other: int
    change: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Pairs:
    """Runs of the same seed, by match.

    Attributes:
        match: index of the match, ascending.
        base: index of the baseline's run.
        other: index of the other's run.
        was_good: whether the baseline's run ended well: 1, 0, or -1 if nobody knows.
        is_good: whether the other's did.
        spans: where each match's pairs are.
    """

    match: Ints
    base: Ints
    other: Ints
    was_good: NDArray[np.int8]
    is_good: NDArray[np.int8]
    spans: Sequence[slice]

    @property
    def decided(self) -> Flags:
        """Whether both runs have an answer."""
        return (self.was_good >= 0) & (self.is_good >= 0)


def contrasts(
    a: Sweep, b: Sweep, matches: Sequence[Match], *, recompute: Recompute | None, extras: Extras
) -> list[Contrast]:
    """A contrast per match: cells of ``b`` against cells of ``a``."""
    known = cache(recompute) if recompute is not None else None  # a baseline's noise is asked for by every cell
    pairs = _paired_by_seed(a.runs, b.runs, matches)
    ids = [(a.cells[match.base].cell_id, b.cells[match.other].cell_id) for match in matches]
    totals = [len(set(a.seeds[base]) & set(b.seeds[other])) for base, other in ids]
    outcomes = _outcome_contrasts(pairs, totals)
    metrics = {
        name: _metric_contrasts(
            info, a.runs.values[name], b.runs.values[name], pairs=pairs, outcomes=outcomes, extras=extras
        )
        for name, info in a.header.metrics.items()
        if name in b.header.metrics
    }
    found = []
    for i, match in enumerate(matches):
        base, other = a.cells[match.base], b.cells[match.other]
        is_paired = totals[i] > 0 or not (a.seeds[base.cell_id] and b.seeds[other.cell_id])
        own = {name: column[i] for name, column in metrics.items()}
        if not is_paired:
            own = unpaired_metrics(a, b, match.base, match.other, len(matches))
        found.append(
            Contrast(
                against=base.cell_id,
                change=match.change,
                causes=max(1, sum(base.values.get(key) != value for key, value in other.values.items())),
                outcome=outcomes[i],
                streams=_streams(a.runs, b.runs, pairs, i, known),
                metrics=own,
                is_paired=is_paired,
            )
        )
    return found


def _paired_by_seed(a: Runs, b: Runs, matches: Sequence[Match]) -> _Pairs:
    places: dict[int, dict[int, int]] = {}
    found: list[tuple[int, int, int]] = []
    for k, match in enumerate(matches):
        if match.base not in places:
            span = a.spans[match.base]
            places[match.base] = dict(zip(a.seed[span], range(span.start, span.stop), strict=True))
        at, span = places[match.base], b.spans[match.other]
        found += [
            (k, at[seed], i) for seed, i in zip(b.seed[span], range(span.start, span.stop), strict=True) if seed in at
        ]
    match_, base, other = np.array(found, dtype=np.intp).reshape(-1, 3).T
    edges = np.searchsorted(match_, np.arange(len(matches) + 1)).tolist()
    return _Pairs(
        match=match_,
        base=base,
        other=other,
        was_good=a.decided[base],
        is_good=b.decided[other],
        spans=[slice(start, stop) for start, stop in pairwise(edges)],
    )


def _streams(a: Runs, b: Runs, pairs: _Pairs, match: int, recompute: Recompute | None) -> StreamCheck:
    span = pairs.spans[match]
    sides = zip(pairs.base[span].tolist(), pairs.other[span].tolist(), strict=True)
    return check_streams(((a.seed[i], a.receipts[i], b.receipts[j]) for i, j in sides), recompute)


def _outcome_contrasts(pairs: _Pairs, totals: Sequence[int]) -> list[OutcomeContrast]:
    kept = pairs.decided
    kinds = 4 * pairs.match[kept] + 2 * pairs.was_good[kept] + pairs.is_good[kept]
    tables = np.bincount(kinds, minlength=4 * len(totals)).reshape(-1, 4)[:, ::-1].tolist()
    known: dict[tuple[int, ...], tuple[Interval | None, float]] = {}
    found = []
    for (both, only_base, only_cell, neither), total in zip(tables, totals, strict=True):
        table = (both, only_base, only_cell, neither)
        if table not in known:  # thousands of cells have few different tables
            known[table] = newcombe_paired(*table), mcnemar_exact(only_base, only_cell)
        found.append(
            OutcomeContrast(
                both=both,
                only_base=only_base,
                only_cell=only_cell,
                neither=neither,
                excluded=total - sum(table),
                difference=known[table][0],
                p=known[table][1],
            )
        )
    return found


def _metric_contrasts(
    info: MetricInfo,
    base: Floats,
    other: Floats,
    *,
    pairs: _Pairs,
    outcomes: Sequence[OutcomeContrast],
    extras: Extras,
) -> list[MetricContrast]:
    """A metric of every match, from its values in all runs of both sides."""
    x, y = (np.where(pairs.decided, side, np.nan) for side in (base[pairs.base], other[pairs.other]))
    used, one_sided = ~np.isnan(x) & ~np.isnan(y), np.isnan(x) != np.isnan(y)
    moments = PairedMoments.of(x[used], y[used], Groups(pairs.match[used], len(outcomes)))
    lopsided = np.bincount(pairs.match[one_sided], minlength=len(outcomes)) > 0
    changes = _ranked(info, x, y, pairs)
    columns = zip(
        moments.difference_t(),
        moments.difference_t(1 - (1 - LEVEL) / max(1, len(outcomes))),
        moments.ratio_fieller(),
        pairing_receipts(moments),
        outcomes,
        pairs.spans,
        lopsided.tolist(),
        strict=True,
    )
    found = []
    for difference, simultaneous, ratio, receipt, outcome, span, is_lopsided in columns:
        withheld = _why_no_percentage(outcome.differs, is_lopsided, receipt.pairs, ratio)
        ranks = signed_rank_exact(changes[span]) if outcome.differs or is_lopsided else None
        found.append(
            MetricContrast(
                better=info.better,
                pairs_used=receipt.pairs,
                pairs_total=outcome.decided + outcome.excluded,
                difference=difference,
                simultaneous=simultaneous,
                percent=None if withheld or ratio is None else _percent(ratio),
                withheld=withheld,
                rank_p=ranks.p if ranks else None,
                rank_lean=ranks.lean if ranks else None,
                receipt=receipt,
                bootstrap=bootstrap_bca((y - x)[span][used[span]]) if extras.bootstrap else None,
            )
        )
    return found


def _why_no_percentage(outcomes_differ: bool, lopsided: bool, pairs: int, ratio: Interval | None) -> str:
    if not pairs:
        return "no pair has both values"
    if outcomes_differ:
        return "outcomes differ"
    if lopsided:
        return "values are missing on one side"
    return "" if ratio is not None else "the baseline is not clearly away from 0"


def _percent(ratio: Interval) -> Interval:
    low, high = (None if x is None else 100 * x for x in (ratio.low, ratio.high))
    return Interval(100 * ratio.estimate, low, high, ratio.n)


def _ranked(info: MetricInfo, x: Floats, y: Floats, pairs: _Pairs) -> Floats:
    """Differences to rank: a run that failed or has no value is worse than any that did not, and ties with another."""
    worst = np.inf if info.better == "lower" else -np.inf
    bad_x = np.isnan(x) | (pairs.was_good == 0)
    bad_y = np.isnan(y) | (pairs.is_good == 0)
    changes = np.select([bad_x & bad_y, bad_y, bad_x], [0.0, worst, -worst], default=y - x)
    return np.where(pairs.decided, changes, 0.0)
