"""What ``--help`` prints, from the table of verbs."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from sweep.arguments.verbs import AXES, DEFAULT_VERB, GLOBAL_OPTIONS, PROGRAM, VERBS, Option, Positional

_LEFT = 34
"""Columns of the left side: what is typed."""

_WIDTH = 98

_SWEPT = (
    ("+latency=2ms,5ms", "values in SI or with a unit; several axes give every combination"),
    ("'+latency=range(0,0.02,0.005)'", "equal steps in SI units, the end left out"),
    ("'+latency=interval(0,20ms)'", "anything between two ends, with design=lhs design.n=32"),
    ("'+latency=tag(log,interval(1ms,1s))'", "the same on a log scale; int(interval(1,5)) is whole numbers"),
    ('exclude="latency > 10ms and gain < 2"', "cells that are left out"),
)


def usage(verb: str) -> str:
    """One line: how a verb is called."""
    spec = VERBS[verb]
    words = [PROGRAM, *([] if verb == DEFAULT_VERB else [verb]), *map(_named, spec.positionals)]
    words += [f"[{spelled(option)}]" for option in spec.options]
    return " ".join([*words, *([f"[{spec.overrides} ...]"] if spec.overrides else [])])


def help_text(verb: str = DEFAULT_VERB, groups: Mapping[str, Sequence[str]] | None = None) -> str:
    """The text of ``--help``: what a verb does and every word it takes; of ``run``, what verbs there are.

    Args:
        verb: one of :data:`VERBS`.
        groups: groups of the configuration and the options of each.
    """
    spec = VERBS[verb]
    lines = _whole() if verb == DEFAULT_VERB else _of(verb)
    lines += ["", *_options(GLOBAL_OPTIONS)]
    if groups and spec.overrides == AXES:
        choices = [(f"{group}=", ", ".join(names)) for group, names in groups.items()]
        lines += ["", "configuration groups:", *_columns(choices)]
    return "\n".join(lines) + "\n"


def _whole() -> list[str]:
    verbs = [(" ".join([name, *map(_named, spec.positionals)]), spec.help) for name, spec in VERBS.items()]
    return [
        f"usage: {usage(DEFAULT_VERB)}",
        f"       {PROGRAM} VERB ...",
        "",
        f"What does this parameter do to my robot? For example: {PROGRAM} +latency=0.002,0.005",
        "",
        *_swept(),
        "",
        f"verbs ({PROGRAM} VERB --help tells more):",
        *_columns(verbs),
    ]


def _of(verb: str) -> list[str]:
    spec = VERBS[verb]
    lines = textwrap.wrap(f"usage: {usage(verb)}", _WIDTH, subsequent_indent="       ", break_on_hyphens=False)
    for paragraph in (f"{verb}: {spec.help}", spec.detail):
        lines += ["", *textwrap.wrap(paragraph, _WIDTH)] if paragraph else []
    lines += ["", *_columns([(_named(word), word.help) for word in spec.positionals])] if spec.positionals else []
    lines += ["", *_options(spec.options, f"options of {verb}")] if spec.options else []
    return [*lines, *(["", *_swept()] if spec.overrides == AXES else [])]


def spelled(option: Option) -> str:
    """An option as it is typed, with what its value is called."""
    if option.value is None:
        return option.name
    return f"{option.name} [{option.value}]" if option.is_optional else f"{option.name} {option.value}"


def _named(word: Positional) -> str:
    return f"[{word.name}]" if word.is_optional else word.name


def _swept() -> list[str]:
    return ["axes are swept over:", *_columns(_SWEPT)]


def _options(options: Sequence[Option], head: str = "options of every verb") -> list[str]:
    rows = [(", ".join([*option.short, spelled(option)]), _meaning(option)) for option in options]
    return [f"{head}:", *_columns(rows)]


def _meaning(option: Option) -> str:
    return f"{option.help}; may stand several times" if option.is_repeatable else option.help


def _columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    lines: list[str] = []
    for left, right in rows:
        start, told = f"  {left}", textwrap.wrap(right, _WIDTH - _LEFT, break_on_hyphens=False)
        if len(start) > _LEFT - 2:
            lines.append(start)
            start = ""
        lines += [(start if index == 0 else "").ljust(_LEFT) + line for index, line in enumerate(told)]
    return lines
