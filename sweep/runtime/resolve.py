"""resolve_plan: a Manifest and parameter values in, a checked and immutable Plan out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from sweep.errors import ClaimConflictError, InvalidInputError, Problem, did_you_mean
from sweep.plan.claims import check_claims
from sweep.plan.clock import Grid
from sweep.plan.component import ModelAdditions
from sweep.plan.custom import UserClassSpec
from sweep.plan.files import FileReader, Files
from sweep.plan.manifest import Manifest, grid_problems, load_manifest
from sweep.plan.metric import MetricSpec
from sweep.plan.plan import ModelImage, Plan
from sweep.plan.problems import unknown_name
from sweep.plan.sections import ModelSpec
from sweep.plan.units import exact_seconds
from sweep.runtime.components import live_class
from sweep.runtime.controller import load_controller
from sweep.runtime.model import load_image, open_model
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.user_class import load_class


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


class Resolver:
    """Resolves many Plans of one sweep; each distinct model is found, checked and compiled once."""

    def __init__(self) -> None:
        self._models: dict[str, tuple[ModelImage, Fraction, ModelIndex]] = {}
        self._files = FileReader()

    def resolve(self, manifest: Manifest | Mapping[str, Any] | str | Path, parameters: Mapping[str, Any]) -> Plan:
        """See :func:`resolve_plan`."""
        if not isinstance(manifest, Manifest):
            manifest = load_manifest(manifest)
        if parameters:
            manifest = with_parameters(manifest, parameters)
        image, timestep, index = self._model(manifest)
        grid = Grid(timestep)
        problems = [*grid_problems(manifest, grid), *_model_problems(manifest, index), *_claim_problems(manifest)]
        files, unreadable = self._files.read(manifest)
        problems += unreadable or _controller_problems(manifest, files)
        if grid.ticks(manifest.runtime.duration_s) < 1:
            problems.append(Problem("runtime.duration_s", "a run has at least one step"))
        if problems:
            raise InvalidInputError("manifest", dict.fromkeys(problems))
        return Plan.of(manifest, grid, image, files)

    def _model(self, manifest: Manifest) -> tuple[ModelImage, Fraction, ModelIndex]:
        spec, stated = manifest.model, manifest.runtime.timestep_s
        # What is applied to the compiled model, lane by lane, does not make another model.
        source: ModelSpec = spec.model_copy(update={"edits": {}, "initial": {}, "keyframe": None})
        additions = [added for added in manifest.additions if added != ModelAdditions()]
        key = json.dumps([source.model_dump(mode="json"), str(manifest.folder), stated, repr(additions)])
        if key not in self._models:
            asked = None if stated is None else exact_seconds(stated)
            image, timestep = load_image(source, manifest.folder, asked, additions)
            self._models[key] = image, timestep, ModelIndex(open_model(image))
        return self._models[key]


def with_parameters(manifest: Manifest, parameters: Mapping[str, Any]) -> Manifest:
    """The manifest with values put in at paths.

    Raises:
        InvalidInputError: a path that does not exist, or a value that is not allowed there.
    """
    document = manifest.document()
    problems = [p for path, value in parameters.items() for p in _put(document, path.removeprefix("manifest."), value)]
    if problems:
        raise InvalidInputError("parameters", problems)
    return load_manifest(document, folder=manifest.folder)


def _put(document: dict[str, Any], path: str, value: Any) -> list[Problem]:
    *parents, leaf = path.split(".")
    place: Any = document
    for word in parents:
        if not isinstance(place, dict) or not isinstance(place.get(word), dict):
            return [_no_such(path, word, place)]
        place = place[word]
    if parents[2:3] in (["parameters"], ["files"]) and leaf not in place:
        return [_no_such(path, leaf, place)]  # user code may ignore what it does not know: nothing would be swept
    place[leaf] = list(value) if isinstance(value, tuple) else value
    return []


def _no_such(path: str, word: str, place: Any) -> Problem:
    if isinstance(place, dict) and word in place:
        return Problem(path, f"{word!r} has no parts; give all of it")
    options = list(place) if isinstance(place, dict) else []
    return Problem(path, f"there is no {word!r}{did_you_mean(word, options)}")


def _model_problems(manifest: Manifest, index: ModelIndex) -> list[Problem]:
    problems: list[Problem] = []
    for name, spec in manifest.components.items():
        problems += live_class(spec).problems(spec, index, f"components.{name}")
        if isinstance(spec, UserClassSpec):
            problems += _class_problems(f"components.{name}.class", spec.class_, manifest.folder, spec.method)
    for name, reference in manifest.references.items():
        problems += index.joint_problems(f"references.{name}.joints", reference.joints)
    for name, metric in manifest.metrics.items():
        problems += _metric_problems(metric, index, f"metrics.{name}")
    for name, edit in manifest.model.edits.items():
        problems += index.edit_problems(f"model.edits.{name}", edit.fields, edit.names)
    problems += _start_problems(manifest.model, index)
    return problems


def _metric_problems(metric: MetricSpec, index: ModelIndex, path: str) -> list[Problem]:
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


def _controller_problems(manifest: Manifest, files: Files) -> list[Problem]:
    problems = []
    for name, controller in manifest.controllers.items():
        try:
            found = load_controller(controller.class_, manifest.folder)
        except InvalidInputError as error:
            problems += [Problem(f"controllers.{name}.class", p.message) for p in error.problems]
            continue
        if hasattr(found, "problems"):
            contents = {role: image.content for role, image in files.get(name, {}).items()}
            problems += [
                Problem(f"controllers.{name}.{p.path}", p.message) for p in found.problems(controller, contents)
            ]
    return problems


def _start_problems(spec: ModelSpec, index: ModelIndex) -> list[Problem]:
    asked = () if spec.keyframe is None else (spec.keyframe,)
    problems = unknown_name("model.keyframe", "keyframe", asked, index.keyframe_names())
    problems += index.joint_problems("model.initial", spec.initial)
    return problems


def _claim_problems(manifest: Manifest) -> list[Problem]:
    try:
        check_claims(claim for name, spec in manifest.components.items() for claim in spec.claims(name))
    except ClaimConflictError as error:
        return list(error.problems)
    return []
