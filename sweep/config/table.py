"""The table of a list design: a row for each point, a column for each axis."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from sweep.config.words import Word, plain_key
from sweep.errors import Problem, did_you_mean


def column_words(file: str, names: Sequence[str], problems: list[Problem]) -> list[Word]:
    """The columns of a table as if each had been typed as one word.

    Args:
        file: CSV; the first row names axes or full paths; empty rows and those that begin with ``#`` are skipped.
        names: the axes there are.
        problems: what is wrong is added here, with its line and column.
    """
    try:
        rows = list(_rows(Path(file)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        there = sorted(path.name for path in Path(file).absolute().parent.glob("*.csv"))
        listed = f"; tables there: {', '.join(there)}" if there else ""
        problems.append(Problem(f"design.file={file}", f"cannot be read: {reason}{listed}"))
        return []
    found = [*_header_problems(file, rows, names)]
    found += [] if found else _row_problems(file, rows)
    problems += found
    return [] if found else [_column(file, rows, index) for index in range(len(rows[0][1]))]


def _rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, skipinitialspace=True, strict=True)
        for row in reader:
            if row and any(cell.strip() for cell in row) and not row[0].startswith("#"):
                yield reader.line_num, [cell.strip() for cell in row]


def _header_problems(file: str, rows: Sequence[tuple[int, list[str]]], names: Sequence[str]) -> Iterator[Problem]:
    if len(rows) < 2:
        example = ",".join(names[:2]) or "latency"
        yield Problem(file, f"needs a first row of names, such as {example}, and a row of values for each point")
        return
    line, header = rows[0]
    for column, cell in enumerate(header, start=1):
        where, key = f"{file}, line {line}, column {column}", plain_key(cell)
        if key not in names and not key.startswith("manifest."):
            commas = "; columns are separated by commas" if re.search(r"[;\t]", cell) else ""
            yield Problem(
                where, f"unknown axis {cell!r}{did_you_mean(key, names)}; or a full path, manifest...{commas}"
            )
        if key in map(plain_key, header[: column - 1]):
            yield Problem(where, f"{cell!r} stands twice")


def _row_problems(file: str, rows: Sequence[tuple[int, list[str]]]) -> Iterator[Problem]:
    header = rows[0][1]
    for line, row in rows[1:]:
        if len(row) != len(header):
            quoted = '; a list stands in quotes: "[1,2]"' if len(row) > len(header) else ""
            yield Problem(
                f"{file}, line {line}", f"its number of values is {len(row)}, of columns {len(header)}{quoted}"
            )
        yield from (
            Problem(
                f"{file}, line {line}, column {column}", f"{header[column - 1]} is empty; every point gives all values"
            )
            for column, cell in enumerate(row, start=1)
            if not cell and column <= len(header)
        )


def _column(file: str, rows: Sequence[tuple[int, list[str]]], index: int) -> Word:
    text = rows[0][1][index]
    key = plain_key(text)
    return Word(
        text=f"{file}, column {index + 1} ({key})",
        key=key,
        mode="add" if text.startswith("+") else "change",
        values=tuple(_typed(row[index]) for _, row in rows[1:]),
        is_sweep=True,
        places=tuple(f"{file}, line {line}, column {index + 1}: {key}={row[index]}" for line, row in rows[1:]),
    )


def _typed(cell: str) -> Any:
    """A cell as the command line would read it: a truth value, null, a list, a number, or else a text."""
    if cell in ("true", "false", "null") or cell.startswith("["):
        try:
            return yaml.safe_load(cell)
        except yaml.YAMLError:
            return cell
    try:
        return int(cell)
    except ValueError:
        return _float(cell)


def _float(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell
