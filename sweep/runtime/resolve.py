"""resolve_plan: a Manifest and parameter values in, a checked and immutable Plan out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.digest import canonical_json
from sweep.errors import ClaimConflictError, InvalidInputError, Problem
from sweep.plan.claims import check_claims
from sweep.plan.clock import Grid
from sweep.plan.component import ComponentSpec, ModelAdditions
from sweep.plan.components import AnyComponent
from sweep.plan.custom import UserClassSpec
from sweep.plan.fields import Section
from sweep.plan.files import FileReader, Files
from sweep.plan.manifest import Manifest, grid_problems, load_manifest, stated_grid
from sweep.plan.metric import MetricSpec
from sweep.plan.parts import PartMemo
from sweep.plan.plan import ModelImage, Plan
from sweep.plan.problems import unknown_name
from sweep.plan.sections import ControllerSpec, ModelEdit, ModelSpec, ReferenceSpec, RuntimeSpec
from sweep.plan.variant import varied_parts, with_parameters
from sweep.runtime.components import live_class
from sweep.runtime.control.controller import load_controller
from sweep.runtime.model import load_image, open_model
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.own.user_class import load_class


def resolve_plan(
    manifest: Manifest | Mapping[str, Any] | str | Path, parameters: Mapping[str, Any] | None = None
) -> Plan:
    """Check a Manifest against its model and compile it to a Plan.

    Args:
        manifest: a loaded Manifest, a document, or its path.
        parameters: manifest path -> value, for example ``{"components.enc.latency_s": 0.002}``.

    Raises:
        InvalidInputError: every problem found, with its path.
    """
    return Resolver().resolve(manifest, parameters or {})


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A compiled model, what its names are, and the grid that it is stepped on."""

    image: ModelImage
    index: ModelIndex
    grid: Grid


class Resolver:
    """Resolves many Plans of one sweep; what they share is found, checked and compiled once: models, files, parts."""

    def __init__(self) -> None:
        self._models: dict[tuple[str, ...], _Compiled] = {}
        self._base: tuple[Plan, ModelIndex] | None = None
        self._files = FileReader()
        self._memo = PartMemo()

    def resolve(self, manifest: Manifest | Mapping[str, Any] | str | Path, parameters: Mapping[str, Any]) -> Plan:
        """See :func:`resolve_plan`."""
        if not isinstance(manifest, Manifest):
            manifest = load_manifest(manifest)
        if not parameters:
            self._base = plan, _ = self._resolved(manifest), self._model(manifest).index
            return plan
        return self._varied(manifest, parameters) or self._resolved(with_parameters(manifest, parameters, self._memo))

    def _varied(self, manifest: Manifest, parameters: Mapping[str, Any]) -> Plan | None:
        """A known manifest's Plan with other numbers; None if more is to be checked than the parts that have them."""
        if self._base is None or self._base[0].manifest is not manifest:
            return None
        base, index = self._base
        parts = varied_parts(manifest, parameters, self._memo)
        if parts is None:
            return None
        checked = (self._memo.of(_is_more, ".".join(part), section, base, index) for part, section in parts.items())
        return None if any(checked) else base.varied(parts, self._memo)

    def _resolved(self, manifest: Manifest) -> Plan:
        model = self._model(manifest)
        files, unreadable = self._memo.of(self._files.read, "controllers", manifest.controllers, manifest.folder)
        problems = [
            *grid_problems(manifest, model.grid, self._memo),
            *_model_problems(manifest, model.index, self._memo),
            *_claim_problems(manifest),
            *(unreadable or _controller_problems(manifest, files, self._memo)),
            *self._memo.of(_duration_problems, "runtime", manifest.runtime, model.grid),
        ]
        if problems:
            raise InvalidInputError("manifest", dict.fromkeys(problems))
        return Plan.of(manifest, model.grid, model.image, files, self._memo)

    def _model(self, manifest: Manifest) -> _Compiled:
        stated, folder = self._memo.of(stated_grid, "runtime", manifest.runtime), manifest.folder
        source, text = self._memo.of(_source, "model", manifest.model)
        additions = [added for added in manifest.additions if added != ModelAdditions()]
        key = (text, str(folder), str(stated), repr(additions))
        if key not in self._models:
            image, timestep = load_image(source, folder, None if stated is None else stated.timestep, additions)
            # Where the document states the grid it is this object, so that what is known of it need not be found again.
            grid = Grid(timestep) if stated is None else stated
            self._models[key] = _Compiled(image, ModelIndex(open_model(image)), grid)
        return self._models[key]


def _is_more(path: str, section: Section, base: Plan, index: ModelIndex) -> bool:
    """Whether a part with other numbers has problems, or shows more than numbers to other parts and to the model."""
    name, folder = path.partition(".")[2], base.manifest.folder
    match section:
        case ModelSpec():
            edits = section.edits.items()
            return bool(_start_problems(path, section, index)) or any(_edit_problems(*edit, index) for edit in edits)
        case ControllerSpec():
            off_grid = section.grid_problems(base.grid, name)
            return bool(off_grid or _one_controller_problems(name, section, folder, base.files))
        case ComponentSpec():
            before, off_grid = base.manifest.components[name], section.grid_problems(base.grid, name)
            shown, known = [(spec.additions(name), spec.claims(name)) for spec in (section, before)]
            return bool(off_grid or shown != known or _component_problems(name, section, index, folder))
    return True


def _source(_: str, spec: ModelSpec) -> tuple[ModelSpec, str]:
    """Where the model comes from, without what is applied to it lane by lane once it is compiled."""
    source = spec.model_copy(update={"edits": {}, "initial": {}, "keyframe": None})
    return source, canonical_json(source.model_dump(mode="json"))


def _model_problems(manifest: Manifest, index: ModelIndex, memo: PartMemo) -> list[Problem]:
    found = (
        memo.each(_component_problems, manifest.components, index, manifest.folder),
        memo.each(_reference_problems, manifest.references, index),
        memo.each(_metric_problems, manifest.metrics, index),
        memo.each(_edit_problems, manifest.model.edits, index),
    )
    problems = [problem for section in found for part in section.values() for problem in part]
    return problems + memo.of(_start_problems, "model", manifest.model, index)


def _component_problems(
    name: str, spec: AnyComponent | ComponentSpec, index: ModelIndex, folder: Path | None
) -> list[Problem]:
    problems: list[Problem] = live_class(spec).problems(spec, index, f"components.{name}")
    if isinstance(spec, UserClassSpec):
        problems += _class_problems(f"components.{name}.class", spec.class_, folder, spec.method)
    return problems


def _reference_problems(name: str, reference: ReferenceSpec, index: ModelIndex) -> list[Problem]:
    return index.joint_problems(f"references.{name}.joints", reference.joints)


def _metric_problems(name: str, metric: MetricSpec, index: ModelIndex) -> list[Problem]:
    path = f"metrics.{name}"
    if metric.site is not None:
        return unknown_name(f"{path}.site", "site", [metric.site], index.names("site"))
    if metric.sensor is not None:
        problems = unknown_name(f"{path}.sensor", "sensor", [metric.sensor], index.names("sensor"))
        entries = 0 if problems else len(index.sensor_columns([metric.sensor]))
        if not problems and metric.entry is not None and not 0 <= metric.entry < entries:
            message = f"sensor {metric.sensor!r} has entries 0 .. {entries - 1}, not {metric.entry}"
            problems.append(Problem(f"{path}.axis", message))
        return problems
    if metric.signal == "control":
        return index.actuator_problems(f"{path}.actuators", metric.elements)
    return index.joint_problems(f"{path}.{'joints' if metric.joint is None else 'joint'}", metric.elements)


def _class_problems(path: str, name: str, folder: Path | None, method: str) -> list[Problem]:
    try:
        load_class(name, folder, method)
    except InvalidInputError as error:
        return [Problem(path, problem.message) for problem in error.problems]
    return []


def _controller_problems(manifest: Manifest, files: Files, memo: PartMemo) -> list[Problem]:
    found = memo.each(_one_controller_problems, manifest.controllers, manifest.folder, files)
    return [problem for part in found.values() for problem in part]


def _one_controller_problems(name: str, controller: ControllerSpec, folder: Path | None, files: Files) -> list[Problem]:
    try:
        found = load_controller(controller.class_, folder)
    except InvalidInputError as error:
        return [Problem(f"controllers.{name}.class", p.message) for p in error.problems]
    if not hasattr(found, "problems"):
        return []
    contents = {role: image.content for role, image in files.get(name, {}).items()}
    return [Problem(f"controllers.{name}.{p.path}", p.message) for p in found.problems(controller, contents)]


def _edit_problems(name: str, edit: ModelEdit, index: ModelIndex) -> list[Problem]:
    return index.edit_problems(f"model.edits.{name}", edit.fields, edit.names, edit.value)


def _start_problems(_: str, spec: ModelSpec, index: ModelIndex) -> list[Problem]:
    asked = () if spec.keyframe is None else (spec.keyframe,)
    problems = unknown_name("model.keyframe", "keyframe", asked, index.keyframe_names())
    problems += index.joint_problems("model.initial", spec.initial)
    return problems


def _duration_problems(_: str, runtime: RuntimeSpec, grid: Grid) -> list[Problem]:
    if grid.ticks(runtime.duration_s) >= 1:
        return []
    return [Problem("runtime.duration_s", "a run has at least one step")]


def _claim_problems(manifest: Manifest) -> list[Problem]:
    try:
        check_claims(claim for name, spec in manifest.components.items() for claim in spec.claims(name))
    except ClaimConflictError as error:
        return list(error.problems)
    return []
