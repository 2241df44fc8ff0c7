"""The table of all verbs: what each takes, and what that means."""

from __future__ import annotations

from dataclasses import dataclass

PROGRAM = "python -m sweep"
DEFAULT_VERB = "run"
AXES = "AXIS=VALUE,VALUE"


@dataclass(frozen=True, slots=True)
class Positional:
    """A word that stands for itself.

    Attributes:
        name: what it is called, in capitals.
        help: one line.
        is_optional: whether it may be left out.
    """

    name: str
    help: str
    is_optional: bool = False

    @property
    def key(self) -> str:
        """Its key in :attr:`Command.positionals`."""
        return self.name.lower()


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
        positionals: its positional words, those that may be left out last.
        options: options that only this verb has.
        overrides: what words of Hydra's grammar are called that may follow; empty if none may.
        detail: what else a person should know before typing it; paragraphs.
    """

    help: str
    positionals: tuple[Positional, ...] = ()
    options: tuple[Option, ...] = ()
    overrides: str = ""
    detail: str = ""


_DIR = Positional("DIR", "a sweep's folder, for example sweeps/arm-1a2b3c4d")
_DIR2 = Positional("DIR2", "another sweep's folder, compared with the first", is_optional=True)
_JSON = Option("--json", None, "print JSON")
_BASELINE = Option("--baseline", "AXIS=VALUE", "the cell that others are compared with", is_repeatable=True)
_URI = Option("--uri", "URI", "MLflow's; where the sweep was sent, or the database beside the sweeps, otherwise")

_TWO_SWEEPS = (
    "With one sweep, its cells are compared with the baseline cell; with two, cells of the same values are compared, "
    "the second sweep's with the first's."
)

VERBS: dict[str, Verb] = {
    "run": Verb("run a sweep; the verb may be left out", overrides=AXES),
    "plan": Verb("say what a run would do, and do nothing", options=(_JSON,), overrides=AXES),
    "resume": Verb(
        "go on with a sweep: say what is missing and why, and run it",
        (_DIR,),
        overrides="SETTING=VALUE",
        detail="Where and how it runs may be given anew: executor, tracking, on_failure, canary.",
    ),
    "status": Verb("how far a sweep is", (_DIR,), (_JSON,)),
    "replay": Verb(
        "run one run again, bit for bit",
        (Positional("RUN_ID", "a run's id, or how it begins"),),
        (
            Option("--dir", "DIR", "where to look for it: a sweep's folder, or a folder of sweeps"),
            Option("--plot", "FILE", "draw it against its pair, as HTML", is_optional=True),
            Option("--trace", "LEVEL", "keep its trace, full or events", is_optional=True, choices=("full", "events")),
            Option("--strict", None, "refuse it where its bits may differ: another kind of machine, other code"),
        ),
    ),
    "open": Verb(
        "run a failure capsule again, up to its fault",
        (Positional("CAPSULE", "a capsule's file; status names those of a sweep"),),
        (Option("--tick", "N", "stop at this boundary instead, and show what led there"),),
    ),
    "compare": Verb(
        "cells of a sweep, or two sweeps, side by side",
        (_DIR, _DIR2),
        (
            _BASELINE,
            Option("--all", None, "every cell, however many"),
            Option("--bootstrap", None, "bootstrap intervals of the differences too, from 32 pairs on"),
            Option("--quantile", "P", "a quantile of each cell's runs too, for example 0.95"),
            Option("--csv", None, "print CSV, a row per cell"),
            _JSON,
        ),
        detail=_TWO_SWEEPS,
    ),
    "export": Verb(
        "runs, cells and contrasts as CSV and Parquet",
        (_DIR, _DIR2),
        (_BASELINE, Option("--to", "FOLDER", "the folder to write; tables in the sweep's folder otherwise")),
        detail=_TWO_SWEEPS,
    ),
    "report": Verb(
        "the comparison as one HTML file, with figures",
        (_DIR, _DIR2),
        (
            _BASELINE,
            Option("--to", "FILE", "the file to write, or its folder; report.html in the sweep's folder otherwise"),
        ),
        detail=_TWO_SWEEPS,
    ),
    "doctor": Verb("whether a sweep would run here, and on its cluster", (), (_JSON,), overrides=AXES),
    "components": Verb(
        "what components there are, and what one is told",
        (Positional("NAME", "a component's type; all are listed otherwise", is_optional=True),),
    ),
    "schema": Verb(
        "the manifest's JSON Schema, for editors",
        (),
        (Option("--scene", None, "the schema of a scene's file, whose values may be interpolated"),),
    ),
    "sync": Verb(
        "bring MLflow up to date with a sweep",
        (_DIR,),
        (_URI, Option("--experiment", "NAME", "MLflow's experiment; the one it was sent to otherwise")),
    ),
    "ui": Verb(
        "browse sweeps in MLflow, on this machine only",
        (Positional("DIR", "a sweep's folder, or a folder of sweeps; sweeps otherwise", is_optional=True),),
        (_URI, Option("--port", "PORT", "where to serve; 5000, or the next free one, otherwise")),
    ),
}

GLOBAL_OPTIONS: tuple[Option, ...] = (
    Option("--help", None, "print this; after a verb, what the verb does", ("-h",)),
    Option("--version", None, "print the version"),
    Option("--cfg", "job", "print the composed configuration", ("-c",), choices=("job",)),
    Option("--config-dir", "DIR", "a further folder of configuration", ("-cd",), is_repeatable=True),
    Option("--config-name", "NAME", "the primary configuration", ("-cn",)),
    Option("--multirun", None, "accepted, and not needed", ("-m",)),
    Option("--quiet", None, "print only results and errors", ("-q",)),
)
