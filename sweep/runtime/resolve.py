"""resolve_plan: a Manifest and parameter values in, a checked and immutable Plan out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from sweep.errors import ClaimConflictError, InvalidInputError, Problem, did_you_mean
from sweep.plan.claims import check_claims
from sweep.plan.clock import Grid
from sweep.plan.component import ModelAdditions
from sweep.plan.manifest import Manifest, grid_problems, load_manifest
from sweep.plan.plan import ModelImage, Plan
from sweep.plan.problems import unknown_name
from sweep.plan.sections import ModelSpec
from sweep.plan.units import exact_seconds
from sweep.runtime.components import live_class
from sweep.runtime.controller import load_controller
from sweep.runtime.model import load_image, open_model
from sweep.runtime.model_index import ModelIndex


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
        self._checked: set[str] = set()

    def resolve(self, manifest: Manifest | Mapping[str, Any] | str | Path, parameters: Mapping[str, Any]) -> Plan:
        """See :func:`resolve_plan`."""
        if not isinstance(manifest, Manifest):
            manifest = load_manifest(manifest)
        if parameters:
            manifest = with_parameters(manifest, parameters)
        image, timestep, index = self._model(manifest)
        grid = Grid(timestep)
        problems = [*grid_problems(manifest, grid), *_model_problems(manifest, index), *_claim_problems(manifest)]
        problems += self._controller_problems(manifest)
        if grid.ticks(manifest.runtime.duration_s) < 1:
            problems.append(Problem("runtime.duration_s", "a run has at least one step"))
        if problems:
            raise InvalidInputError("manifest", dict.fromkeys(problems))
        return Plan.of(manifest, grid, image)

    def _model(self, manifest: Manifest) -> tuple[ModelImage, Fraction, ModelIndex]:
        spec, stated = manifest.model, manifest.runtime.timestep_s
        # What is applied to the compiled model, lane by lane, does not make another model.
        source: ModelSpec = spec.model_copy(update={"edits": {}, "initial": {}, "keyframe": None})
        additions = [added for n, c in manifest.components.items() if (added := c.additions(n)) != ModelAdditions()]
        key = json.dumps([source.model_dump(mode="json"), str(manifest.folder), stated, repr(additions)])
        if key not in self._models:
            asked = None if stated is None else exact_seconds(stated)
            image, timestep = load_image(source, manifest.folder, asked, additions)
            self._models[key] = image, timestep, ModelIndex(open_model(image))
        return self._models[key]

    def _controller_problems(self, manifest: Manifest) -> list[Problem]:
        problems = []
        for name, controller in manifest.controllers.items():
            if controller.class_ in self._checked:
                continue
            try:
                load_controller(controller.class_, manifest.folder)
                self._checked.add(controller.class_)
            except InvalidInputError as error:
                problems += [Problem(f"controllers.{name}.class", p.message) for p in error.problems]
        return problems


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
    if parents[:1] == ["controllers"] and parents[2:3] == ["parameters"] and leaf not in place:
        return [_no_such(path, leaf, place)]  # a controller may ignore what it does not know: nothing would be swept
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
    for name, reference in manifest.references.items():
        problems += index.joint_problems(f"references.{name}.joints", reference.joints)
    for name, metric in manifest.metrics.items():
        if metric.signal == "control":
            problems += index.actuator_problems(f"metrics.{name}.actuators", metric.elements)
        else:
            field = "joints" if metric.joint is None else "joint"
            problems += index.joint_problems(f"metrics.{name}.{field}", metric.elements)
    for name, edit in manifest.model.edits.items():
        problems += index.edit_problems(f"model.edits.{name}", edit.fields, edit.names)
    problems += _start_problems(manifest.model, index)
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


def start_state(manifest: Manifest, model: mujoco.MjModel) -> mujoco.MjData:
    """The state an episode of this manifest starts from: reset, keyframe, initial joint positions."""
    data = mujoco.MjData(model)
    if manifest.model.keyframe is None:
        mujoco.mj_resetData(model, data)
    else:
        mujoco.mj_resetDataKeyframe(model, data, model.key(manifest.model.keyframe).id)
    for joint, position in manifest.model.initial.items():
        data.qpos[model.joint(joint).qposadr[0]] = np.float64(position)
    return data
