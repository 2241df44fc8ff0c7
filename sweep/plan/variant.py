"""A manifest with values put in at paths: what a cell of a sweep is of its base."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from sweep.digest import canonical_json
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.fields import Section
from sweep.plan.manifest import NAMED_PARTS, Manifest, load_manifest
from sweep.plan.parts import PartMemo


def with_parameters(manifest: Manifest, parameters: Mapping[str, Any], memo: PartMemo | None = None) -> Manifest:
    """The manifest with values put in at paths; parts that none of them touches are the same objects.

    Args:
        manifest: the base.
        parameters: path to value, for example ``{"components.enc.latency_s": 0.002}``.
        memo: what is known of the base's parts.

    Raises:
        InvalidInputError: a path that does not exist, or a value that is not allowed there.
    """
    memo = memo or PartMemo()
    document = manifest.opened()
    problems: list[Problem] = []
    for part, changes in _by_part(parameters).items():
        if (changed := _changed(document, part, changes, memo)) is not None:
            _place(document, part, changed)
        else:  # what is wrong with a part shows in its document
            problems += [problem for path, value in changes.items() for problem in _put(document, path, value)]
    if problems:
        raise InvalidInputError("parameters", problems)
    return load_manifest(document, folder=manifest.folder, memo=memo)


def _by_part(parameters: Mapping[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """The parameters by the part of the document that they are in: ``("model",)``, ``("components", "enc")``."""
    parts: dict[tuple[str, ...], dict[str, Any]] = {}
    for path, value in parameters.items():
        path = path.removeprefix("manifest.")
        words = path.split(".")
        parts.setdefault(tuple(words[: 2 if words[0] in NAMED_PARTS else 1]), {})[path] = value
    return parts


def _changed(
    document: Mapping[str, Any], part: Sequence[str], changes: Mapping[str, Any], memo: PartMemo
) -> Section | None:
    """A part with values put in; None where there is no such part, or where they do not fit."""
    there: Any = document
    for word in part:
        there = there.get(word) if isinstance(there, Mapping) else None
    if not isinstance(there, Section):
        return None
    try:
        text = canonical_json([part, list(changes.items())])
    except (TypeError, ValueError):
        return None  # a value that is not plain data
    return memo.of(_validated, text, there)


def _validated(text: str, section: Section) -> Section | None:
    part, changes = json.loads(text)
    document: dict[str, Any] = {}
    _place(document, part, section)
    if any(_put(document, path, value) for path, value in changes):
        return None
    for word in part:
        document = document[word]
    try:
        return type(section).model_validate(document)
    except ValidationError:
        return None


def _place(document: dict[str, Any], part: Sequence[str], section: Section) -> None:
    head, *rest = part
    document[head] = {**document.get(head, {}), rest[0]: section} if rest else section


def _put(document: dict[str, Any], path: str, value: Any) -> list[Problem]:
    *parents, leaf = path.split(".")
    place: Any = document
    for word in parents:
        inside = _opened(place, word)
        if not isinstance(inside, dict | list):
            return [_no_such(path, word, place)]
        place = inside
    is_list = isinstance(place, list)
    # User code may ignore what it does not know, and nothing would be swept.
    if (is_list or parents[2:3] in (["parameters"], ["files"])) and not _has(place, leaf):
        return [_no_such(path, leaf, place)]
    place[int(leaf) if is_list else leaf] = list(value) if isinstance(value, tuple) else value
    return []


def _opened(place: dict[str, Any] | list[Any], word: str) -> Any:
    """What stands at a word, in place of it a copy that may be written to; None where there is nothing."""
    if not _has(place, word):
        return None
    key: Any = int(word) if isinstance(place, list) else word
    inside = place[key]
    if isinstance(inside, Section):
        place[key] = inside.opened()
    elif isinstance(inside, dict | list | tuple):
        place[key] = dict(inside) if isinstance(inside, dict) else list(inside)
    return place[key]


def _has(place: dict[str, Any] | list[Any], word: str) -> bool:
    return word in place if isinstance(place, dict) else word.isdecimal() and int(word) < len(place)


def _no_such(path: str, word: str, place: dict[str, Any] | list[Any]) -> Problem:
    if _has(place, word):
        return Problem(path, f"{word!r} has no parts; give all of it")
    options = list(place) if isinstance(place, dict) else [str(index) for index in range(len(place))]
    return Problem(path, f"there is no {word!r}{did_you_mean(word, options)}")
