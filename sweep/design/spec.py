"""SweepSpec: everything a person asked for, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sweep.design.axis import Axis, Value
from sweep.design.interval import Interval
from sweep.design.sampling import Sampling

ExecutorKind = Literal["auto", "inline", "ray"]

DesignKind = Literal["grid", "zip", "star", "list", Sampling]

Taken = tuple[Value, ...] | Interval
"""What is swept over: values in the order given, or an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignSpec:
    """How what is swept becomes points.

    Attributes:
        kind: ``grid``: every combination, the last axis fastest. ``zip``: the first values of all axes, then the
            second ones, an axis with one value has it throughout; so does ``list``, whose values stand in a file.
            ``star``: one axis at a time, the others stay at the center. ``random``, ``lhs``, ``sobol``: ``n`` points
            all over the axes (:func:`sweep.design.sampling.unit_points`); the values of an axis without an interval
            get equal shares.
        n: number of points that are sampled.
        seed: of the sampling; it has nothing to do with the episodes' seeds.
        levels: number of values that an interval gives where nothing is sampled, its ends among them.
        digits: decimal digits that values of an interval are rounded to (:meth:`sweep.design.interval.Interval.at`);
            None for all that a float has.
        center: whether the center, which a star has in any case, comes first: every axis at its nominal value, or at
            that of the explicit baseline.
        file: where the values of ``list`` stand.
    """

    kind: DesignKind = "grid"
    n: int = 16
    seed: int = 0
    levels: int | None = None
    digits: int | None = 6
    center: bool = False
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSpec:
    """Where runs execute.

    Attributes:
        kind: ``auto`` chooses by the canary's cost, ``inline`` is this process, ``ray`` a local or existing cluster.
        workers: number of Ray workers, or of threads inline; None means one per core.
        address: an existing Ray cluster; None starts a local one.
        shard_s: wall time a shard should take [s].
        timeout_s: wall time that one call, a shard or a run alone, may take [s]; None is no limit.
    """

    kind: ExecutorKind = "auto"
    workers: int | None = None
    address: str | None = None
    shard_s: float = 5.0
    timeout_s: float | None = 1800.0


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
        swept: axis name, or full manifest path, to what it is swept over (SI units).
        seeds: the episode seeds of every cell.
        design: how ``swept`` becomes points.
        exclude: a condition (:func:`sweep.design.exclusion.condition`); points that meet it are left out.
        name: an explicit sweep name; None names it after the scene.
        baseline: the cell the others are compared with, as ``axis=value`` pairs; None means nominal, else first.
        output: folder for sweeps, made when something is written.
        canary: whether the sweep is looked at before it runs: that every axis lands, that controllers keep lanes apart,
            that the first run does not fault.
        stop_after: failures after which no more runs are begun; None goes on whatever fails.
        executor: where runs execute.
        tracking: the MLflow mirror.
        overrides: the command line's words, for provenance and to resume.
        config_dirs: the user's folders of configuration, absolute.
        config_name: the primary configuration.
    """

    scene: str
    scene_dir: str | None = None
    manifest: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()
    swept: Mapping[str, Taken] = field(default_factory=dict)
    seeds: tuple[int, ...]
    design: DesignSpec = field(default_factory=DesignSpec)
    exclude: str | None = None
    name: str | None = None
    baseline: Mapping[str, Value] | None = None
    output: str = "sweeps"
    canary: bool = True
    stop_after: int | None = None
    executor: ExecutorSpec = field(default_factory=ExecutorSpec)
    tracking: TrackingSpec = field(default_factory=TrackingSpec)
    overrides: tuple[str, ...] = ()
    config_dirs: tuple[str, ...] = ()
    config_name: str = "config"
