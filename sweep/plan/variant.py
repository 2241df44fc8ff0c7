"""A manifest with values put in at paths: what a cell of a sweep is of its base."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from sweep.digest import canonical_json
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.fields import Section, fields_by_key, with_fields
from sweep.plan.manifest import NAMED_PARTS, Manifest, Part, load_manifest, problems_between, with_parts
from sweep.plan.parts import PartMemo

_Changes = tuple[tuple[str, str], ...]
"""Paths, and the JSON of what is put there."""


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
    parts = _by_part(parameters)
    changed = {part: _changed(manifest.part(part), changes, memo) for part, changes in parts.items()}
    variant = with_parts(manifest, {part: section for part, section in changed.items() if section is not None})
    wrong = {path: value for part, changes in parts.items() if changed[part] is None for path, value in changes.items()}
    if wrong:  # what is wrong with a part shows in the document
        return load_manifest(_document(variant, wrong), folder=manifest.folder, memo=memo)
    if problems := problems_between(variant, memo):
        raise InvalidInputError("manifest", problems)
    return variant


def varied_parts(manifest: Manifest, parameters: Mapping[str, Any], memo: PartMemo) -> dict[Part, Section] | None:
    """The parts with values put in; None if one does not fit, or if a field changes that lanes of one batch share."""
    varied: dict[Part, Section] = {}
    for part, changes in _by_part(parameters).items():
        there = manifest.part(part)
        if there is None or not all(_place(path).field in there.varying for path in changes):
            return None
        changed = _changed(there, changes, memo)
        if changed is None or not memo.of(_is_settled, "", there):  # other fields may change with it
            return None
        varied[part] = changed
    return varied


class _Place(NamedTuple):
    """Where a path leads: a part, the key of its field (none for the part itself), whether to all of the field."""

    part: Part
    field: str
    is_field: bool


@functools.cache
def _place(path: str) -> _Place:
    words = path.split(".")
    depth = 2 if words[0] in NAMED_PARTS else 1
    return _Place(tuple(words[:depth]), "".join(words[depth : depth + 1]), len(words) == depth + 1)


def _by_part(parameters: Mapping[str, Any]) -> dict[Part, dict[str, Any]]:
    """The parameters by the part of the document that they are in."""
    parts: dict[Part, dict[str, Any]] = {}
    for path, value in parameters.items():
        path = path.removeprefix("manifest.")
        parts.setdefault(_place(path).part, {})[path] = value
    return parts


def _changed(there: Section | None, changes: Mapping[str, Any], memo: PartMemo) -> Section | None:
    """A part with values put in; None where there is no such part, or where they do not fit."""
    if there is None:
        return None
    try:
        texts = tuple([(path, canonical_json(value)) for path, value in changes.items()])
    except (TypeError, ValueError):
        return None  # a value that is not plain data
    alone = memo.of(_is_settled, "", there)
    return memo.of(_validated_fields if alone else _validated, texts, there)


def _validated(texts: _Changes, section: Section) -> Section | None:
    document = _changed_fields(section.opened(), texts)
    try:
        return None if document is None else type(section).model_validate(document)
    except ValidationError:
        return None


def _is_settled(_: str, section: Section) -> bool:
    """Whether a section that is validated once more stays what it is, so that other fields need not be."""
    again = type(section).model_validate(section.opened())
    return canonical_json(again.model_dump(mode="json")) == canonical_json(section.model_dump(mode="json"))


def _validated_fields(texts: _Changes, section: Section) -> Section | None:
    names = fields_by_key(type(section))
    places = [_place(path) for path, _ in texts]
    if not all(place.field in names for place in places):
        return _validated(texts, section)
    fields: dict[str, Any] | None
    if all(place.is_field for place in places):
        fields = {place.field: json.loads(text) for place, (_, text) in zip(places, texts, strict=True)}
    else:
        fields = _changed_fields({place.field: getattr(section, names[place.field]) for place in places}, texts)
    try:
        return None if fields is None else with_fields(section, {names[key]: value for key, value in fields.items()})
    except ValueError:
        return None


def _changed_fields(fields: Any, texts: _Changes) -> dict[str, Any] | None:
    """Fields of a part with values put in; None where there is no such place."""
    part = _place(texts[0][0]).part
    for word in reversed(part):
        fields = {word: fields}
    if any(_put(fields, path, json.loads(text)) for path, text in texts):
        return None
    for word in part:
        fields = fields[word]
    return fields if isinstance(fields, dict) else None


def _document(manifest: Manifest, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest as a document with values put in, whether they fit or not.

    Raises:
        InvalidInputError: there are no such places.
    """
    document = manifest.opened()
    problems = [problem for path, value in parameters.items() for problem in _put(document, path, value)]
    if problems:
        raise InvalidInputError("parameters", problems)
    return document


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
