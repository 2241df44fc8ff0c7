"""Which cell the others are compared with."""

from __future__ import annotations

from sweep.design.cell import Cell, canonical, shown
from sweep.design.expand import Design
from sweep.design.spec import SweepSpec
from sweep.errors import InvalidInputError, Problem

LISTED = 12
"""How many cells a message names."""


def baseline_cell(design: Design, spec: SweepSpec) -> str:
    """The cell_id of the baseline: the explicit one, else the nominal cell, else the first.

    An explicit baseline names some axes; the others are nominal if such a cell exists, else the first that fits.

    Raises:
        InvalidInputError: no cell has the explicit baseline's values.
    """
    fitting = [cell for cell in design.cells if _fits(cell, spec)]
    if not fitting:
        raise InvalidInputError("baseline", [_no_such_cell(design, spec)])
    return max(
        fitting, key=lambda cell: (cell.is_nominal, bool(spec.baseline) and _nominals(cell, spec), -cell.ordinal)
    ).cell_id


def _fits(cell: Cell, spec: SweepSpec) -> bool:
    wanted = spec.baseline or {}
    return all(name in cell.values and canonical(cell.values[name]) == canonical(wanted[name]) for name in wanted)


def _nominals(cell: Cell, spec: SweepSpec) -> int:
    return sum(canonical(cell.values[axis.name]) == canonical(axis.nominal) for axis in spec.axes)


def _no_such_cell(design: Design, spec: SweepSpec) -> Problem:
    asked = shown(spec.baseline)
    labels = [cell.label for cell in design.cells]
    more = f" and {len(labels) - LISTED} more" if len(labels) > LISTED else ""
    added = "" if spec.design.kind == "star" or spec.design.center else "; design.center=true adds one"
    return Problem(
        f"baseline={asked}", f"no cell has these values{added}. There is: {'; '.join(labels[:LISTED])}{more}"
    )
