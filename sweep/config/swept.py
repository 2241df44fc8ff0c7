"""The values of swept axes and paths: read, checked one by one against the manifest, told about as typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.config.axes import Bound, field_of
from sweep.config.names import path_problems
from sweep.config.tree import MISSING, lookup, placed
from sweep.config.values import ValueKindError, kind_problem, normalised, same_values
from sweep.config.words import Word
from sweep.design.axis import Value
from sweep.design.cell import shown
from sweep.errors import Problem
from sweep.plan.manifest import problems_of
from sweep.plan.units import unit_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What a swept word sets: manifest paths, the kind of value there, and its SI unit."""

    paths: tuple[str, ...]
    like: Any
    unit: str


def swept_values(
    words: Sequence[Word], scene: Bound, fixed: Mapping[str, str], folder: Path | None, problems: list[Problem]
) -> dict[str, tuple[Value, ...]]:
    """Swept name to its distinct values, in the order of the words.

    Each value is put into the manifest alone, not in every combination: a grid has too many.

    Args:
        words: those of axes, and the swept ones of full paths, among others.
        scene: the axes and the base manifest.
        fixed: manifest path to axis, where a word put a plain value in a binding's place.
        folder: where the manifest's relative files are.
        problems: those of the base manifest, and those that a value adds, are added here.
    """
    if scene.manifest is None:
        return {}
    base = problems_of(scene.manifest, base_dir=folder)
    problems += [Problem(f"manifest.{p.path}" if p.path else "manifest", p.message) for p in base]
    problems += _conflicts(words, scene, fixed)
    swept: dict[str, tuple[Value, ...]] = {}
    for word in words:
        target = _target(word, scene, problems)
        if target is None:
            continue
        swept[word.key] = same_values(_read(word, target, problems))
        for value in swept[word.key]:
            found = problems_of(_with(scene.manifest, target.paths, value), base_dir=folder)
            problems += [Problem(f"{word.key}={shown(value)}", str(p)) for p in found if p not in base]
    return swept


def _target(word: Word, scene: Bound, problems: list[Problem]) -> _Target | None:
    axis = next((axis for axis in scene.axes if axis.name == word.key), None)
    if axis is not None:
        return _Target(paths=axis.bindings, like=axis.nominal, unit=axis.unit)
    if word.root != "manifest" or not word.is_sweep:
        return None
    path = word.key.removeprefix("manifest.")
    like = lookup(scene.manifest, path)
    if missing := path_problems(word, {"manifest": scene.manifest}):
        problems += missing
        return None
    return _Target(paths=(path,), like=None if like is MISSING else like, unit=unit_of(field_of(path)))


def _read(word: Word, target: _Target, problems: list[Problem]) -> list[Value]:
    values: list[Value] = []
    for value in word.values:
        try:
            values.append(normalised(value, target.like, target.unit))
        except ValueKindError as error:
            problems.append(kind_problem(word.key, value, error, target.like, target.unit))
    return values


def _conflicts(words: Sequence[Word], scene: Bound, fixed: Mapping[str, str]) -> Iterator[Problem]:
    """An axis together with a full path that it binds."""
    typed = {word.key: word for word in words}
    for axis in scene.axes:
        own = dict.fromkeys([*axis.bindings, *(path for path, name in fixed.items() if name == axis.name)])
        others = [typed[f"manifest.{path}"].text for path in own if f"manifest.{path}" in typed]
        if axis.name in typed and others:
            text = f"sets the same value as {' and '.join(others)}; leave one out"
            yield Problem(typed[axis.name].text, text)


def _with(manifest: Any, paths: Sequence[str], value: Value) -> Any:
    for path in paths:
        manifest = placed(manifest, path, list(value) if isinstance(value, tuple) else value)
    return manifest
