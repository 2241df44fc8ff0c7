"""What the Manifest says of disturbances: what pushes bodies, at times that are known in advance."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from sweep.errors import Problem
from sweep.plan.clock import Grid, GridSchedule
from sweep.plan.component import Capability, ComponentSpec
from sweep.plan.fields import Number, PositiveSeconds, Seconds, one_or_many
from sweep.plan.imperfection import in_unit
from sweep.plan.problems import duration_problems
from sweep.plan.units import exact_seconds

_OneOrTwo = Field(min_length=1, max_length=2)
Newtons = Annotated[tuple[Annotated[float, in_unit("N")], ...], BeforeValidator(one_or_many), _OneOrTwo]
NewtonMetres = Annotated[tuple[Annotated[float, in_unit("N m")], ...], BeforeValidator(one_or_many), _OneOrTwo]
Vector = Annotated[tuple[Number, Number, Number], BeforeValidator(one_or_many)]
"""A direction, of any length but 0."""

Times = Annotated[tuple[Seconds, ...], BeforeValidator(one_or_many), Field(min_length=1)]


class PushSpec(ComponentSpec):
    """Pushes a body now and then.

    Push k = 0, 1, ... begins at the first boundary at or after ``first_s + k * interval_s + u * interval_jitter_s``, u
    drawn from (0, 1), or at or after ``times_s[k]``; it acts for ``duration_s``, rounded up to whole steps.  Pushes add
    up where they overlap.  Draw k of each stream belongs to push k, whether it is needed or not.

    Attributes:
        body: the body.
        first_s: when the first push is due [s]; one interval in if not given.
        interval_s: from one push to the next [s], or
        times_s: when each push is due, in order [s].
        interval_jitter_s: a push comes up to this late [s]; at most ``interval_s``.
        duration_s: how long each acts [s].
        force_n: the force at the body's centre of mass, one number or ``[low, high]`` to draw from [N].
        direction: ``horizontal`` draws one in the world's horizontal plane, or a vector in the world, of any length.
        torque_nm: the torque, one number or ``[low, high]`` to draw from [N m].
        torque_axis: its axis in the world, of any length.
    """

    capability: ClassVar[Capability] = Capability.DISTURBANCE
    varying: ClassVar[frozenset[str]] = frozenset(
        {"first_s", "interval_s", "times_s", "interval_jitter_s", "duration_s", "force_n", "direction"}
        | {"torque_nm", "torque_axis"}
    )
    streams: ClassVar[tuple[str, ...]] = ("time", "force", "direction", "torque")
    example: ClassVar[str] = """
        type: push
        body: hand
        interval_s: 1
        interval_jitter_s: 0.5
        duration_s: 0.1
        force_n: [5, 20]
    """

    type: Literal["push"]
    body: str
    first_s: Seconds | None = None
    interval_s: PositiveSeconds | None = None
    times_s: Times | None = None
    interval_jitter_s: Seconds = 0.0
    duration_s: PositiveSeconds
    force_n: Newtons = (0.0,)
    direction: Literal["horizontal"] | Vector = "horizontal"
    torque_nm: NewtonMetres = (0.0,)
    torque_axis: Vector = (0.0, 0.0, 1.0)

    @model_validator(mode="after")
    def _consistent(self) -> PushSpec:
        if (self.interval_s is None) == (self.times_s is None):
            raise ValueError("give one of: interval_s, times_s")
        if self.times_s is not None and (self.first_s is not None or self.interval_jitter_s):
            raise ValueError("times_s says when; first_s and interval_jitter_s go with interval_s")
        if self.times_s is not None and list(self.times_s) != sorted(self.times_s):
            raise ValueError("times_s must be in order")
        if self.interval_s is not None and self.interval_jitter_s > self.interval_s:
            raise ValueError(
                f"interval_jitter_s is at most interval_s ({self.interval_s:g} s), not {self.interval_jitter_s:g} s"
            )
        for name, bounds in (("force_n", self.force_n), ("torque_nm", self.torque_nm)):
            if bounds[0] > bounds[-1]:
                raise ValueError(f"{name} is [low, high], not {list(bounds)}")
        for name, vector in (("direction", self.direction), ("torque_axis", self.torque_axis)):
            if not isinstance(vector, str) and not any(vector):
                raise ValueError(f"{name} must not be all zeros")
        return self

    def structure(self) -> dict[str, Any]:
        """See :meth:`ComponentSpec.structure`; whether directions are drawn is part of the layout."""
        return super().structure() | {"drawn": self.direction == "horizontal"}

    def grid_problems(self, grid: Grid, name: str) -> list[Problem]:
        """See :meth:`ComponentSpec.grid_problems`."""
        if self.interval_s is None:
            return []
        path = f"components.{name}.interval_s"
        return duration_problems(path, partial(GridSchedule, grid, self.interval_s, name=path))

    def nominal(self, push: int, grid: Grid) -> Fraction | None:
        """When a push is due, before jitter [timesteps], exact; None if there is none of that number."""
        if self.times_s is not None:
            return exact_seconds(self.times_s[push]) / grid.timestep if push < len(self.times_s) else None
        interval = exact_seconds(self.interval_s or 0)
        first = interval if self.first_s is None else exact_seconds(self.first_s)
        return (first + push * interval) / grid.timestep


def unit(vector: Vector) -> Vector:
    """The same direction, one long."""
    x, y, z = vector
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length
