"""SweepSpec: everything a person asked for, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sweep.design.axis import Axis, Value

ExecutorKind = Literal["auto", "inline", "ray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSpec:
    """Where runs execute.

    Attributes:
        kind: ``auto`` chooses by the canary's cost, ``inline`` is this process, ``ray`` a local or existing cluster.
        workers: number of Ray workers, or of threads inline; None means one per core.
        address: an existing Ray cluster; None starts a local one.
        shard_s: wall time a shard should take [s].
    """

    kind: ExecutorKind = "auto"
    workers: int | None = None
    address: str | None = None
    shard_s: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackingSpec:
    """The MLflow mirror: whether, where, and in which experiment (None: the scene's name)."""

    enabled: bool = True
    uri: str | None = None
    experiment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSpec:
    """One sweep as asked.

    Attributes:
        scene: the scene's name.
        scene_dir: folder that relative model files of the manifest are found from; None is the working directory.
        manifest: the base manifest as plain data with nominal axis values filled in.
        axes: the axes that the scene declares, in its order.
        swept: axis name, or full manifest path, to its values in the order given (SI units); last varies fastest.
        seeds: the episode seeds of every cell.
        design: how ``swept`` becomes cells.
        name: an explicit sweep name; None names it after the scene.
        baseline: the cell the others are compared with, as ``axis=value`` pairs; None means nominal, else first.
        output: folder for sweeps, made when something is written.
        executor: where runs execute.
        tracking: the MLflow mirror.
        overrides: the command line's words, for provenance.
    """

    scene: str
    scene_dir: str | None = None
    manifest: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()
    swept: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    seeds: tuple[int, ...]
    design: Literal["grid"] = "grid"
    name: str | None = None
    baseline: Mapping[str, Value] | None = None
    output: str = "sweeps"
    executor: ExecutorSpec = field(default_factory=ExecutorSpec)
    tracking: TrackingSpec = field(default_factory=TrackingSpec)
    overrides: tuple[str, ...] = ()
