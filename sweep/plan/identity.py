"""Ids of Plans: digests of canonical JSON, which is put together from the texts of the manifest's parts.

A Plan with other numbers in some fields has its base's texts with gaps, into which only these fields' texts go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sweep.digest import canonical_json, joined_json, text_id
from sweep.plan.clock import Grid
from sweep.plan.component import ComponentSpec
from sweep.plan.fields import Section, is_alike
from sweep.plan.files import Files, with_digests
from sweep.plan.manifest import Manifest, Part
from sweep.plan.parts import PartMemo
from sweep.plan.sections import ControllerSpec, ModelSpec, ReferenceSpec, RuntimeSpec
from sweep.plan.template import Template, gap

if TYPE_CHECKING:
    from sweep.plan.plan import ModelImage, Plan

NOT_OF_THE_PLAN: Mapping[str, set[str]] = {
    "runtime": {"mode", "episode_seed", "max_block", "derived_state", "trace", "unbatched", "max_lanes"},
    "model": {"file", "package", "xml"},
}
"""What a Plan's identity leaves out: the seed, how it is executed, and where the model's text lies."""

_Texts = Mapping[str, str | Mapping[str, str]]
"""A document as canonical JSON: of its sections, or of their parts by name."""


class Change(NamedTuple):
    """A part of a manifest, before and after fields that lanes may differ in got other values.

    Attributes:
        place: where it is, ``components.enc``.
        name: its name there.
        before: the part ...
        after: ... and what replaces it.
        fields: those that are other objects now.
    """

    place: str
    name: str
    before: Section
    after: Section
    fields: tuple[str, ...]


def changes(manifest: Manifest, parts: Mapping[Part, Section]) -> list[Change]:
    """What other parts change of a manifest.

    Args:
        manifest: the base.
        parts: what replaces which; they differ in fields that lanes may differ in.

    Raises:
        KeyError: the manifest has no such part.
    """
    return [_change(manifest.part(place), after, place) for place, after in parts.items()]


def _change(before: Section | None, after: Section, place: Part) -> Change:
    if before is None:
        raise KeyError(place)
    old, new = before.__dict__, after.__dict__
    fields = tuple([name for name in before.varying if new[name] is not old[name]])
    return Change(".".join(place), place[-1], before, after, fields)


# The id


def plan_id(manifest: Manifest, grid: Grid, model: ModelImage, files: Files, memo: PartMemo) -> str:
    """Digest of a resolved manifest and of the source model."""
    return text_id(_plan_text(_plan_texts(manifest, files, memo), memo.of(_ground, "model", model, grid)))


def varied_plan_id(base: Plan, changed: Iterable[Change], memo: PartMemo) -> str:
    """The :func:`plan_id` of a Plan with changed parts."""
    texts = {change.place: _varied_text(change, base.files, memo) for change in changed}
    return text_id(memo.of(_plan_template, tuple(texts), base).filled(texts))


def _plan_texts(manifest: Manifest, files: Files, memo: PartMemo) -> _Texts:
    return {
        "schema": memo.of(_json, "schema", manifest.schema_),
        "model": memo.of(_text, "model", manifest.model, files),
        "runtime": memo.of(_text, "runtime", manifest.runtime, files),
        "components": memo.each(_text, manifest.components, files),
        "controllers": memo.each(_text, manifest.controllers, files),
        "references": memo.each(_text, manifest.references, files),
        "metrics": memo.each(_text, manifest.metrics, files),
    }


def _plan_text(texts: _Texts, ground: Mapping[str, str]) -> str:
    return joined_json({"manifest": _joined(texts), **ground})


def _plan_template(places: Iterable[str], base: Plan) -> Template:
    texts = _plan_texts(base.manifest, base.files, PartMemo())
    return Template(_plan_text(_with_gaps(texts, places), _ground("model", base.model, base.grid)))


def _json(_: str, value: object) -> str:
    return canonical_json(value)


def _ground(_: str, model: ModelImage, grid: Grid) -> dict[str, str]:
    return {"timestep": canonical_json(str(grid.timestep)), "model": canonical_json(model.source_id)}


def _text(name: str, part: Section, files: Files) -> str:
    return canonical_json(_document(name, part, files))


def _varied_text(change: Change, files: Files, memo: PartMemo) -> str:
    template = memo.of(_part_template, (change.name, change.fields), change.before, files)
    return template.filled({name: _field_text(change.after, name) for name in change.fields})


def _part_template(key: tuple[str, tuple[str, ...]], part: Section, files: Files) -> Template:
    name, fields = key
    gaps = {_key(part, field): gap(field) for field in fields}
    rest = {key: value for key, value in _document(name, part, files).items() if key not in gaps}
    return Template(joined_json({**gaps, **{key: canonical_json(value) for key, value in rest.items()}}))


def _key(part: Section, field: str) -> str:
    return type(part).model_fields[field].alias or field


def _field_text(part: Section, name: str) -> str:
    value = part.__dict__[name]
    if type(value) is not float:
        (value,) = part.model_dump(mode="json", by_alias=True, include={name}).values()
    return canonical_json(value)


def _document(name: str, part: Section, files: Files) -> dict[str, Any]:
    """What a Plan's identity has of a part."""
    section = {ModelSpec: "model", RuntimeSpec: "runtime"}.get(type(part), "")
    document = part.model_dump(mode="json", by_alias=True, exclude=NOT_OF_THE_PLAN.get(section))
    return _digested(name, document, files) if isinstance(part, ControllerSpec) else document


def _digested(name: str, document: dict[str, Any], files: Files) -> dict[str, Any]:
    return with_digests({name: document}, {name: files[name]} if name in files else {})[name]


# The layout


def layout(manifest: Manifest, grid: Grid, model: ModelImage, files: Files, memo: PartMemo) -> str:
    """Digest of what lanes of one batch must share."""
    horizon = memo.of(horizon_ticks, "runtime", manifest.runtime, grid)
    ground = memo.of(_ground, "model", model, grid)
    return text_id(_joined({**_layout_texts(manifest, grid, files, memo), **ground, "horizon": str(horizon)}))


def varied_layout(base: Plan, changed: Iterable[Change], memo: PartMemo) -> str:
    """The :func:`layout` of a Plan with changed parts."""
    texts: dict[str, str] = {}
    for change in changed:
        if not _lies_alike(change):
            texts |= _varied_structure(change, base, memo)
    return text_id(memo.of(_layout_template, tuple(texts), base).filled(texts)) if texts else base.layout


def horizon_ticks(_: str, runtime: RuntimeSpec, grid: Grid) -> int:
    """Length of a run [ticks]."""
    return grid.ticks(runtime.duration_s)


def _layout_texts(manifest: Manifest, grid: Grid, files: Files, memo: PartMemo) -> _Texts:
    return {
        **memo.of(_model_structure, "model", manifest.model),
        "components": memo.each(_structure, manifest.components),
        "controllers": memo.each(_controller_structure, manifest.controllers, grid, files),
        "references": memo.each(_reference_structure, manifest.references),
        "metrics": memo.each(_text, manifest.metrics, files),
    }


def _layout_template(places: Iterable[str], base: Plan) -> Template:
    texts = _with_gaps(_layout_texts(base.manifest, base.grid, base.files, PartMemo()), places)
    return Template(_joined({**texts, **_ground("model", base.model, base.grid), "horizon": str(base.horizon)}))


def _lies_alike(change: Change) -> bool:
    """Whether a part differs in nothing but numbers, so that it is the same in a layout."""
    before, after = change.before.__dict__, change.after.__dict__
    if isinstance(change.before, ControllerSpec) and any(before[key] != after[key] for key in ("period_s", "phase_s")):
        return False
    return all(is_alike(before[name], after[name]) for name in change.fields)


def _varied_structure(change: Change, base: Plan, memo: PartMemo) -> dict[str, str]:
    """What a layout has of a changed part, by place."""
    name, after = change.name, change.after
    if isinstance(after, ModelSpec):
        return _model_structure(name, after)
    if isinstance(after, ControllerSpec):
        shared = memo.of(_shared_of_controller, name, change.before, base.files)
        shapes = memo.of(_shapes, name, after.parameters)
        return {change.place: joined_json({**shared, **_schedule(name, after, base.grid), **shapes})}
    assert isinstance(after, ComponentSpec)  # no other part has fields that lanes may differ in
    return {change.place: _structure(name, after)}


def _structure(_: str, spec: ComponentSpec) -> str:
    return canonical_json(spec.structure())


def _controller_structure(name: str, spec: ControllerSpec, grid: Grid, files: Files) -> str:
    shared, shapes = _shared_of_controller(name, spec, files), _shapes(name, spec.parameters)
    return joined_json({**shared, **_schedule(name, spec, grid), **shapes})


def _shared_of_controller(name: str, spec: ControllerSpec, files: Files) -> dict[str, str]:
    document = spec.model_dump(mode="json", by_alias=True, exclude=set(spec.varying))
    return {key: canonical_json(value) for key, value in _digested(name, document, files).items()}


def _schedule(name: str, spec: ControllerSpec, grid: Grid) -> dict[str, str]:
    schedule = spec.schedule(grid, name)
    return {"schedule": f'["{schedule.period}","{schedule.phase}"]'}


def _shapes(_: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    return {"parameters": canonical_json({key: _shape(value) for key, value in parameters.items()})}


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


# Both


def _joined(texts: _Texts) -> str:
    return joined_json({key: text if isinstance(text, str) else joined_json(text) for key, text in texts.items()})


def _with_gaps(texts: _Texts, places: Iterable[str]) -> _Texts:
    """The texts with a gap at each place, that of a section or of a part in it."""
    opened = {key: text if isinstance(text, str) else dict(text) for key, text in texts.items()}
    for place in places:
        head, _, name = place.partition(".")
        section = opened[head]
        if isinstance(section, dict):
            section[name] = gap(place)
        else:
            opened[head] = gap(place)
    return opened
