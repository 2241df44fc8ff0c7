"""Turning validation errors into problems for people: path, what was found, what is allowed, the nearest match."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sweep.errors import GridError, Problem, did_you_mean


def problems_of_validation(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """One problem per place: alternatives of one value are not repeated."""
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        path, owner = _walk(detail["loc"], model)
        problems.setdefault(path, Problem(path, _message(dict(detail), owner)))
    return list(problems.values())


def unknown_name(path: str, kind: str, asked: Iterable[str], existing: Sequence[str]) -> list[Problem]:
    """A problem for each name that does not exist."""
    return [
        Problem(path, f"unknown {kind} {name!r}{did_you_mean(name, existing)}")
        for name in asked
        if name not in existing
    ]


def duration_problems(path: str, read: Callable[[], object]) -> list[Problem]:
    """The problem of a duration that does not fit the grid, if reading it finds one."""
    try:
        read()
    except GridError as error:
        return [Problem(path, error.message.removeprefix(f"{path}: "))]
    return []


def _message(detail: dict[str, Any], owner: type[BaseModel] | None) -> str:
    kind, found = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        fields = [f.alias or n for n, f in owner.model_fields.items()] if owner else []
        return f"unknown key{did_you_mean(str(detail['loc'][-1]), fields)}"
    if kind == "union_tag_invalid":
        tags = [tag.strip().strip("'") for tag in detail["ctx"]["expected_tags"].split(",")]
        return f"unknown type {detail['ctx']['tag']!r}{did_you_mean(str(detail['ctx']['tag']), tags)}"
    if kind == "union_tag_not_found":
        return "needs a type, for example 'type: encoder'"
    if kind == "missing":
        return "is required"
    if kind == "literal_error":
        options = [o.strip().strip("'") for o in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
        return f"{found!r} is not allowed{did_you_mean(str(found), options)}"
    text = detail["msg"].removeprefix("Value error, ").removeprefix("time grid: ")
    text = text[:1].lower() + text[1:]
    return text if isinstance(found, dict | list | tuple) or repr(found) in text else f"{text}, not {found!r}"


def _walk(loc: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, type[BaseModel] | None]:
    """The path as a person writes it, without the tags that pydantic adds for unions, and the model it ends in."""
    words: list[str] = []
    current: Any = model
    owner: type[BaseModel] | None = model
    for part in loc:
        members = _union_members(current)
        tagged = next((m for m in members if _is_model(m) and part in _tags(m)), None)
        if tagged is not None:
            current = owner = tagged
            continue
        if _is_model(current):
            owner = current
            field = next((f for n, f in current.model_fields.items() if part in (n, f.alias)), None)
            words.append(f".{part}")
            current = None if field is None else field.annotation
        elif get_origin(current) is dict:
            words.append(f".{part}")
            current = _plain(get_args(current)[1])
        elif isinstance(part, int):
            words.append(f"[{part}]")
    if _is_model(current):
        owner = current
    return "".join(words).lstrip("."), owner


def _plain(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _union_members(annotation: Any) -> tuple[Any, ...]:
    annotation = _plain(annotation)
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else ()


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("type")
    return get_args(field.annotation) if field is not None else ()
