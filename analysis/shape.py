"""The shape of a comparison: curves along an axis, planes over two, main effects and interactions of a grid.

Values only: reports and notebooks draw them.  A curve and a plane hold rows of the comparison, so that whatever is
known of a cell (means, paired differences, outcomes) is at hand where it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.comparison import CellSummary, Comparison
from analysis.estimate import LEVEL, Interval, mean_t
from analysis.format import is_number

if TYPE_CHECKING:
    from analysis.source import Sweep

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Rows along one axis, the other swept axes held.

    Attributes:
        axis: the axis.
        sweep: the sweep that the rows are from (two sweeps give curves each).
        held: the other swept axes and their values.
        is_nominal: whether what is held is held where the baseline has it.
        values: the axis's values, ascending if they are numbers (SI unit, see ``comparison.axes[axis].unit``).
        cells: the row at each value: ``cell.means[metric]`` has the band of a mean,
            ``cell.contrast.metrics[metric].difference`` that of the paired difference.
    """

    axis: str
    sweep: str
    held: Mapping[str, Any]
    is_nominal: bool
    values: tuple[Any, ...]
    cells: tuple[CellSummary, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """Rows over two axes, the other swept axes held: what a heat map draws.

    Attributes:
        x: the axis along a row.
        y: the axis down the rows.
        sweep: the sweep that the rows are from.
        held: the other swept axes and their values.
        is_nominal: whether what is held is held where the baseline has it.
        xs: values of ``x``, ascending if they are numbers.
        ys: values of ``y``.
        cells: ``cells[i][j]`` is the row at ``ys[i]`` and ``xs[j]``; None where the design has no cell.
    """

    x: str
    y: str
    sweep: str
    held: Mapping[str, Any]
    is_nominal: bool
    xs: tuple[Any, ...]
    ys: tuple[Any, ...]
    cells: tuple[tuple[CellSummary | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a level of one axis, or a combination of levels of two, adds to the grand mean.

    Attributes:
        levels: axis to level; one axis for a main effect, two for an interaction.
        size: the effect with its t interval over seeds, in the metric's unit.
        simultaneous: the same, with a Bonferroni interval over the effects of its kind and axes.
    """

    levels: Mapping[str, Any]
    size: Interval
    simultaneous: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Factorial:
    """Main effects and interactions of a complete grid, each estimated within seeds.

    Attributes:
        metric: of what.
        seeds_used: seeds for which every cell has a value; the effects are among these alone.
        seeds_total: seeds planned in every cell.
        grand: the mean over all cells; None without effects.
        main: main effects, by axis and level.
        interactions: interactions of pairs of axes, by their levels.
        shares: axis or ``axis × axis`` to its share of the variance between the cells' means (0 to 1); what is
            missing to 1 belongs to interactions of more axes.
        withheld: why there are no effects; empty if there are.
    """

    metric: str
    seeds_used: int
    seeds_total: int
    grand: Interval | None = None
    main: tuple[Effect, ...] = ()
    interactions: tuple[Effect, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    withheld: str = ""


def curves(comparison: Comparison, axis: str) -> tuple[Curve, ...]:
    """The curves along an axis that have two points or more; those where the others are nominal come first."""
    found = []
    for sweep, held, rows, is_nominal in _held(comparison, (axis,)):
        cells = sorted(rows, key=lambda cell: _order(cell.values.get(axis)))
        if len(cells) > 1:
            values = tuple(cell.values.get(axis) for cell in cells)
            found.append(
                Curve(axis=axis, sweep=sweep, held=held, is_nominal=is_nominal, values=values, cells=tuple(cells))
            )
    return tuple(sorted(found, key=lambda curve: not curve.is_nominal))


def planes(comparison: Comparison, x: str, y: str) -> tuple[Plane, ...]:
    """The planes over two axes that have two values of each; those where the others are nominal come first."""
    found = []
    for sweep, held, rows, is_nominal in _held(comparison, (x, y)):
        at = {(_key(cell.values.get(y)), _key(cell.values.get(x))): cell for cell in rows}
        xs, ys = (_levels([cell.values.get(axis) for cell in rows]) for axis in (x, y))
        if len(xs) > 1 and len(ys) > 1:
            cells = tuple(tuple(at.get((_key(v), _key(u))) for u in xs) for v in ys)
            found.append(Plane(x=x, y=y, sweep=sweep, held=held, is_nominal=is_nominal, xs=xs, ys=ys, cells=cells))
    return tuple(sorted(found, key=lambda plane: not plane.is_nominal))


def factorial(sweep: Sweep, metric: str) -> Factorial:
    """Main effects and interactions of two axes, where the cells are a complete grid of the swept axes.

    Of each seed, the values of all cells are decomposed: a main effect is the mean at a level minus the grand mean,
    an interaction what the mean at two levels has beyond both main effects.  Means over seeds come with t intervals,
    so that what seeds do to all cells alike cancels.

    Source: D. C. Montgomery, Design and Analysis of Experiments (8th ed., 2013), section 5.3, with seeds as blocks.
    """
    axes = sweep.swept
    levels = {axis: _levels([cell.values.get(axis) for cell in sweep.cells]) for axis in axes}
    seeds, values = sweep.matrix(metric)
    whole = ~np.isnan(values).any(axis=0)
    withheld = _why_no_effects(sweep, levels, int(whole.sum()))
    if withheld:
        return Factorial(metric=metric, seeds_used=int(whole.sum()), seeds_total=len(seeds), withheld=withheld)
    grid = _grid(sweep, levels, values[:, whole])
    grand = grid.mean(axis=tuple(range(len(axes))))
    total = float(grid.mean(axis=-1).var())
    found: dict[tuple[str, ...], Floats] = {}
    for size in (1, 2):
        for chosen in combinations(axes, size):
            effect = grid.mean(axis=tuple(i for i, axis in enumerate(axes) if axis not in chosen)) - grand
            for part in (part for n in range(1, size) for part in combinations(chosen, n)):
                lower = found[part]
                effect = effect - np.expand_dims(lower, tuple(i for i, axis in enumerate(chosen) if axis not in part))
            found[chosen] = effect
    return Factorial(
        metric=metric,
        seeds_used=int(whole.sum()),
        seeds_total=len(seeds),
        grand=mean_t(grand),
        main=tuple(e for chosen, size in found.items() if len(chosen) == 1 for e in _effects(chosen, levels, size)),
        interactions=tuple(
            e for chosen, size in found.items() if len(chosen) == 2 for e in _effects(chosen, levels, size)
        ),
        shares={
            " × ".join(chosen): float((size.mean(axis=-1) ** 2).mean() / total) if total else 0.0
            for chosen, size in found.items()
        },
    )


def _why_no_effects(sweep: Sweep, levels: Mapping[str, Sequence[Any]], whole: int) -> str:
    if not levels:
        return "no axis is swept"
    if prod(map(len, levels.values())) != len(sweep.cells):
        return "the cells are no complete grid of the swept axes"
    return "" if whole else "there is no seed for which every cell has a value"


def _grid(sweep: Sweep, levels: Mapping[str, Sequence[Any]], values: Floats) -> Floats:
    """Values ``(cells, seeds)`` as ``(levels of axis 1, ..., levels of axis n, seeds)``."""
    places = {axis: {_key(level): i for i, level in enumerate(those)} for axis, those in levels.items()}
    grid = np.empty((*map(len, levels.values()), values.shape[1]))
    for row, cell in zip(values, sweep.cells, strict=True):
        grid[tuple(at[_key(cell.values.get(axis))] for axis, at in places.items())] = row
    return grid


def _effects(chosen: tuple[str, ...], levels: Mapping[str, Sequence[Any]], sizes: Floats) -> Iterator[Effect]:
    count = prod(sizes.shape[:-1])
    for place in np.ndindex(sizes.shape[:-1]):
        size, simultaneous = mean_t(sizes[place]), mean_t(sizes[place], 1 - (1 - LEVEL) / count)
        assert size is not None
        assert simultaneous is not None
        at = {axis: levels[axis][i] for axis, i in zip(chosen, place, strict=True)}
        yield Effect(levels=at, size=size, simultaneous=simultaneous)


def _held(
    comparison: Comparison, free: tuple[str, ...]
) -> Iterator[tuple[str, Mapping[str, Any], list[CellSummary], bool]]:
    """Rows by sweep and by the values of the swept axes that are not ``free``; whether those are the baseline's."""
    others = [key for key in comparison.swept if key not in free]
    nominal = next((cell.values for cell in comparison.cells if cell.contrast is None), {})

    def group(cell: CellSummary) -> tuple[str, str]:
        return cell.sweep, _key([cell.values.get(key) for key in others])

    for (sweep, _), rows in groupby(sorted(comparison.cells, key=group), group):
        cells = list(rows)
        held = {key: cells[0].values.get(key) for key in others}
        yield sweep, held, cells, all(nominal.get(key) == value for key, value in held.items())


def _levels(values: Sequence[Any]) -> tuple[Any, ...]:
    """Each value once: ascending if all are numbers, else in the order of the design."""
    once = {_key(value): value for value in values}
    return tuple(sorted(once.values(), key=_order))


def _order(value: Any) -> float:
    return float(value) if is_number(value) else 0.0


def _key(value: Any) -> str:
    return repr(value)
