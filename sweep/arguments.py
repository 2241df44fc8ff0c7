"""The command line, parsed: a verb, its positionals and options; everything else is an override for Hydra.

The first word without ``=`` that does not start with ``-``, ``+`` or ``~`` is the verb; without one it is
``run``.  All verbs stand in one table, from which ``--help`` is written too.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from sweep.errors import InvalidInputError, Problem, did_you_mean

PROGRAM = "python -m sweep"
DEFAULT_VERB = "run"


@dataclass(frozen=True, slots=True)
class Option:
    """An option.

    Attributes:
        name: as it is typed.
        value: what its value is called in help; None for a flag.
        help: one line.
        short: other spellings.
        is_repeatable: whether it may stand several times; its value is then a list.
        is_optional: whether its value may be left out.
        choices: the values allowed; empty means any.
    """

    name: str
    value: str | None
    help: str
    short: tuple[str, ...] = ()
    is_repeatable: bool = False
    is_optional: bool = False
    choices: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Its key in :attr:`Command.options`."""
        return self.name.lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb.

    Attributes:
        help: one line.
        positionals: names of its positional words; ``[NAME]`` may be left out.
        options: options that only this verb has.
        takes_overrides: whether words of Hydra's grammar may follow.
    """

    help: str
    positionals: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    takes_overrides: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, parsed.

    Attributes:
        verb: one of :data:`VERBS`.
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


_JSON = Option("--json", None, "print JSON")
_BASELINE = Option("--baseline", "AXIS=VALUE", "the cell that others are compared with", is_repeatable=True)
_URI = Option("--uri", "URI", "where the sweep was sent, or the database beside the sweeps, otherwise")

VERBS: dict[str, Verb] = {
    "run": Verb("run a sweep; the verb may be left out", takes_overrides=True),
    "plan": Verb("say what a run would do, and do nothing", options=(_JSON,), takes_overrides=True),
    "resume": Verb("go on with a sweep: say what is missing and why, and run it", ("DIR",), takes_overrides=True),
    "status": Verb("how far a sweep is", ("DIR",), (_JSON,)),
    "replay": Verb(
        "run one run again, bit for bit",
        ("RUN_ID",),
        (
            Option("--dir", "DIR", "where to look for it: a sweep's folder, or a folder of sweeps"),
            Option("--plot", "FILE", "draw it against its pair, as HTML", is_optional=True),
            Option("--trace", "LEVEL", "keep its trace, full or events", is_optional=True, choices=("full", "events")),
            Option("--strict", None, "refuse it where its bits may differ: another kind of machine, other code"),
        ),
    ),
    "open": Verb(
        "run a failure capsule again, up to its fault",
        ("CAPSULE",),
        (Option("--tick", "N", "stop at this boundary instead, and show what led there"),),
    ),
    "compare": Verb(
        "cells of a sweep, or two sweeps, side by side",
        ("DIR", "[DIR2]"),
        (
            _BASELINE,
            Option("--all", None, "every cell, however many"),
            Option("--bootstrap", None, "bootstrap intervals of the differences too, from 32 pairs on"),
            Option("--quantile", "P", "a quantile of each cell's runs too, for example 0.95"),
            Option("--csv", None, "print CSV, a row per cell"),
            _JSON,
        ),
    ),
    "export": Verb(
        "runs, cells and contrasts as CSV and Parquet",
        ("DIR", "[DIR2]"),
        (_BASELINE, Option("--to", "FOLDER", "the folder to write; tables in the sweep's folder otherwise")),
    ),
    "report": Verb(
        "the same as one HTML file, with figures",
        ("DIR", "[DIR2]"),
        (
            _BASELINE,
            Option("--to", "FILE", "the file to write; report.html in the sweep's folder otherwise"),
        ),
    ),
    "doctor": Verb(
        "whether a sweep would run here, and on its cluster",
        (),
        (_JSON,),
        takes_overrides=True,
    ),
    "components": Verb("what components there are, and what one is told", ("[NAME]",)),
    "schema": Verb(
        "the manifest's JSON Schema, for editors",
        (),
        (Option("--scene", None, "the schema of a scene's file, whose values may be interpolated"),),
    ),
    "sync": Verb(
        "bring MLflow up to date with a sweep",
        ("DIR",),
        (_URI, Option("--experiment", "NAME", "MLflow's experiment; the one it was sent to otherwise")),
    ),
    "ui": Verb(
        "browse sweeps in MLflow, on this machine only",
        ("[DIR]",),
        (_URI, Option("--port", "PORT", "5000, or the next free one, otherwise")),
    ),
}

_SWEPT = (
    ("+latency=2ms,5ms", "values in SI or with a unit; several axes give every combination"),
    ("'+latency=range(0,0.02,0.005)'", "equal steps in SI units, the end left out"),
    ("'+latency=interval(0,20ms)'", "anything between two ends, with design=lhs design.n=32"),
    ("'+latency=tag(log,interval(1ms,1s))'", "the same on a log scale; int(interval(1,5)) is whole numbers"),
    ('exclude="latency > 10ms and gain < 2"', "cells that are left out"),
)

GLOBAL_OPTIONS: tuple[Option, ...] = (
    Option("--help", None, "print this", ("-h",)),
    Option("--version", None, "print the version"),
    Option("--cfg", "job", "print the composed configuration", ("-c",), choices=("job",)),
    Option("--config-dir", "DIR", "a further folder of configuration", ("-cd",), is_repeatable=True),
    Option("--config-name", "NAME", "the primary configuration", ("-cn",)),
    Option("--multirun", None, "accepted, and not needed", ("-m",)),
    Option("--quiet", None, "print only results and errors", ("-q",)),
)


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
    overrides = [word for word in words if VERBS[verb].takes_overrides and _is_override(word)]
    positionals = [word for word in words if word not in overrides]
    show_help = options.pop("help", False) is True
    named = {} if show_help else _named(verb, positionals, problems)
    if problems:
        raise InvalidInputError("command line", [*problems, Problem("usage", usage(verb))])
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


def usage(verb: str) -> str:
    """One line: how a verb is called."""
    spec = VERBS[verb]
    options = [f"[{_spelled(option)}]" for option in spec.options]
    overrides = ["[AXIS=VALUE,VALUE ...]"] if spec.takes_overrides else []
    return " ".join([PROGRAM, *([] if verb == DEFAULT_VERB else [verb]), *spec.positionals, *options, *overrides])


def help_text(groups: dict[str, list[str]] | None = None) -> str:
    """The text of ``--help``.

    Args:
        groups: groups of the configuration and the options of each.
    """
    lines = [f"usage: {usage(DEFAULT_VERB)}", f"       {PROGRAM} VERB ...", ""]
    lines += ["What does this parameter do to my robot? For example: " + f"{PROGRAM} +latency=0.002,0.005", ""]
    lines += ["axes are swept over:", *_columns(_SWEPT), ""]
    lines += ["verbs:", *_columns([(usage(name).removeprefix(PROGRAM).strip(), VERBS[name].help) for name in VERBS])]
    spelled = [(", ".join([*option.short, _spelled(option)]), option.help) for option in GLOBAL_OPTIONS]
    lines += ["", "options:", *_columns(spelled)]
    if groups:
        choices = [(f"{group}=", ", ".join(options)) for group, options in groups.items()]
        lines += ["", "configuration groups:", *_columns(choices)]
    return "\n".join(lines) + "\n"


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
        raise InvalidInputError("command line", [_unknown_verb(words, index), Problem("usage", usage(DEFAULT_VERB))])
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
            problems.append(Problem(name, f"needs a value, {_spelled(option)}"))
    return rest, options


def _is_value(word: str, option: Option) -> bool:
    return not word.startswith("-") and not (option.is_optional and _is_override(word))


def _store(options: dict[str, str | bool | list[str]], option: Option, value: str, problems: list[Problem]) -> None:
    if option.choices and value not in option.choices:
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
    names = VERBS[verb].positionals
    required = [name for name in names if not name.startswith("[")]
    problems += [Problem(verb, f"{name} is missing") for name in required[len(words) :]]
    problems += [Problem(word, f"is one word too many for {verb!r}") for word in words[len(names) :]]
    return {name.strip("[]").lower(): word for name, word in zip(names, words, strict=False)}


def _spelled(option: Option) -> str:
    if option.value is None:
        return option.name
    return f"{option.name} [{option.value}]" if option.is_optional else f"{option.name} {option.value}"


def _columns(rows: Sequence[tuple[str, str]], width: int = 34) -> list[str]:
    lines: list[str] = []
    for left, right in rows:
        start = f"  {left}"
        if len(start) > width - 2:
            lines += [start, " " * width + right]
        else:
            lines.append(start.ljust(width) + right)
    return lines
