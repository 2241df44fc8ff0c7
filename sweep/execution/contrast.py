"""Contrasts: cells that differ in one axis alone, by which one sees whether the axis lands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeGuard

from sweep.design import Cell, Interval, SweepSpec
from sweep.design.axis import Value
from sweep.design.cell import canonical, shown
from sweep.design.expand import ROOT, SUBJECT
from sweep.errors import GridError, InvalidInputError, Problem
from sweep.execution.words import counted
from sweep.plan.plan import NOT_OF_THE_PLAN, Plan
from sweep.runtime.resolve import Resolver

QUANTIZED = frozenset({"latency_s", "command_latency_s", "compute_latency_s", "timeout_s", "hold_s", "duration_s"})
"""Times of components and controllers of which only the number of ticks counts."""

_FIELD = re.compile(r"(?:components|controllers)\.\w+\.(\w+)")
"""A field of a component or controller itself; their parameters are named as anybody likes."""

MANY = 64
"""Values of a period that are still compared tick by tick."""

Effect = int | tuple[bytes, ...]
"""What the grid makes of a time: a number of ticks, or the ticks of a schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two Plans that differ in the value of one axis.

    Attributes:
        axis: the axis, or the full path that is swept.
        values: its two values (SI unit).
        bindings: the manifest paths that it sets.
        plans: the Plan of each value.
        common: what both values do on the grid, in words that follow "both"; empty where they differ.
        count: number of values that the axis has ...
        distinct: ... and number of those that differ on the grid.
    """

    axis: str
    values: tuple[Value, Value]
    bindings: tuple[str, ...]
    plans: tuple[Plan, Plan]
    common: str
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
        self._sampled = {name for name, taken in spec.swept.items() if isinstance(taken, Interval)}
        self._on_grid = {name: self._effects(name) for name in spec.swept}

    def found(self) -> tuple[Contrast, ...]:
        """All of them.

        Raises:
            InvalidInputError: the axes whose values are all one Plan.
        """
        return (*self._extremes(), *self._neighbours())

    def _extremes(self) -> tuple[Contrast, ...]:
        """The least and the greatest value of each axis: the others nominal, and again the others at their own extreme.

        An axis may act only where another does: how long a push lasts, once there is one.
        """
        near = [self._between(name, {}) for name in self._values]
        inert = [found for found in near if found is not None and found.is_inert and self._is_inert(found.axis)]
        if inert:
            raise InvalidInputError(SUBJECT, [_problem(contrast) for contrast in inert])
        far = {name: values[-1] for name, values in self._values.items()}
        others = {name: {key: value for key, value in far.items() if key != name} for name in far}
        again = [self._between(name, rest) for name, rest in others.items() if rest]
        return tuple(found for found in (*near, *again) if found is not None and not found.is_inert)

    def _neighbours(self) -> tuple[Contrast, ...]:
        """Of each axis of times two neighbouring values that are the same on the grid, if there are such.

        Samples of an interval may fall together.
        """
        found = (self._coinciding(name) for name in self._values if name not in self._sampled)
        return tuple(contrast for contrast in found if contrast is not None)

    def _between(self, name: str, others: Mapping[str, Value]) -> Contrast | None:
        values = self._values[name]
        return self._contrast(name, (values[0], values[-1]), others) if len(values) > 1 else None

    def _coinciding(self, name: str) -> Contrast | None:
        effects = self._on_grid[name]
        if len(set(effects.values())) in (0, 1, len(effects)):
            return None
        pair = next(pair for pair in pairwise(self._values[name]) if effects[pair[0]] == effects[pair[1]])
        return self._contrast(name, pair, {})

    def _contrast(self, name: str, values: tuple[Value, Value], others: Mapping[str, Value]) -> Contrast | None:
        first, last = (self._plan({**others, name: value}) for value in values)
        if first is None or last is None:
            return None
        effects = self._on_grid[name]
        one, other = (effects.get(value) for value in values)
        return Contrast(
            axis=name,
            values=values,
            bindings=self._bindings[name],
            plans=(first, last),
            common=self._told(one) if one is not None and one == other else "",
            count=len(self._values[name]),
            distinct=len(set(effects.values())),
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

    def _effects(self, name: str) -> dict[Value, Effect]:
        """What the grid makes of the values of an axis of times; nothing for other axes."""
        paths, values = self._bindings[name], [value for value in self._values[name] if _is_number(value)]
        fields = {_FIELD.sub(r"\1", path) for path in paths}
        with suppress(GridError):
            if fields <= QUANTIZED:
                return {value: self._base.grid.ticks(value) for value in values}
            if fields == {"period_s"} and len(values) <= MANY:
                return {value: tuple(self._due(path, value) for path in paths) for value in values}
        return {}

    def _due(self, path: str, period: float) -> bytes:
        """The ticks that a period comes to, all along a run."""
        section, name, field = path.split(".")
        part = getattr(self._base.manifest, section)[name].model_copy(update={field: period})
        ticks: bytes = part.schedule(self._base.grid, name).due(0, self._base.horizon)[1].tobytes()
        return ticks

    def _told(self, effect: Effect) -> str:
        if not isinstance(effect, int):
            return "are due at the same ticks all along"
        return f"come to {counted(effect, 'tick')} of {float(self._base.grid.timestep):g} s"


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
