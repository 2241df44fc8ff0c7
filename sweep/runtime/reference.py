"""Reference trajectories on the grid, tabulated once per distinct trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sweep.plan.clock import Grid
from sweep.plan.instants import LaneInstants
from sweep.plan.sections import ReferenceSpec

Floats = NDArray[np.float64]

_GROWTH = 4096


class ReferenceTable:
    """Positions and velocities of a reference at boundaries, for many lanes.

    A segment runs from rest to rest on the minimum-jerk polynomial s(u) = 10 u^3 - 15 u^4 + 6 u^5
    (Flash and Hogan 1985, "The coordination of arm movements"): products and sums only, so the same bits on
    every CPU.

    Args:
        specs: the trajectory of each lane.
        grid: the physics grid.
    """

    def __init__(self, specs: Sequence[ReferenceSpec], grid: Grid) -> None:
        self.joints = specs[0].joints
        self._grid = grid
        self._distinct = list(dict.fromkeys(specs))
        self._which = np.array([self._distinct.index(spec) for spec in specs])
        self._positions = np.zeros((len(self._distinct), 0, len(self.joints)))
        self._velocities = self._positions

    def positions(self, start: int, stop: int) -> Floats:
        """Positions at boundaries ``start`` .. ``stop - 1``, ``(lanes or 1, ticks, joints)`` [rad or m]."""
        return self._rows(start, stop)[0]

    def at(self, tick: int) -> tuple[Floats, Floats]:
        """Position and velocity at one boundary, ``(lanes or 1, joints)`` each."""
        positions, velocities = self._rows(tick, tick + 1)
        return positions[:, 0], velocities[:, 0]

    def subset(self, lanes: Sequence[int]) -> ReferenceTable:
        """The same for some of the lanes."""
        return ReferenceTable([self._distinct[self._which[lane]] for lane in lanes], self._grid)

    def _rows(self, start: int, stop: int) -> tuple[Floats, Floats]:
        if stop > self._positions.shape[1]:
            self._grow(max(stop, self._positions.shape[1] + _GROWTH))
        positions, velocities = self._positions[:, start:stop], self._velocities[:, start:stop]
        if len(self._distinct) == 1:
            return positions, velocities
        return positions[self._which], velocities[self._which]

    def _grow(self, ticks: int) -> None:
        time_s = LaneInstants.of([(self._grid.timestep, Fraction(0))]).at(np.arange(ticks))
        tables = [minimum_jerk(s.waypoints, s.segment_s, time_s, repeat=s.repeat) for s in self._distinct]
        self._positions = np.stack([positions for positions, _ in tables])
        self._velocities = np.stack([velocities for _, velocities in tables])


def minimum_jerk(
    waypoints: Sequence[Sequence[float]], segment_s: float, time_s: Floats, *, repeat: bool
) -> tuple[Floats, Floats]:
    """Positions and velocities on the way through waypoints, ``(times, width)`` each; see :class:`ReferenceTable`.

    Args:
        waypoints: rows of ``width`` numbers, at least two.
        segment_s: time from one to the next [s].
        time_s: when, ``(times,)`` [s].
        repeat: start over after the last; otherwise stay there.
    """
    rows = np.array(waypoints)
    segments = len(rows) if repeat else len(rows) - 1
    number = np.floor(time_s / segment_s)
    phase = time_s / segment_s - number
    if not repeat:
        phase = np.where(number >= segments, 1.0, phase)
        number = np.minimum(number, segments - 1)
    first = number.astype(np.int64) % segments
    begin, end = rows[first], rows[(first + 1) % len(rows)]
    u = phase[:, None]
    share = u * u * u * (10.0 + u * (6.0 * u - 15.0))
    slope = 30.0 * u * u * (1.0 + u * (u - 2.0)) / segment_s
    return begin + (end - begin) * share, (end - begin) * slope
