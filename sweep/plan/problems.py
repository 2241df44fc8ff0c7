"""Turning validation errors into problems for people: path, what was found, what is allowed, the nearest match."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from sweep.errors import GridError, InvalidInputError, Problem, did_you_mean


def problems_of_validation(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """One problem per place: alternatives of one value are not repeated."""
    problems: dict[str, Problem] = {}
    for detail in error.errors(include_url=False):
        path, owner, tags = _walk(detail["loc"], model)
        problems.setdefault(path, Problem(path, _message(dict(detail), owner, tags)))
    return list(problems.values())


def unknown_name(path: str, kind: str, asked: Iterable[str], existing: Sequence[str]) -> list[Problem]:
    """A problem for each name that does not exist; an element of a model without a name is none of those that do."""
    unknown = [name for name in asked if not name or name not in existing]
    named = [name for name in existing if name] if unknown else []
    return [Problem(path, f"unknown {kind} {name!r}{did_you_mean(str(name), named)}") for name in unknown]


def duration_problems(path: str, read: Callable[[], object]) -> list[Problem]:
    """The problem of a duration that does not fit the grid, if reading it finds one."""
    try:
        read()
    except GridError as error:
        return [Problem(path, error.message.removeprefix(f"{path}: "))]
    return []


def _message(detail: dict[str, Any], owner: type[BaseModel] | None, tags: Sequence[str]) -> str:
    kind, found = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        fields = [f.alias or n for n, f in owner.model_fields.items()] if owner else []
        return f"unknown key{did_you_mean(str(detail['loc'][-1]), fields)}"
    if kind == "union_tag_invalid":
        expected = [tag.strip().strip("'") for tag in detail["ctx"]["expected_tags"].split(",")]
        return f"unknown type {detail['ctx']['tag']!r}{did_you_mean(str(detail['ctx']['tag']), expected)}"
    if kind == "union_tag_not_found":
        return "needs a type" + "".join(f", for example 'type: {tag}'" for tag in tags[:1])
    if kind == "missing":
        return "is required"
    if kind == "literal_error":
        options = [o.strip().strip("'") for o in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
        return f"{found!r} is not allowed{did_you_mean(str(found), options)}"
    raised = detail.get("ctx", {}).get("error")
    text = raised.problems[0].message if isinstance(raised, InvalidInputError) else detail["msg"]
    text = text.removeprefix("Value error, ") if raised is not None else text[:1].lower() + text[1:]
    return text if isinstance(found, dict | list | tuple) or repr(found) in text else f"{text}, not {found!r}"


def _walk(loc: tuple[int | str, ...], model: type[BaseModel]) -> tuple[str, type[BaseModel] | None, list[str]]:
    """Where a problem is.

    Returns:
        The path as a person writes it, without the tags that pydantic adds for unions; the model it ends in; and, if it
        ends in alternatives, their tags.
    """
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
            current = None if field is None else _plain(field.annotation)
        elif get_origin(current) is dict:
            words.append(f".{part}")
            current = _plain(get_args(current)[1])
        elif isinstance(part, int):
            words.append(f"[{part}]")
    if _is_model(current):
        owner = current
    tags = [tag for member in _union_members(current) if _is_model(member) for tag in _tags(member)]
    return "".join(words).lstrip("."), owner, tags


def _plain(annotation: Any) -> Any:
    """A type without its annotations, and without None where that is the only alternative."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    given = [member for member in _union_members(annotation) if member is not types.NoneType]
    return _plain(given[0]) if len(given) == 1 else annotation


def _union_members(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else ()


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("type")
    return get_args(field.annotation) if field is not None else ()
