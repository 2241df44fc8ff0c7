"""Plan: a Manifest with one set of parameter values, checked against its model; all of an episode but its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sweep.digest import content_id
from sweep.plan.clock import Grid
from sweep.plan.files import Files, with_digests
from sweep.plan.manifest import Manifest

if TYPE_CHECKING:
    from sweep.runtime.instance import SimulationInstance

NOT_OF_THE_PLAN: Mapping[str, set[str]] = {
    "runtime": {"mode", "episode_seed", "max_block", "derived_state", "trace"},
    "model": {"file", "package", "xml"},
}
"""What a Plan's identity leaves out: the seed, how it is executed, and where the model's text lies."""


@dataclass(frozen=True, slots=True)
class ModelImage:
    """A compiled model as bytes, shared by all Plans that differ in numbers only.

    Attributes:
        source_id: digest of the source: XML, its assets, and what was changed at load.
        binary: the compiled model, readable by the same MuJoCo version.
        files: the source files by name, digested, for provenance.
    """

    source_id: str
    binary: bytes = field(repr=False, compare=False)
    files: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything about an episode but its seed; immutable, and plain enough to travel.

    Attributes:
        plan_id: digest of the resolved manifest and of the source model.
        layout: digest of what lanes of one batch must share.
        manifest: the resolved manifest.
        grid: the physics grid.
        horizon: length of a run [ticks].
        model: the compiled model.
        files: what the controllers' files hold.
    """

    plan_id: str
    layout: str
    manifest: Manifest
    grid: Grid
    horizon: int
    model: ModelImage
    files: Files = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, manifest: Manifest, grid: Grid, model: ModelImage, files: Files) -> Plan:
        """The Plan of a manifest that has been checked against its model."""
        return cls(
            plan_id=_plan_id(manifest, grid, model, files),
            layout=_layout(manifest, grid, model, files),
            manifest=manifest,
            grid=grid,
            horizon=grid.ticks(manifest.runtime.duration_s),
            model=model,
            files=files,
        )

    def instantiate(self, seed: int | None = None) -> SimulationInstance:
        """A live, independent Instance of this Plan.

        Args:
            seed: the episode seed, 0 .. 2**64-1; the manifest's ``runtime.episode_seed`` by default.
        """
        from sweep.runtime.instance import SimulationInstance

        return SimulationInstance(self, seed)


def run_id(plan_id: str, seed: int) -> str:
    """The id of one run: digest of its plan and seed."""
    return content_id([plan_id, seed])


def _plan_id(manifest: Manifest, grid: Grid, model: ModelImage, files: Files) -> str:
    document = manifest.model_dump(mode="json", by_alias=True, exclude=NOT_OF_THE_PLAN)
    document["controllers"] = with_digests(document["controllers"], files)
    return content_id({"manifest": document, "timestep": str(grid.timestep), "model": model.source_id})


def _layout(manifest: Manifest, grid: Grid, model: ModelImage, files: Files) -> str:
    document = manifest.model_dump(mode="json", by_alias=True, include={"metrics"})
    document["components"] = {name: spec.structure() for name, spec in manifest.components.items()}
    controllers = {
        name: {
            **spec.model_dump(
                mode="json", by_alias=True, exclude={"parameters", "compute_latency_s", "period_s", "phase_s"}
            ),
            "schedule": [str(spec.schedule(grid, name).period), str(spec.schedule(grid, name).phase)],
            "parameters": {key: _shape(value) for key, value in spec.parameters.items()},
        }
        for name, spec in manifest.controllers.items()
    }
    document["controllers"] = with_digests(controllers, files)
    document["references"] = {n: [r.type, r.joints] for n, r in manifest.references.items()}
    document["edits"] = {n: [e.fields, e.names, e.scale is None] for n, e in manifest.model.edits.items()}
    document["start"] = [manifest.model.keyframe, sorted(manifest.model.initial)]
    document["horizon"] = grid.ticks(manifest.runtime.duration_s)
    document["timestep"] = str(grid.timestep)
    document["model"] = model.source_id
    return content_id(document)


def _shape(value: Any) -> Any:
    """What lanes must share of a controller's parameter: the shape of numbers, the value of anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    if isinstance(value, list | tuple):
        shapes = [_shape(item) for item in value]
        # Only a rectangle of numbers can stand in an array beside another lane's.
        if all(shape == shapes[0] and "is" not in shape for shape in shapes):
            return [len(shapes), *shapes[:1]]
    return {"is": value}
