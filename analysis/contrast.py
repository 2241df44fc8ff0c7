"""From runs to a comparison: outcomes first, then means over those that have a value, then paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.baseline import choose_baseline
from analysis.cells import summaries
from analysis.comparison import CellSummary, Comparison
from analysis.format import change_words
from analysis.matching import matched, names_of, notes_of_two
from analysis.notes import notes
from analysis.pairing import Recompute
from analysis.pairs import Extras, Match, contrasts
from analysis.source import Sweep, read
from sweep.results import RunRecord


def compare(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | Sequence[str] | None = None,
    *,
    recompute: Recompute | None = None,
    extras: Extras | None = None,
) -> Comparison:
    """Compare the cells of sweep ``a`` with its baseline cell, or the cells of sweep ``b`` with the same ones of ``a``.

    Args:
        a: a sweep folder or a ledger file.
        b: another; its cells are paired with those of ``a`` by (cell_id, seed).
        baseline: which cell of ``a`` is the baseline, see :func:`analysis.baseline.choose_baseline`.  Without meaning
            when ``b`` is given.
        recompute: gives digests of noise prefixes, so that runs of different length can be proved paired.
        extras: estimates that are made on request only.

    Raises:
        LedgerError: there is no readable ledger.
        InvalidInputError: no cell is called ``baseline``, or the two sweeps share no cell.
    """
    sweeps = [read(place) for place in (a, b) if place is not None]
    return compare_read(sweeps, baseline, recompute=recompute, extras=extras)


def compare_read(
    sweeps: Sequence[Sweep],
    baseline: str | Sequence[str] | None = None,
    *,
    recompute: Recompute | None = None,
    extras: Extras | None = None,
) -> Comparison:
    """What :func:`compare` gives, of one or two sweeps that were read already."""
    first, *second = sweeps
    if second:
        return compare_sweeps(first, *second, recompute=recompute, extras=extras)
    return compare_cells(first, baseline, recompute=recompute, extras=extras)


def compare_cells(
    sweep: Sweep,
    baseline: str | Sequence[str] | None = None,
    *,
    recompute: Recompute | None = None,
    extras: Extras | None = None,
) -> Comparison:
    """The cells of one sweep against its baseline cell."""
    extras = extras or Extras()
    base = choose_baseline(sweep, baseline)
    units = {name: axis.unit for name, axis in sweep.header.axes.items()}
    at = sweep.cells.index(base) if base is not None else 0
    matches = [
        Match(base=at, other=i, change=change_words(base.values, cell.values, units))
        for i, cell in enumerate(sweep.cells)
        if base is not None and i != at
    ]
    found = contrasts(sweep, sweep, matches, recompute=recompute, extras=extras)
    against = {match.other: contrast for match, contrast in zip(matches, found, strict=True)}
    rows = summaries(sweep, [against.get(i) for i in range(len(sweep.cells))], quantile=extras.quantile)
    return Comparison(
        title=sweep.header.name,
        swept=sweep.swept,
        axes=sweep.header.axes,
        metrics=sweep.header.metrics,
        baseline=base.label if base else "",
        cells=tuple(rows),
        notes=notes(rows, extras),
        made_with=(sweep.made_with,),
        quantile=extras.quantile,
    )


def compare_sweeps(
    a: Sweep, b: Sweep, *, recompute: Recompute | None = None, extras: Extras | None = None
) -> Comparison:
    """The cells of ``b`` against the same cells of ``a``, paired by cell and seed; what does not match is noted.

    Where the two share no cell because an axis that neither swept has another nominal value, cells are the same whose
    other values are, and the change of that axis is said; see :func:`analysis.matching.matched`.

    Raises:
        InvalidInputError: the two share no cell.
    """
    extras = extras or Extras()
    names = names_of(a, b)
    matching = matched(a, b, names)
    places, step = matching.places, f" ({matching.change})" if matching.change else ""
    matches = [
        Match(
            base=i,
            other=j,
            change=f"{names[1]} instead of {names[0]}{step}" + (f" at {a.cells[i].label}" if len(places) > 1 else ""),
        )
        for i, j in places
    ]
    found = contrasts(a, b, matches, recompute=recompute, extras=extras)
    before = summaries(a, [None] * len(a.cells), quantile=extras.quantile, name=names[0])
    against = {match.other: contrast for match, contrast in zip(matches, found, strict=True)}
    after = summaries(b, [against.get(j) for j in range(len(b.cells))], quantile=extras.quantile, name=names[1])
    rows: list[CellSummary] = [row for i, j in places for row in (before[i], after[j])]
    shared = [a.cells[i] for i, _ in places]
    return Comparison(
        title=f"{names[1]} against {names[0]}",
        swept=tuple(k for k in a.keys if len({repr(c.values.get(k)) for c in shared}) > 1),
        axes=a.header.axes,
        metrics={n: m for n, m in a.header.metrics.items() if n in b.header.metrics},
        baseline="",
        cells=tuple(rows),
        notes=(*notes_of_two(a, b, names, matching), *notes(rows, extras)),
        made_with=tuple(f"{name}: {sweep.made_with}" for name, sweep in zip(names, (a, b), strict=True)),
        quantile=extras.quantile,
    )


def summary_means(records: Sequence[RunRecord]) -> Mapping[str, float]:
    """``component/quantity`` to its mean over the runs that were answered and have it."""
    found: dict[str, list[float]] = {}
    for record in records:
        if record.outcome.status.is_good:
            for name, value in record.summaries.items():
                found.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in sorted(found.items())}
