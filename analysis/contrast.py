"""From records to a comparison: outcomes first, then means over those that have a value, then paired differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from analysis.comparison import CellSummary, Comparison, Contrast, MetricContrast, OutcomeContrast
from analysis.estimate import (
    LEVEL,
    Interval,
    mcnemar_exact,
    mean_t,
    newcombe_paired,
    paired_t,
    ratio_fieller,
    signed_rank_exact,
)
from analysis.format import change_words
from analysis.pairing import Pair, Recompute, check_streams, pairing_receipt
from analysis.source import Sweep, choose_baseline, read
from sweep.results import CellRow, MetricInfo, RunRecord, Status

AGE = "/age_at_use_s"
FEW = 8
"""Below this many seeds the intervals lean on the normal distribution (t on lognormal data with 8 covers 84 %)."""

Records = Mapping[int, RunRecord]


def compare(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | None = None,
    *,
    cells: Collection[str] | None = None,
    seeds: Collection[int] | None = None,
    recompute: Recompute | None = None,
) -> Comparison:
    """Compare the cells of sweep ``a`` with its baseline cell, or the cells of sweep ``b`` with the same ones of ``a``.

    Args:
        a: a sweep folder or a ledger file.
        b: another; its cells are paired with those of ``a`` by (cell_id, seed).
        baseline: a cell_id (or a unique prefix, or a label) of ``a``; by default the sweep's own choice, the
            nominal cell, or the first.  Without meaning when ``b`` is given.
        cells: cell_ids of ``a`` to look at; all by default.
        seeds: seeds of ``a`` to look at; all by default.
        recompute: gives digests of noise prefixes, so that runs of different length can be proved paired.

    Raises:
        LedgerError: there is no readable ledger.
        InvalidInputError: no cell is called ``baseline``.
    """
    if b is not None:
        return compare_sweeps(read(a), read(b), recompute=recompute)
    return compare_cells(read(a).only(cells, seeds), baseline, recompute=recompute)


def compare_cells(sweep: Sweep, baseline: str | None = None, *, recompute: Recompute | None = None) -> Comparison:
    """The cells of one sweep against its baseline cell."""
    base = choose_baseline(sweep, baseline)
    others = max(1, len(sweep.cells) - 1)
    units = {name: axis.unit for name, axis in sweep.header.axes.items()}
    rows = []
    for cell in sweep.cells:
        contrast = None
        if base is not None and cell.cell_id != base.cell_id:
            contrast = _contrast(
                _Side(sweep, base), _Side(sweep, cell), change_words(base.values, cell.values, units), others, recompute
            )
        rows.append(_summary(sweep, cell, contrast))
    return Comparison(
        title=sweep.header.name,
        swept=sweep.swept,
        axes=sweep.header.axes,
        metrics=sweep.header.metrics,
        baseline=base.label if base else "",
        cells=tuple(rows),
        notes=_notes(rows),
        made_with=(sweep.made_with,),
    )


def compare_sweeps(a: Sweep, b: Sweep, *, recompute: Recompute | None = None) -> Comparison:
    """The cells of ``b`` against the same cells of ``a``, paired by (cell_id, seed); what does not match is noted."""
    there = {cell.cell_id: cell for cell in b.cells}
    matched = [cell for cell in a.cells if cell.cell_id in there]
    names = _names(a, b)
    rows = []
    for cell in matched:
        other = there[cell.cell_id]
        where = f" at {cell.label}" if len(matched) > 1 else ""
        change = f"{names[1]} instead of {names[0]}{where}"
        contrast = _contrast(_Side(a, cell), _Side(b, other), change, len(matched), recompute)
        rows += [_summary(a, cell, None, names[0]), _summary(b, other, contrast, names[1])]
    keys = [k for k in a.keys if len({repr(c.values.get(k)) for c in matched}) > 1]
    return Comparison(
        title=f"{names[1]} against {names[0]}",
        swept=tuple(keys),
        axes=a.header.axes,
        metrics={n: m for n, m in a.header.metrics.items() if n in b.header.metrics},
        baseline="",
        cells=tuple(rows),
        notes=(*_unmatched(a, b, names), *_notes(rows)),
        made_with=tuple(f"{name}: {sweep.made_with}" for name, sweep in zip(names, (a, b), strict=True)),
    )


class _Side:
    """One side of a contrast."""

    def __init__(self, sweep: Sweep, cell: CellRow) -> None:
        self.cell_id = cell.cell_id
        self.records = sweep.records[cell.cell_id]
        self.seeds = sweep.seeds[cell.cell_id]
        self.metrics = sweep.header.metrics
        self.values = cell.values


def _contrast(base: _Side, other: _Side, change: str, contrasts: int, recompute: Recompute | None) -> Contrast:
    seeds = sorted(set(base.seeds) & set(other.seeds))
    pairs = [(base.records[s], other.records[s]) for s in seeds if s in base.records and s in other.records]
    outcome = _outcome_contrast(pairs, len(seeds))
    metrics = {
        name: _metric_contrast(name, info, pairs, outcome=outcome, contrasts=contrasts, total=len(seeds))
        for name, info in base.metrics.items()
        if name in other.metrics
    }
    return Contrast(
        against=base.cell_id,
        change=change,
        causes=max(1, sum(base.values.get(key) != value for key, value in other.values.items())),
        outcome=outcome,
        streams=check_streams(pairs, recompute),
        metrics=metrics,
    )


def _outcome_contrast(pairs: Sequence[Pair], total: int) -> OutcomeContrast:
    counts = Counter((succeeded(x), succeeded(y)) for x, y in pairs)
    both, only_base, only_cell, neither = (
        counts[flags] for flags in ((True, True), (True, False), (False, True), (False, False))
    )
    return OutcomeContrast(
        both=both,
        only_base=only_base,
        only_cell=only_cell,
        neither=neither,
        excluded=total - both - only_base - only_cell - neither,
        difference=newcombe_paired(both, only_base, only_cell, neither),
        p=mcnemar_exact(only_base, only_cell),
    )


def _metric_contrast(
    name: str, info: MetricInfo, pairs: Sequence[Pair], *, outcome: OutcomeContrast, contrasts: int, total: int
) -> MetricContrast:
    found = [(value_of(x, name), value_of(y, name)) for x, y in pairs if None not in (succeeded(x), succeeded(y))]
    used = [(x, y) for x, y in found if x is not None and y is not None]
    base, other = [x for x, _ in used], [y for _, y in used]
    lopsided = any((x is None) != (y is None) for x, y in found)
    ratio = ratio_fieller(base, other)
    withheld = _why_no_percentage(outcome.differs, lopsided, bool(used), ratio)
    return MetricContrast(
        better=info.better,
        pairs_used=len(used),
        pairs_total=total,
        difference=paired_t(base, other),
        simultaneous=paired_t(base, other, 1 - (1 - LEVEL) / contrasts),
        percent=None if withheld or ratio is None else _percent(ratio),
        withheld=withheld,
        rank_p=_rank_p(found, info) if outcome.differs or lopsided else None,
        receipt=pairing_receipt(base, other),
    )


def _why_no_percentage(outcomes_differ: bool, lopsided: bool, any_pair: bool, ratio: Interval | None) -> str:
    if not any_pair:
        return "no pair has both values"
    if outcomes_differ:
        return "outcomes differ"
    if lopsided:
        return "values are missing on one side"
    return "" if ratio is not None else "the baseline is not clearly away from 0"


def _percent(ratio: Interval) -> Interval:
    low, high = (None if x is None else 100 * x for x in (ratio.low, ratio.high))
    return Interval(100 * ratio.estimate, low, high, ratio.n)


def _rank_p(found: Sequence[tuple[float | None, float | None]], info: MetricInfo) -> float:
    worst = float("inf") if info.better == "lower" else float("-inf")
    changes = []
    for x, y in found:
        if x is None or y is None:
            changes.append(0.0 if x is y else worst if y is None else -worst)
        else:
            changes.append(y - x)
    return signed_rank_exact(changes)


def succeeded(record: RunRecord) -> bool | None:
    """Whether a run ended well; None if nobody knows (lost, timed out, cancelled)."""
    status = record.outcome.status
    if status is Status.COMPLETED:
        return True
    if status is Status.ENDED:
        return record.outcome.success is not False
    return False if status is Status.FAULTED else None


def value_of(record: RunRecord, metric: str) -> float | None:
    """A metric's value if the run may enter a mean: only completed and ended runs may."""
    if record.outcome.status not in (Status.COMPLETED, Status.ENDED):
        return None
    return record.metrics.get(metric)


def _summary(sweep: Sweep, cell: CellRow, contrast: Contrast | None, name: str | None = None) -> CellSummary:
    records = list(sweep.records[cell.cell_id].values())
    outcomes = Counter(record.outcome.status for record in records)
    return CellSummary(
        cell_id=cell.cell_id,
        label=cell.label,
        sweep=name or sweep.header.name,
        values=cell.values,
        planned=len(sweep.seeds[cell.cell_id]),
        n=len(records),
        outcomes={status.value: outcomes[status] for status in Status if outcomes[status]},
        end_reasons=dict(Counter(r.outcome.reason for r in records if r.outcome.reason)),
        fault_kinds=dict(Counter(r.outcome.kind for r in records if r.outcome.kind)),
        means={metric: mean_t(values_of(records, metric)) for metric in sweep.header.metrics},
        age_at_use_s=_ages(records),
        contrast=contrast,
    )


def values_of(records: Sequence[RunRecord], metric: str) -> list[float]:
    """The values that enter a mean."""
    return [value for record in records if (value := value_of(record, metric)) is not None]


def summary_means(records: Sequence[RunRecord]) -> dict[str, float]:
    """``component/quantity`` to its mean over the runs that were answered and have it."""
    found: dict[str, list[float]] = {}
    for record in records:
        if record.outcome.status in (Status.COMPLETED, Status.ENDED):
            for name, value in record.summaries.items():
                found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in sorted(found.items())}


def _ages(records: Sequence[RunRecord]) -> dict[str, float]:
    means = summary_means(records)
    return {name.removesuffix(AGE): mean for name, mean in means.items() if name.endswith(AGE)}


def _names(a: Sweep, b: Sweep) -> tuple[str, str]:
    one, two = a.header.name, b.header.name
    return (f"A {one}", f"B {two}") if one == two else (one, two)


def _notes(rows: Sequence[CellSummary]) -> tuple[str, ...]:
    notes = []
    waiting = sum(row.planned - row.n for row in rows)
    if waiting:
        notes.append(f"{waiting} of {sum(row.planned for row in rows)} runs have no record yet")
    apart = [(row, row.contrast.streams) for row in rows if row.contrast and row.contrast.streams.out_of_step]
    for row, check in apart[:3]:
        notes.append(f"{row.label}: {check.words}; its differences are not between equal noise")
    hurt = {
        name: contrast.receipt.words
        for row in rows
        if row.contrast
        for name, contrast in row.contrast.metrics.items()
        if contrast.receipt.hurts
    }
    notes += [f"{name}: {words}" for name, words in hurt.items()]
    seeds = max((row.planned for row in rows), default=0)
    if 1 < seeds < FEW:
        notes.append(f"{seeds} seeds are few: these intervals rest on values being roughly normal")
    return tuple(notes)


def _unmatched(a: Sweep, b: Sweep, names: tuple[str, str]) -> tuple[str, ...]:
    notes = []
    for here, there, name in ((a, b, names[0]), (b, a, names[1])):
        other = {cell.cell_id for cell in there.cells}
        alone = [cell.label for cell in here.cells if cell.cell_id not in other]
        if alone:
            listed = ", ".join(alone[:4]) + (", ..." if len(alone) > 4 else "")
            notes.append(f"{len(alone)} of {len(here.cells)} cells are only in {name}: {listed}")
        lonely = {m for m in here.header.metrics if m not in there.header.metrics}
        if lonely:
            notes.append(f"metrics only in {name}: {', '.join(sorted(lonely))}")
        seeds = set().union(*here.seeds.values()) - set().union(*there.seeds.values())
        if seeds:
            notes.append(f"{len(seeds)} seeds are only in {name}")
    if set(a.header.axes) != set(b.header.axes):
        notes.append("the two sweeps declare different axes, so that no cell of one can be a cell of the other")
    return tuple(notes)
