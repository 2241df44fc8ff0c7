"""Which cell the others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.format import is_number, plain
from analysis.source import Sweep, plain_value
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.results import CellRow

LISTED = 8
"""Labels that an error lists at most."""


def choose_baseline(sweep: Sweep, asked: str | Sequence[str] | None = None) -> CellRow | None:
    """The cell that others are compared with: the one asked for, the header's, the nominal one, else the first.

    Args:
        sweep: where to look.
        asked: a cell_id, a unique prefix of one, a cell's label, or words ``AXIS=VALUE`` with a unit or in SI; axes
            that they do not name are nominal if there is such a cell.

    Raises:
        InvalidInputError: nothing, or more than one cell, answers to ``asked``.
    """
    if asked is not None:
        words = [asked] if isinstance(asked, str) else list(asked)
        if not any(word.strip() for word in words):
            raise _problem("is empty; it takes a cell's id, its label, or AXIS=VALUE")
        return _called(sweep, " ".join(words)) or _valued(sweep, words)
    by_id = {cell.cell_id: cell for cell in sweep.cells}
    if sweep.header.baseline in by_id:
        return by_id[sweep.header.baseline]
    return max(sweep.cells, key=lambda cell: (_nominals(sweep, cell) == len(sweep.swept), -cell.ordinal), default=None)


def _nominals(sweep: Sweep, cell: CellRow) -> int:
    """How many of the swept axes are nominal in a cell."""
    return sum(cell.values.get(key) == plain_value(sweep.nominal(key)) for key in sweep.swept)


def _called(sweep: Sweep, name: str) -> CellRow | None:
    exact = [cell for cell in sweep.cells if name in (cell.cell_id, cell.label)]
    found = exact or [cell for cell in sweep.cells if name and cell.cell_id.startswith(name)]
    return found[0] if len(found) == 1 else None


def _valued(sweep: Sweep, words: Sequence[str]) -> CellRow:
    """The cell with these values; of several, the one with most nominal values beside them."""
    pairs = [pair for word in words for pair in word.replace(",", " ").split()]
    if not all("=" in pair for pair in pairs) or not pairs:
        raise _refusal(sweep, " ".join(words))
    problems = [
        Problem("--baseline", f"unknown axis {name!r}{did_you_mean(name, sweep.keys)}")
        for name in (pair.partition("=")[0].lstrip("+") for pair in pairs)
        if name not in sweep.keys
    ]
    if problems:
        raise InvalidInputError("comparison", problems)
    wanted = {pair.partition("=")[0].lstrip("+"): pair.partition("=")[2] for pair in pairs}
    fitting = [
        cell for cell in sweep.cells if all(_is(sweep, key, cell.values.get(key), text) for key, text in wanted.items())
    ]
    if not fitting:
        there = "; ".join(f"{key} has {_values_of(sweep, key)}" for key in wanted)
        raise _problem(f"no cell is called {' '.join(words)!r}; {there}")
    return max(fitting, key=lambda cell: (_nominals(sweep, cell), -cell.ordinal))


def _is(sweep: Sweep, key: str, value: Any, text: str) -> bool:
    if is_number(value):
        return value == sweep.header.quantity(key, text)
    return plain(value).replace(" ", "") == text or str(value) == text


def _values_of(sweep: Sweep, key: str) -> str:
    """The values that cells have, in the unit that a bare number is read in."""
    values = {repr(value): value for value in (cell.values.get(key) for cell in sweep.cells)}
    numbers = sorted(value for value in values.values() if is_number(value))
    texts = [plain(value) for value in (numbers if len(numbers) == len(values) else values.values())]
    unit = sweep.header.axes[key].unit if key in sweep.header.axes else ""
    more = f" and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
    return " ".join(filter(None, (", ".join(texts[:LISTED]), unit))) + more


def _problem(text: str) -> InvalidInputError:
    return InvalidInputError("comparison", [Problem("--baseline", text)])


def _refusal(sweep: Sweep, asked: str) -> InvalidInputError:
    labels = [cell.label for cell in sweep.cells]
    several = [cell for cell in sweep.cells if cell.cell_id.startswith(asked)]
    what = f"{len(several)} cells begin with {asked!r}" if len(several) > 1 else f"no cell is called {asked!r}"
    more = f" and {len(labels) - LISTED} more" if len(labels) > LISTED else ""
    return _problem(f"{what}{did_you_mean(asked, labels[:LISTED])}{more}")
