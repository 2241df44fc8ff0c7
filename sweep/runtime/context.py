"""What the live parts of a batch are built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sweep.plan.clock import Grid
from sweep.plan.files import Files
from sweep.plan.sections import ReferenceSpec
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.reference import ReferenceTable

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """Shared facts of one batch.

    Attributes:
        lanes: number of lanes.
        index: names and addresses of the nominal model.
        grid: the physics grid.
        seeds: episode seed of each lane.
        references: the reference trajectories, by id.
        keep_events: whether components remember their events.
        files: what the controllers' files hold.
        folder: the manifest's folder, where the user's modules may lie.
    """

    lanes: int
    index: ModelIndex
    grid: Grid
    seeds: Sequence[int]
    references: Mapping[str, ReferenceTable]
    keep_events: bool
    files: Files = field(default_factory=dict)
    folder: Path | None = None

    @property
    def state_width(self) -> int:
        """Columns of a boundary row: time, qpos, qvel, act."""
        model = self.index.model
        return 1 + int(model.nq) + int(model.nv) + int(model.na)

    def position_columns(self, joints: Sequence[str]) -> NDArray[np.intp]:
        """Where joint positions stand in a boundary row."""
        return 1 + self.index.qpos(joints)

    def velocity_columns(self, joints: Sequence[str]) -> NDArray[np.intp]:
        """Where joint velocities stand in a boundary row."""
        return 1 + int(self.index.model.nq) + self.index.qvel(joints)


def per_lane_values(specs: Sequence[S], value: Callable[[S], Any], dtype: Any = np.float64) -> NDArray[Any]:
    """A parameter of every lane as one array, ``(lanes, ...)``."""
    return np.array([value(spec) for spec in specs], dtype)


def reference_tables(specs: Sequence[Mapping[str, ReferenceSpec]], grid: Grid) -> dict[str, ReferenceTable]:
    """The references of a batch; ``specs`` holds each lane's."""
    return {name: ReferenceTable([lane[name] for lane in specs], grid) for name in specs[0]}
