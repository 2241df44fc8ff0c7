"""``python -m analysis``: compare, export and report where only the results are at hand."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sweep.exits import exit_code, stopping_at_once


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; those of this process by default.

    Returns:
        The exit code: 0, 1 if the output cannot be written, 2 if something was asked wrong, 130 for Ctrl-C.
    """
    return exit_code(lambda: _answer(argv))


def _answer(argv: Sequence[str] | None) -> int:
    asked = _parser().parse_args(argv)
    with stopping_at_once():
        _ANSWERS[asked.verb](asked)
    return 0


_VERBS = {
    "compare": "cells of a sweep, or two sweeps, side by side",
    "export": "runs, cells and contrasts as CSV and Parquet",
    "report": "the comparison as one HTML file, with figures",
}
_PLACES = {
    "export": ("FOLDER", "the folder to write; tables in the sweep's folder otherwise"),
    "report": ("FILE", "the file to write, or its folder; report.html in the sweep's folder otherwise"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis", description="What did this parameter do to my robot?")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="compare | export | report")
    for verb, text in _VERBS.items():
        of = verbs.add_parser(verb, help=text, description=text)
        of.add_argument("dir", metavar="DIR", help="a sweep's folder, for example sweeps/arm-1a2b3c4d")
        of.add_argument("dir2", metavar="DIR2", nargs="?", help="another sweep's folder, compared with the first")
        baseline = "the cell that others are compared with; may stand several times"
        of.add_argument("--baseline", metavar="AXIS=VALUE", action="append", default=[], help=baseline)
        if verb in _PLACES:
            name, meaning = _PLACES[verb]
            of.add_argument("--to", metavar=name, help=meaning)
            continue
        of.add_argument("--all", dest="is_whole", action="store_true", help="every cell, however many")
        bootstrap = "bootstrap intervals of the differences too, from 32 pairs on"
        of.add_argument("--bootstrap", action="store_true", help=bootstrap)
        of.add_argument("--quantile", metavar="P", help="a quantile of each cell's runs too, for example 0.95")
        form = of.add_mutually_exclusive_group()
        of.set_defaults(form="table")
        form.add_argument("--csv", dest="form", action="store_const", const="csv", help="print CSV, a row per cell")
        form.add_argument("--json", dest="form", action="store_const", const="json", help="print JSON")
    return parser


def _compare(asked: argparse.Namespace) -> None:
    from rich.console import Console

    from analysis.commands import Question, answer

    names = ("baseline", "form", "is_whole", "bootstrap", "quantile")
    question = Question(folder=asked.dir, other=asked.dir2, **{name: getattr(asked, name) for name in names})
    answer(question, Console(width=None if sys.stdout.isatty() else 100))


def _export(asked: argparse.Namespace) -> None:
    from analysis import export
    from analysis.commands import check_folders

    check_folders("export", asked.dir, asked.dir2, asked.baseline)
    for path in export(asked.dir, asked.dir2, asked.baseline or None, to=asked.to):
        sys.stdout.write(f"{path}\n")


def _report(asked: argparse.Namespace) -> None:
    from analysis import report
    from analysis.commands import check_folders

    check_folders("report", asked.dir, asked.dir2, asked.baseline)
    sys.stdout.write(f"{report(asked.dir, asked.dir2, asked.baseline or None, to=asked.to)}\n")


_ANSWERS = {"compare": _compare, "export": _export, "report": _report}

if __name__ == "__main__":
    sys.exit(main())
