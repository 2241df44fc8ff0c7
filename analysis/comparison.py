"""A comparison as values: what :mod:`analysis.contrast` computes and tables, reports and MLflow show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.interval import Interval
from analysis.pairing import PairingReceipt, StreamCheck
from sweep.results import AxisInfo, MetricInfo, Status
from sweep.results.header import Better

if TYPE_CHECKING:
    import pandas


SCHEMA = "comparison/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricContrast:
    """One metric of a cell against the same metric of its baseline, paired by seed.

    Attributes:
        better: the metric's better direction.
        pairs_used: seeds where both runs have a value.
        pairs_total: seeds planned in both cells.
        difference: mean of the paired differences, cell - baseline, with its t interval, in the metric's unit.
        simultaneous: the same with a Bonferroni interval over all contrasts of this metric.
        percent: the change in percent of the baseline's mean (Fieller); None where ``withheld`` says why.
        withheld: why there is no percentage; empty if there is one.
        rank_p: exact signed-rank p over all decided pairs, a failed run and a missing value ranked worst; only where
            outcomes differ.
        rank_lean: how those ranks lean, from -1 (every pair lower in the cell, or its baseline failed if lower is
            better) to 1; only where outcomes differ.
        receipt: what the pairing was worth.
        bootstrap: the mean difference with its BCa bootstrap interval, if asked for and from 32 pairs on.
    """

    better: Better
    pairs_used: int
    pairs_total: int
    difference: Interval | None
    simultaneous: Interval | None
    percent: Interval | None
    withheld: str
    rank_p: float | None
    rank_lean: float | None = None
    receipt: PairingReceipt
    bootstrap: Interval | None = None

    @property
    def clear(self) -> bool:
        """Whether the simultaneous interval excludes no change."""
        return self.simultaneous is not None and self.simultaneous.excludes(0.0)

    @property
    def misleads(self) -> bool:
        """Whether the difference among pairs with both values points another way than all pairs, failures included."""
        if self.rank_lean is None or self.difference is None:
            return False
        return self.difference.estimate * self.rank_lean <= 0.0

    @property
    def is_worse(self) -> bool | None:
        """Whether the metric, failures ranked worst, or else its mean difference, is worse than the baseline's."""
        size = self.rank_lean if self.rank_lean is not None else self.difference.estimate if self.difference else 0.0
        return None if not size else (size > 0) == (self.better == "lower")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeContrast:
    """Success of paired runs: completed, or ended with success; lost, timed-out, cancelled ones are left out.

    Attributes:
        both: pairs where both succeeded.
        only_base: pairs where only the baseline did.
        only_cell: pairs where only this cell did.
        neither: pairs where neither did.
        excluded: pairs without two answers (lost, timed out, cancelled, not run).
        difference: difference of proportions, cell - baseline, with Newcombe's interval.
        p: exact McNemar.
    """

    both: int
    only_base: int
    only_cell: int
    neither: int
    excluded: int
    difference: Interval | None
    p: float

    @property
    def decided(self) -> int:
        """Pairs with two answers."""
        return self.both + self.only_base + self.only_cell + self.neither

    @property
    def differs(self) -> bool:
        """Whether any seed ended well in one cell and badly in the other."""
        return self.only_base + self.only_cell > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A cell against its baseline.

    Attributes:
        against: the baseline's cell_id.
        change: what differs, in words: ``+3 ms latency``.
        causes: how many axes differ.
        outcome: success, paired.
        streams: whether both saw the same noise.
        metrics: name to contrast.
        is_paired: whether the two share seeds; if not, differences are Welch's, between independent runs.
    """

    against: str
    change: str
    causes: int
    outcome: OutcomeContrast
    streams: StreamCheck
    metrics: Mapping[str, MetricContrast]
    is_paired: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSummary:
    """One row of the table.

    Attributes:
        cell_id: which cell.
        label: its label in the design.
        sweep: the sweep it is from.
        values: axis values (SI units).
        planned: runs planned.
        n: runs that have a record.
        outcomes: how many of each status that occurred.
        end_reasons: how many of each domain reason among the ``ended``.
        fault_kinds: how many of each kind among the ``faulted``.
        means: metric to mean with t interval over the runs that have a value; None where none has.
        age_at_use_s: controller to mean age of the measurements it used [s].
        contrast: against the baseline; None for the baseline itself.
        quantiles: metric to the quantile asked for, with an interval of order statistics where there are runs enough.
    """

    cell_id: str
    label: str
    sweep: str
    values: Mapping[str, Any]
    planned: int
    n: int
    outcomes: Mapping[str, int]
    end_reasons: Mapping[str, int]
    fault_kinds: Mapping[str, int]
    means: Mapping[str, Interval | None]
    age_at_use_s: Mapping[str, float]
    contrast: Contrast | None
    quantiles: Mapping[str, Interval | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything the table says, over the noise seeds given.

    Attributes:
        title: the sweep, or ``B against A``.
        swept: the keys that differ between rows, in order; empty with one cell.
        axes: what is known of the declared axes.
        metrics: what is known of the metrics, in order.
        baseline: label of the baseline cell; empty if every row has its own.
        cells: the rows.
        notes: what a reader has to know: what did not match, what is missing, what is weak.
        made_with: what the numbers of each sweep come from: commit, code_id, version of MuJoCo.
        quantile: probability of the quantile that was asked for.
    """

    title: str
    swept: tuple[str, ...]
    axes: Mapping[str, AxisInfo]
    metrics: Mapping[str, MetricInfo]
    baseline: str
    cells: tuple[CellSummary, ...]
    notes: tuple[str, ...] = ()
    made_with: tuple[str, ...] = ()
    quantile: float | None = None

    @property
    def headline(self) -> str:
        """The main finding in one sentence."""
        from analysis.headline import headline

        return headline(self)

    def to_json(self) -> dict[str, Any]:
        """Plain data, without NaN; ``schema`` changes when a field changes its meaning or goes."""
        return {"schema": SCHEMA, "headline": self.headline, **asdict(self)}

    def frame(self) -> pandas.DataFrame:
        """A pandas row per cell: values, ``n``, ``outcomes/<status>``, ``<metric>/mean``, ``/ci_low``, ``/delta``."""
        import pandas

        return pandas.DataFrame([_flat(cell) for cell in self.cells])


def _flat(cell: CellSummary) -> dict[str, Any]:
    row: dict[str, Any] = {"sweep": cell.sweep, "cell_id": cell.cell_id, **cell.values, "n": cell.n}
    row |= {f"outcomes/{status}": cell.outcomes.get(status, 0) for status in Status}
    row |= {f"{controller}/age_at_use_s": age for controller, age in cell.age_at_use_s.items()}
    for name, mean in cell.means.items():
        row |= _limits(f"{name}/mean", f"{name}/ci", mean) | {f"{name}/n": mean.n if mean else 0}
        contrast = cell.contrast.metrics.get(name) if cell.contrast else None
        if contrast is not None:
            row |= _limits(f"{name}/delta", f"{name}/delta_ci", contrast.difference)
            row |= _limits(f"{name}/percent", f"{name}/percent_ci", contrast.percent)
            row |= {f"{name}/pairs": contrast.pairs_used}
    return row


def _limits(name: str, ci: str, value: Interval | None) -> dict[str, float | None]:
    if value is None:
        return {name: None, f"{ci}_low": None, f"{ci}_high": None}
    return {name: value.estimate, f"{ci}_low": value.low, f"{ci}_high": value.high}
