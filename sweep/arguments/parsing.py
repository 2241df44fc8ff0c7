"""A command line, parsed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from sweep.arguments.help import spelled, usage
from sweep.arguments.verbs import DEFAULT_VERB, GLOBAL_OPTIONS, VERBS, Option
from sweep.errors import InvalidInputError, Problem, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, parsed.

    Attributes:
        verb: one of :data:`~sweep.arguments.verbs.VERBS`.
        positionals: the words after the verb, by name in lower case (``dir``, ``run_id``).
        overrides: words of Hydra's grammar, in order.
        options: by key: a text, True for a flag or a value left out, a list of texts if repeatable.
        config_dirs: what ``--config-dir`` named.
        config_name: the primary configuration.
        show_help: ``--help``.
        show_version: ``--version``.
        show_config: ``--cfg job``.
        is_quiet: ``--quiet``.
    """

    verb: str = DEFAULT_VERB
    positionals: dict[str, str] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()
    options: dict[str, str | bool | list[str]] = field(default_factory=dict)
    config_dirs: tuple[str, ...] = ()
    config_name: str = "config"
    show_help: bool = False
    show_version: bool = False
    show_config: bool = False
    is_quiet: bool = False


def parse(argv: Sequence[str]) -> Command:
    """Parse a command line.

    Args:
        argv: the words after the program's name.

    Raises:
        InvalidInputError: an unknown verb or option, a value or positional that is missing or too many.
    """
    verb, rest = _split_verb(list(argv))
    known = {
        name: option for option in (*VERBS[verb].options, *GLOBAL_OPTIONS) for name in (option.name, *option.short)
    }
    problems: list[Problem] = []
    words, options = _split_options(rest, known, problems)
    overrides = [word for word in words if VERBS[verb].overrides and _is_override(word)]
    positionals = [word for word in words if word not in overrides]
    show_help = options.pop("help", False) is True
    named = {} if show_help else _named(verb, positionals, problems)
    if problems:
        raise InvalidInputError("command line", problems, f"usage: {usage(verb)}")
    return Command(
        verb=verb,
        positionals=named,
        overrides=tuple(overrides),
        config_dirs=tuple(_texts(options.pop("config_dir", []))),
        config_name=str(options.pop("config_name", "config")),
        show_help=show_help,
        show_version=options.pop("version", False) is True,
        show_config=options.pop("cfg", None) is not None,
        is_quiet=options.pop("quiet", False) is True,
        options={key: value for key, value in options.items() if key != "multirun"},
    )


def _split_verb(words: list[str]) -> tuple[str, list[str]]:
    """The verb and the other words; a value of a global option is no verb."""
    with_value = {name for option in GLOBAL_OPTIONS if option.value for name in (option.name, *option.short)}
    index = 0
    while index < len(words):
        word = words[index]
        if word in with_value:
            index += 1
        elif not word.startswith("-") and not _is_override(word):
            break
        index += 1
    if index >= len(words):
        return DEFAULT_VERB, words
    if words[index] not in VERBS:
        raise InvalidInputError("command line", [_unknown_verb(words, index)], f"usage: {usage(DEFAULT_VERB)}")
    return words[index], words[:index] + words[index + 1 :]


def _unknown_verb(words: list[str], index: int) -> Problem:
    word = words[index]
    before = words[index - 1] if index else ""
    if "=" in before and (before.endswith(",") or word.startswith(",")):
        return Problem(f"{before} {word}", f"a blank splits the list in two; write {before}{word}")
    if "=" in before and before.endswith("="):
        return Problem(f"{before} {word}", f"a blank stands after '='; write {before}{word}")
    return Problem(word, f"unknown verb{did_you_mean(word, list(VERBS))}")


def _is_override(word: str) -> bool:
    return "=" in word or word.startswith(("+", "~"))


def _split_options(
    words: list[str], known: dict[str, Option], problems: list[Problem]
) -> tuple[list[str], dict[str, str | bool | list[str]]]:
    rest: list[str] = []
    options: dict[str, str | bool | list[str]] = {}
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        name, equal, value = word.partition("=")
        option = known.get(name)
        if option is None:
            problems.append(_unknown_option(name, known))
        elif option.value is None:
            options[option.key] = True
            problems += [Problem(word, "takes no value")] if equal else []
        elif equal or (queue and _is_value(queue[-1], option)):
            _store(options, option, value if equal else queue.pop(), problems)
        elif option.is_optional:
            options[option.key] = True
        else:
            problems.append(Problem(name, f"needs a value, {spelled(option)}"))
    return rest, options


def _is_value(word: str, option: Option) -> bool:
    return not word.startswith("-") and not (option.is_optional and _is_override(word))


def _store(options: dict[str, str | bool | list[str]], option: Option, value: str, problems: list[Problem]) -> None:
    if not value:
        problems.append(Problem(option.name, f"is given nothing; it needs a value, {spelled(option)}"))
    elif option.choices and value not in option.choices:
        problems.append(Problem(option.name, f"unknown value {value!r}{did_you_mean(value, option.choices)}"))
    if option.is_repeatable:
        options[option.key] = [*_texts(options.get(option.key, [])), value]
        return
    if option.key in options:
        problems.append(Problem(option.name, "given twice"))
    options[option.key] = value


def _texts(value: str | bool | list[str]) -> list[str]:
    return value if isinstance(value, list) else []


def _unknown_option(name: str, known: dict[str, Option]) -> Problem:
    elsewhere = [verb for verb, spec in VERBS.items() if any(option.name == name for option in spec.options)]
    if elsewhere:
        return Problem(name, f"belongs to {' and '.join(elsewhere)}")
    near = difflib.get_close_matches(name, list(known), n=1)
    return Problem(name, f"unknown option{did_you_mean(name, [n for n in known if n.startswith('--') or n in near])}")


def _named(verb: str, words: Sequence[str], problems: list[Problem]) -> dict[str, str]:
    named = VERBS[verb].positionals
    required = [positional.name for positional in named if not positional.is_optional]
    problems += [Problem(verb, f"{name} is missing") for name in required[len(words) :]]
    problems += [Problem(word, f"is one word too many for {verb!r}") for word in words[len(named) :]]
    return {positional.key: word for positional, word in zip(named, words, strict=False)}
