"""The points of a design, each as the values that it sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import get_args

from sweep.design.axis import Value
from sweep.design.interval import Interval
from sweep.design.sampling import Sampling, balanced_counts, unit_points
from sweep.design.spec import DesignSpec, SweepSpec, Taken
from sweep.errors import Problem

Point = dict[str, Value]

SAMPLED: tuple[Sampling, ...] = get_args(Sampling)
MAX_POINTS = 1_000_000
"""A design of more points is a slip: a grid grows with every axis."""


def points(spec: SweepSpec) -> Iterator[Point]:
    """The points of a sweep in the design's order, repeated and excluded ones among them.

    Args:
        spec: what was asked; :func:`points_problems` finds nothing wrong with it.

    Yields:
        Values by axis name or full path.
    """
    design, center = spec.design, dict(spec.baseline or {})
    if design.center or design.kind == "star":
        yield center
    if design.kind in SAMPLED:
        yield from _sampled(design, spec.swept)
        return
    values = {name: _values(taken, design) for name, taken in spec.swept.items()}
    if design.kind == "star":
        yield from ({**center, name: value} for name, listed in values.items() for value in listed)
    elif design.kind == "grid":
        yield from (dict(zip(values, point, strict=True)) for point in itertools.product(*values.values()))
    else:
        count = max(map(len, values.values()), default=1)
        yield from ({name: listed[index % len(listed)] for name, listed in values.items()} for index in range(count))


def _values(taken: Taken, design: DesignSpec) -> tuple[Value, ...]:
    return tuple(taken.levels(design.levels or 0, design.digits)) if isinstance(taken, Interval) else taken


def _sampled(design: DesignSpec, swept: Mapping[str, Taken]) -> Iterator[Point]:
    varied = [name for name, taken in swept.items() if _is_varied(taken)]
    assert design.kind in SAMPLED
    for row in unit_points(design.kind, design.n, len(varied), design.seed).tolist():
        shares = dict(zip(varied, row, strict=True))
        yield {name: _at(taken, shares.get(name, 0.0), design) for name, taken in swept.items()}


def _at(taken: Taken, share: float, design: DesignSpec) -> Value:
    if isinstance(taken, Interval):
        return taken.at(share, design.digits)
    return taken[int(share * len(taken))]


def _is_varied(taken: Taken) -> bool:
    return isinstance(taken, Interval) or len(taken) > 1


# What is wrong with a design, and what to know of it


def points_problems(design: DesignSpec, swept: Mapping[str, Taken]) -> list[Problem]:
    """Why a design cannot be made of what is swept: nothing to sample, an interval without levels, unequal lengths."""
    if design.kind in SAMPLED:
        if any(map(_is_varied, swept.values())):
            return []
        text = "nothing is swept; give an axis several values, or an interval: '+latency=interval(0,0.01)'"
        return [Problem(f"design={design.kind}", text)]
    problems = [
        Problem(f"{name}={taken}", _no_values(design)) for name, taken in swept.items() if _lacks_levels(taken, design)
    ]
    if problems:
        return problems
    counts = {name: _count(taken, design) for name, taken in swept.items()}
    if design.kind in ("zip", "list"):
        return _unequal(counts)
    total = math.prod(counts.values())
    if design.kind == "grid" and total > MAX_POINTS:
        product = " × ".join(f"{count} ({name})" for name, count in counts.items())
        text = f"{product} are {total} points; at most {MAX_POINTS} can be planned; sample: design=lhs design.n=100"
        return [Problem("design=grid", text)]
    return []


def remarks(design: DesignSpec) -> Iterator[str]:
    """What people should know of a design that is not wrong."""
    below, above = balanced_counts(design.n)
    if design.kind == "sobol" and below != above:
        yield (
            f"Sobol' points are balanced if their number is a power of two; design.n={design.n} is none, {below} and "
            f"{above} are"
        )


def _lacks_levels(taken: Taken, design: DesignSpec) -> bool:
    return isinstance(taken, Interval) and (design.levels is None or design.kind == "list")


def _no_values(design: DesignSpec) -> str:
    return (
        f"an interval has no values of its own, and design={design.kind} needs some; sample it with "
        "design=lhs design.n=16, or divide it with design.levels=5"
    )


def _count(taken: Taken, design: DesignSpec) -> int:
    return design.levels or 0 if isinstance(taken, Interval) else len(taken)


def _unequal(counts: Mapping[str, int]) -> list[Problem]:
    if len({count for count in counts.values() if count != 1}) <= 1:
        return []
    listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
    text = f"all axes need as many values, or one for all points: {listed}; every combination is design=grid"
    return [Problem("design=zip", text)]
