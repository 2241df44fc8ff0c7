"""``python -m analysis``: compare, export and report where only the results are at hand."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sweep.errors import SweepError

ASKED_WRONG = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; those of this process by default.

    Returns:
        The exit code: 0, or 2 if something was asked wrong.
    """
    asked = _parser().parse_args(argv)
    try:
        _ANSWERS[asked.verb](asked)
    except SweepError as error:
        sys.stderr.write(f"{error}\n")
        return ASKED_WRONG
    except BrokenPipeError:  # whoever read the output has gone
        sys.stderr.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m analysis", description="What did this parameter do to my robot?")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="compare | export | report")
    for verb, text in {
        "compare": "cells of a sweep, or two sweeps, side by side",
        "export": "runs, cells and contrasts as CSV and Parquet",
        "report": "the same as one HTML file, with figures",
    }.items():
        of = verbs.add_parser(verb, help=text, description=text)
        of.add_argument("dir", metavar="DIR", help="folder of a sweep")
        of.add_argument("dir2", metavar="DIR2", nargs="?", help="folder of another, to compare with the first")
        of.add_argument("--baseline", metavar="AXIS=VALUE", action="append", default=[], help="the baseline cell")
        if verb != "compare":
            of.add_argument("--to", metavar="PLACE", help="what to write, in the sweep's folder otherwise")
            continue
        form = of.add_mutually_exclusive_group()
        form.add_argument("--json", dest="form", action="store_const", const="json", default="table")
        form.add_argument("--csv", dest="form", action="store_const", const="csv")
        of.add_argument("--all", dest="is_whole", action="store_true", help="every cell, however many")
        of.add_argument("--bootstrap", action="store_true", help="bootstrap intervals too")
        of.add_argument("--quantile", metavar="P", help="a quantile of each cell's runs too, for example 0.95")
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
