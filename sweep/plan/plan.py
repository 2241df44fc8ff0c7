"""Plan: a Manifest with one set of parameter values, checked against its model; all of an episode but its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sweep.digest import canonical_json, joined_json, text_id
from sweep.plan.clock import Grid
from sweep.plan.component import ComponentSpec
from sweep.plan.fields import Section, is_alike
from sweep.plan.files import Files, with_digests
from sweep.plan.manifest import Manifest, Part, with_parts
from sweep.plan.parts import PartMemo
from sweep.plan.sections import ControllerSpec, ModelSpec, ReferenceSpec, RuntimeSpec

if TYPE_CHECKING:
    from sweep.runtime.instance import SimulationInstance

NOT_OF_THE_PLAN: Mapping[str, set[str]] = {
    "runtime": {"mode", "episode_seed", "max_block", "derived_state", "trace", "unbatched", "max_lanes"},
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
    def of(cls, manifest: Manifest, grid: Grid, model: ModelImage, files: Files, memo: PartMemo | None = None) -> Plan:
        """The Plan of a manifest that has been checked against its model.

        Args:
            manifest: what is simulated.
            grid: the physics grid.
            model: the compiled model.
            files: what the controllers' files hold.
            memo: what is known of the manifest's parts.
        """
        memo = memo or PartMemo()
        horizon = memo.of(_horizon, "runtime", manifest.runtime, grid)
        return cls(
            plan_id=_plan_id(manifest, grid, model, files, memo),
            layout=_layout(manifest, grid, model, files, memo),
            manifest=manifest,
            grid=grid,
            horizon=horizon,
            model=model,
            files=files,
        )

    def varied(self, parts: Mapping[Part, Section], memo: PartMemo) -> Plan:
        """The Plan with other parts, which have been checked: fields that lanes may differ in have other values.

        Args:
            parts: what replaces which.
            memo: what is known of the manifest's parts.
        """
        manifest = with_parts(self.manifest, parts)
        other = {place: part for place, part in parts.items() if not _lies_alike(self.manifest.part(place), part)}
        lying = with_parts(self.manifest, other)
        return replace(
            self,
            manifest=manifest,
            plan_id=_plan_id(manifest, self.grid, self.model, self.files, memo),
            layout=_layout(lying, self.grid, self.model, self.files, memo) if other else self.layout,
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
    return text_id(f'["{plan_id}",{seed}]')  # the canonical JSON of both: a sweep has many runs


# Ids are digests of canonical JSON, which is put together from the texts of the manifest's parts.


def _plan_id(manifest: Manifest, grid: Grid, model: ModelImage, files: Files, memo: PartMemo) -> str:
    document = {
        "schema": memo.of(_json, "schema", manifest.schema_),
        "model": memo.of(_section_text, "model", manifest.model),
        "runtime": memo.of(_section_text, "runtime", manifest.runtime),
        "components": joined_json(memo.each(_text, manifest.components)),
        "controllers": joined_json(memo.each(_controller_text, manifest.controllers, files)),
        "references": joined_json(memo.each(_text, manifest.references)),
        "metrics": joined_json(memo.each(_text, manifest.metrics)),
    }
    return text_id(joined_json({"manifest": joined_json(document), **memo.of(_ground, "model", model, grid)}))


def _layout(manifest: Manifest, grid: Grid, model: ModelImage, files: Files, memo: PartMemo) -> str:
    document = {
        **memo.of(_model_structure, "model", manifest.model),
        **memo.of(_ground, "model", model, grid),
        "horizon": str(memo.of(_horizon, "runtime", manifest.runtime, grid)),
        "components": joined_json(memo.each(_structure, manifest.components)),
        "controllers": joined_json(memo.each(_controller_structure, manifest.controllers, grid, files)),
        "references": joined_json(memo.each(_reference_structure, manifest.references)),
        "metrics": joined_json(memo.each(_text, manifest.metrics)),
    }
    return text_id(joined_json(document))


def _lies_alike(before: Section | None, after: Section) -> bool:
    """Whether two parts differ in nothing but numbers, so that they are the same in a layout."""
    if isinstance(before, ControllerSpec) and isinstance(after, ControllerSpec):
        return (before.period_s, before.phase_s) == (after.period_s, after.phase_s) and is_alike(before, after)
    return is_alike(before, after)


def _horizon(_: str, runtime: RuntimeSpec, grid: Grid) -> int:
    return grid.ticks(runtime.duration_s)


def _json(_: str, value: object) -> str:
    return canonical_json(value)


def _ground(_: str, model: ModelImage, grid: Grid) -> dict[str, str]:
    return {"timestep": canonical_json(str(grid.timestep)), "model": canonical_json(model.source_id)}


def _section_text(name: str, section: Section) -> str:
    return canonical_json(section.model_dump(mode="json", by_alias=True, exclude=NOT_OF_THE_PLAN[name]))


def _text(_: str, part: Section) -> str:
    return canonical_json(part.model_dump(mode="json", by_alias=True))


def _controller_text(name: str, spec: ControllerSpec, files: Files) -> str:
    return _digested(name, spec.model_dump(mode="json", by_alias=True), files)


def _digested(name: str, document: dict[str, Any], files: Files) -> str:
    return canonical_json(with_digests({name: document}, {name: files[name]} if name in files else {})[name])


def _structure(_: str, spec: ComponentSpec) -> str:
    return canonical_json(spec.structure())


def _controller_structure(name: str, spec: ControllerSpec, grid: Grid, files: Files) -> str:
    schedule = spec.schedule(grid, name)
    document = {
        **spec.model_dump(mode="json", by_alias=True, exclude=set(spec.varying)),
        "schedule": [str(schedule.period), str(schedule.phase)],
        "parameters": {key: _shape(value) for key, value in spec.parameters.items()},
    }
    return _digested(name, document, files)


def _reference_structure(_: str, spec: ReferenceSpec) -> str:
    return canonical_json([spec.type, spec.joints])


def _model_structure(_: str, spec: ModelSpec) -> dict[str, str]:
    edits = {name: [edit.fields, edit.names, edit.scale is None] for name, edit in spec.edits.items()}
    return {"edits": canonical_json(edits), "start": canonical_json([spec.keyframe, sorted(spec.initial)])}


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
