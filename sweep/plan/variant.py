"""A manifest with values put in at paths: what a cell of a sweep is of its base."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.fields import Section
from sweep.plan.manifest import Manifest, load_manifest
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
    document = manifest.opened()
    problems = [p for path, value in parameters.items() for p in _put(document, path.removeprefix("manifest."), value)]
    if problems:
        raise InvalidInputError("parameters", problems)
    return load_manifest(document, folder=manifest.folder, memo=memo)


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
