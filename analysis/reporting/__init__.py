"""The report: one HTML file that answers in its first sentence, and shows what the answer rests on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.contrast import compare_read
from analysis.reporting.page import report_page
from analysis.source import read
from sweep.errors import InvalidInputError, Problem

if TYPE_CHECKING:
    from analysis.pairing import Recompute
    from analysis.source import Sweep

REPORT_NAME = "report.html"


def report(
    a: Path | str,
    b: Path | str | None = None,
    baseline: str | Sequence[str] | None = None,
    *,
    to: Path | str | None = None,
    recompute: Recompute | None = None,
) -> Path:
    """Write the report of a sweep, or of sweep ``b`` against sweep ``a``.

    Args:
        a: a sweep folder or a ledger file.
        b: another one.
        baseline: which cell others are compared with; see :func:`analysis.baseline.choose_baseline`.
        to: the file to write, ``.html`` if it has no suffix, or a folder for it; ``report.html`` in the sweep's folder
            by default (with two sweeps, in the folder of ``b``, with the name of ``a`` in its own).
        recompute: proves runs of different length paired; see :func:`analysis.contrast.compare`.

    Returns:
        The file.

    Raises:
        LedgerError: there is no readable ledger.
        InvalidInputError: no cell is called ``baseline``, the two share no cell, or the file cannot be written.
    """
    places = [place for place in (a, b) if place is not None]
    folders, sweeps = [_folder(place) for place in places], [read(place) for place in places]
    comparison = compare_read(sweeps, baseline, recompute=recompute)
    name = REPORT_NAME if b is None else f"report-against-{sweeps[0].header.name}.html"
    target = folders[-1] / name if to is None else _named(Path(to), name)
    page = report_page(
        comparison, sweeps, [shown(folder, sweep) for folder, sweep in zip(folders, sweeps, strict=True)]
    )
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInputError("report", [Problem(str(target), f"cannot be written: {error.strerror}")]) from None
    return target


def shown(folder: Path, sweep: Sweep) -> str:
    """A folder as people type it; one that is elsewhere by its sweep's name, because a report is handed on."""
    relative = os.path.relpath(folder)
    return f"sweeps/{sweep.header.name}" if relative.startswith("..") else relative


def _named(target: Path, name: str) -> Path:
    """The file that is meant: a browser opens no page without a suffix."""
    return target / name if target.is_dir() else target if target.suffix else target.with_suffix(".html")


def _folder(place: Path | str) -> Path:
    path = Path(place)
    return path.parent if path.is_file() else path
