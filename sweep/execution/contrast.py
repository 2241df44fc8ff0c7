"""Contrasts: cells that differ in one axis alone, by which one sees whether the axis lands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from sweep.design import Cell, SweepSpec
from sweep.design.axis import Value
from sweep.design.cell import canonical, shown
from sweep.design.expand import ROOT, SUBJECT
from sweep.errors import GridError, InvalidInputError, Problem
from sweep.plan.clock import Grid
from sweep.plan.plan import NOT_OF_THE_PLAN, Plan
from sweep.plan.units import unit_at
from sweep.runtime.resolve import Resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two Plans that differ in the value of one axis.

    Attributes:
        axis: the axis, or the full path that is swept.
        values: its two values (SI unit).
        bindings: the manifest paths that it sets.
        plans: the Plan of each value.
        steps: the number of ticks that both values come to, if they are times and it is the same.
        count: number of values that the axis has ...
        distinct: ... and of the different numbers of ticks that they come to, where they are times.
    """

    axis: str
    values: tuple[Value, Value]
    bindings: tuple[str, ...]
    plans: tuple[Plan, Plan]
    steps: int | None
    count: int
    distinct: int

    @property
    def is_inert(self) -> bool:
        """Whether both values are one Plan."""
        return self.plans[0].plan_id == self.plans[1].plan_id

    def __str__(self) -> str:
        return f"{self.axis}={shown(self.values[0])} and {shown(self.values[1])}"


class Contrasts:
    """Makes the contrasts of one sweep.

    Args:
        spec: what was asked.
        cells: the design.
        base: the base manifest's Plan.
        resolver: that of the cells' Plans.
    """

    def __init__(self, spec: SweepSpec, cells: Sequence[Cell], base: Plan, resolver: Resolver) -> None:
        self._base, self._resolver = base, resolver
        declared = {axis.name: axis.bindings for axis in spec.axes}
        self._bindings = {name: declared.get(name, (name.removeprefix(ROOT),)) for name in spec.swept}
        nominal = {axis.name: axis.nominal for axis in spec.axes}
        self._values = {name: _ordered([cell.values[name] for cell in cells], name, nominal) for name in spec.swept}

    def extremes(self) -> tuple[Contrast, ...]:
        """The least and the greatest value of each axis: the others nominal, and again the others at their own extreme.

        An axis may act only where another does: how long a push lasts, once there is one.

        Raises:
            InvalidInputError: the axes whose values are all one Plan.
        """
        near = [self._between(name, {}) for name in self._values]
        inert = [found for found in near if found is not None and found.is_inert and self._is_inert(found.axis)]
        if inert:
            raise InvalidInputError(SUBJECT, [_problem(contrast) for contrast in inert])
        far = {name: values[-1] for name, values in self._values.items()}
        others = {name: {key: value for key, value in far.items() if key != name} for name in far}
        again = [self._between(name, rest) for name, rest in others.items() if rest]
        return tuple(found for found in (*near, *again) if found is not None and not found.is_inert)

    def neighbours(self) -> tuple[Contrast, ...]:
        """Of each axis of times two neighbouring values that come to the same number of ticks, if there are such."""
        found = (self._coinciding(name, values) for name, values in self._values.items())
        return tuple(contrast for contrast in found if contrast is not None)

    def _between(self, name: str, others: Mapping[str, Value]) -> Contrast | None:
        values = self._values[name]
        return self._contrast(name, (values[0], values[-1]), others) if len(values) > 1 else None

    def _coinciding(self, name: str, values: Sequence[Value]) -> Contrast | None:
        ticks = [self._ticks(name, value) for value in values]
        if None in ticks or len(set(ticks)) in (1, len(ticks)):
            return None
        at = next(i for i in range(1, len(ticks)) if ticks[i - 1] == ticks[i])
        return self._contrast(name, (values[at - 1], values[at]), {})

    def _contrast(self, name: str, values: tuple[Value, Value], others: Mapping[str, Value]) -> Contrast | None:
        first, last = (self._plan({**others, name: value}) for value in values)
        if first is None or last is None:
            return None
        ticks = [self._ticks(name, value) for value in values]
        return Contrast(
            axis=name,
            values=values,
            bindings=self._bindings[name],
            plans=(first, last),
            steps=ticks[0] if ticks[0] == ticks[1] else None,
            count=len(self._values[name]),
            distinct=len({self._ticks(name, value) for value in self._values[name]}),
        )

    def _is_inert(self, name: str) -> bool:
        plans = (self._plan({name: value}) for value in self._values[name])
        return len({plan.plan_id for plan in plans if plan is not None}) <= 1

    def _plan(self, values: Mapping[str, Value]) -> Plan | None:
        """A cell's Plan; None where the values are not allowed in this company."""
        parameters = {path: value for name, value in values.items() for path in self._bindings[name]}
        try:
            return self._resolver.resolve(self._base.manifest, parameters)
        except InvalidInputError:
            return None

    def _ticks(self, name: str, value: Value) -> int | None:
        """The ticks that a time of components or controllers comes to; None for what is no such time."""
        paths = [path for path in self._bindings[name] if path.startswith(("components.", "controllers."))]
        if not _is_number(value) or not paths or any(unit_at(path) != "s" for path in paths):
            return None
        return _ticks(self._base.grid, value)


def _ticks(grid: Grid, value: float | int) -> int | None:
    try:
        return grid.ticks(value)
    except GridError:
        return None


def _ordered(values: Sequence[Value], name: str, nominal: Mapping[str, Value]) -> Sequence[Value]:
    """The distinct values, numbers by size; an only one is compared with the nominal."""
    distinct = {repr(canonical(value)): value for value in values}
    if len(distinct) == 1 and name in nominal:
        distinct = {repr(canonical(nominal[name])): nominal[name], **distinct}
    found = list(distinct.values())
    numbers = [value for value in found if _is_number(value)]
    return sorted(numbers) if len(numbers) == len(found) else found


def _is_number(value: Value) -> TypeGuard[float | int]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problem(contrast: Contrast) -> Problem:
    paths = ", ".join(contrast.bindings)
    names = {f"{section}.{key}" for section, keys in NOT_OF_THE_PLAN.items() for key in keys}
    if "runtime.episode_seed" in contrast.bindings:
        why = f"write seeds=[{','.join(shown(value) for value in contrast.values)}], which every cell runs"
    elif set(contrast.bindings) <= names:
        why = f"{paths} decides how runs are executed, not what comes out"
    else:
        why = f"what it sets, {paths}, is the same"
    return Problem(contrast.axis, f"changes nothing: {contrast} are one Plan; {why}")
