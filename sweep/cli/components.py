"""What components there are, and what each is told: read off the specifications and their docstrings."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, get_args

from sweep.cli.docstrings import meaning_and_unit, prose, summary
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.component import Capability, ComponentSpec
from sweep.plan.components import AnyComponent
from sweep.plan.fields import Section
from sweep.plan.transport import TransportSpec

WIDTH = 80
_DEFAULT_COLUMN = 46


def component_types() -> dict[str, type[ComponentSpec]]:
    """Every component's specification, by its ``type``."""
    union, *_ = get_args(AnyComponent)
    return {_tag(spec): spec for spec in get_args(union)}


def listed() -> list[str]:
    """All components by capability, one line each."""
    types, lines = component_types(), list[str]()
    width = max(map(len, types)) + 4
    for capability in Capability:
        of_it = {name: spec for name, spec in types.items() if spec.capability == capability}
        lines += [f"{_words(capability)}s"] if of_it else []
        lines += [_shortened(f"  {name}".ljust(width), summary(spec)) for name, spec in of_it.items()]
    return [*lines, "", "python -m sweep components NAME tells what one is told, with an example."]


def described(name: str) -> list[str]:
    """One component: what it is, its parameters, its noise streams, an example.

    Raises:
        InvalidInputError: there is no such component.
    """
    types = component_types()
    if name not in types:
        raise InvalidInputError("components", [Problem(name, f"unknown component{did_you_mean(name, list(types))}")])
    spec = types[name]
    lines = [f"{name}: {_words(spec.capability)}", "", *_wrapped(prose(spec))]
    for owner, fields in _groups(spec):
        lines += ["", *_wrapped("Parameters:" if owner is spec else summary(owner))]
        lines += [line for field in fields for line in _parameter(spec, field, varies=field in spec.varying)]
    for part, paths in _parts(spec).items():
        varies = all(path.partition(".")[0] in spec.varying for path in paths)
        kind = f" (type: {_tag(part)})" if "type" in part.model_fields else ""
        lines += ["", *_wrapped(f"{', '.join(paths)}{kind}: {summary(part)}")]
        lines += [line for field in _own(part) for line in _parameter(part, field, varies=varies)]
    lines += ["", "* may differ between the runs of one batch.", "", *_wrapped(f"Noise streams: {_streams(spec)}.")]
    example = textwrap.indent(inspect.cleandoc(spec.example), "    ")
    return [*lines, "", "Example:", "", "components:", f"  my_{name}:", *example.splitlines()]


def _groups(spec: type[Section]) -> Iterator[tuple[type[Section], list[str]]]:
    """Its parameters by the class that declares them, its own first."""
    told: set[str] = {"type"}
    for owner in spec.__mro__:
        fields = [field for field in _own(owner) if field in spec.model_fields and field not in told]
        told.update(fields)
        if fields:
            yield owner, fields


def _own(owner: type[Any]) -> list[str]:
    return [
        field
        for field in inspect.get_annotations(owner)
        if field in getattr(owner, "model_fields", ()) and field != "type"
    ]


def _parameter(section: type[Section], name: str, *, varies: bool) -> Iterator[str]:
    """One parameter: its name and unit, its default; what it is."""
    meaning, unit = meaning_and_unit(section, name)
    field = section.model_fields[name]
    left = f"{'*' if varies else ' '} {field.alias or name}" + (f" [{unit}]" if unit else "")
    default = "required" if field.is_required() else _shown(field.get_default(call_default_factory=True))
    yield f"{left.ljust(_DEFAULT_COLUMN)} {default}"
    yield from _wrapped(meaning, "      ")


def _parts(spec: type[Section], inside: str = "") -> dict[type[Section], list[str]]:
    """The sections inside its parameters, each with the paths that lead to it."""
    found: dict[type[Section], list[str]] = {}
    for name, field in spec.model_fields.items():
        for section in _sections(field.annotation):
            found.setdefault(section, []).append(f"{inside}{name}")
            for part, paths in _parts(section, f"{inside}{name}.").items():
                found.setdefault(part, []).extend(paths)
    return found


def _sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
    for argument in get_args(annotation):
        yield from _sections(argument)


def _streams(spec: type[ComponentSpec]) -> str:
    told = [(spec.streams, "a draw for each sample"), (spec.episode_streams, "a draw for each episode")]
    if issubclass(spec, TransportSpec):
        told += [(("latency",), "for each message, with jitter"), (("dropout",), "for each message, with loss")]
    return "; ".join(f"{', '.join(names)} ({when})" for names, when in told if names) or "none"


def _tag(section: type[Section]) -> str:
    return str(get_args(section.model_fields["type"].annotation)[0])


def _words(capability: Capability) -> str:
    return capability.value.replace("_", " ")


def _shown(value: Any) -> str:
    if value is None or isinstance(value, Section) or value in ((), {}):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(_shown(entry) for entry in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _wrapped(text: str, indent: str = "") -> list[str]:
    paragraphs = [textwrap.wrap(paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent)
                  for paragraph in text.replace("``", "").split("\n\n")]  # fmt: skip
    return [line for number, lines in enumerate(paragraphs) for line in ([""] * (number > 0) + lines)]


def _shortened(start: str, text: str) -> str:
    text, room = text.replace("``", ""), WIDTH - len(start)
    if len(text) > room:
        text = text.partition(": ")[0].rstrip(".")
    return start + textwrap.shorten(text, room, placeholder=" ...")
