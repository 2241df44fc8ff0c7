"""Rows of the ledger that only its readers need: the runs of the design, and who worked on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

RUNNING, INTERRUPTED, FINISHED, NEW = "running", "interrupted", "finished", "new"


class RunRow(NamedTuple):
    """One run of the design: a Plan with a seed, in a cell.  Cells that resolve to one Plan share their runs."""

    run_id: str
    cell_id: str
    plan_id: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One driver's time with the ledger.

    Attributes:
        pid: its process, on ``host``.
        started_ms: when it began [ms since 1970].
        finished_ms: when it ended; None while open, or for ever when the driver was killed.
        state: ``running`` until finished, then what :meth:`Ledger.finish` was told.
        provenance: what the driver said about itself.
    """

    pid: int
    host: str
    started_ms: int
    finished_ms: int | None
    state: str
    provenance: Mapping[str, Any]
