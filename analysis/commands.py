"""What ``compare`` prints: the same for ``python -m sweep`` and ``python -m analysis``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis import compare, render
from sweep.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.pairing import Recompute


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a command line asks of ``compare``.

    Attributes:
        folder: of a sweep.
        other: of a second one, that is compared with it.
        baseline: words that say which cell others are compared with.
        form: ``table`` for people, ``csv``, ``json``.
        is_whole: whether the table has every cell.
        bootstrap: whether differences get bootstrap intervals too.
        quantile: text of the probability whose quantiles are asked for.
    """

    folder: str
    other: str | None = None
    baseline: Sequence[str] = ()
    form: str = "table"
    is_whole: bool = False
    bootstrap: bool = False
    quantile: str | None = None


def check_folders(verb: str, folder: str, other: str | None, baseline: Sequence[str]) -> None:
    """Refuse what cannot be asked of two sweeps.

    Raises:
        InvalidInputError: a second word that is no place, a baseline cell with two sweeps, or the same sweep twice.
    """
    if other is None:
        return
    if Path(folder).exists() and not Path(other).exists():
        text = "does not exist; a second word is another sweep's folder, that is compared with the first"
        hint = f" (a cell is --baseline {other})" if "=" in other else ""
        raise InvalidInputError(verb, [Problem(other, text + hint)])
    if baseline:
        raise InvalidInputError(verb, [Problem("--baseline", "goes with one sweep: the first of two is the baseline")])
    if Path(folder).resolve() == Path(other).resolve():
        raise InvalidInputError(
            verb, [Problem(other, "is the first sweep again; name another one, or leave it out to compare its cells")]
        )


def answer(question: Question, console: Console, recompute: Recompute | None = None) -> None:
    """Compare, and print it.

    Raises:
        LedgerError: there is no readable ledger.
        InvalidInputError: something was asked wrong.
    """
    check_folders("compare", question.folder, question.other, question.baseline)
    comparison = compare(
        question.folder,
        question.other,
        question.baseline or None,
        recompute=recompute,
        bootstrap=question.bootstrap,
        quantile=_probability(question.quantile),
    )
    if question.form == "json":
        console.file.write(json.dumps(comparison.to_json(), allow_nan=False, ensure_ascii=False) + "\n")
    elif question.form == "csv":
        from analysis.tables import cells_table

        cells_table(comparison).to_csv(console.file, index=False, lineterminator="\n")
    else:
        width = console.width if console.is_terminal else 80
        console.print(render(comparison, width=width, is_whole=question.is_whole))


def _probability(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0:
        raise InvalidInputError(
            "compare", [Problem("--quantile", f"{text!r} is no probability between 0 and 1, for example 0.95")]
        )
    return value
