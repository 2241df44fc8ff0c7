"""Progress of a sweep: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sweep.execution.collect import Progress as Collected
from sweep.results import RunRecord, Status

LINE_EVERY_S = 5.0
"""Between two plain lines [s]."""

_TOLD = 5
"""Failures told one by one; the table counts them all."""


class ProgressDisplay:
    """Shows events of a collection; used in ``with``.

    Args:
        console: where to.
        quiet: show nothing but failures.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: Any = None
        self._last_line = time.monotonic()
        self._failed = 0
        self._remarks: set[str] = set()

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
            self._bar = Progress(*columns, TextColumn("{task.fields[eta]}"), console=self._console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("runs", total=None, eta="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, event: Collected) -> None:
        """Show how far the sweep is."""
        for record in event.records:
            self._tell_failure(record, event.capsules.get(record.run_id))
            self._tell_remarks(record)
        if self._bar is not None:
            eta = "" if event.eta_s is None or event.done == event.total else f"about {event.eta_s:.0f} s left"
            self._bar.update(self._task, total=event.total, completed=event.done, eta=eta)
        elif not self._quiet and event.done < event.total and time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            left = "" if event.eta_s is None else f", about {event.eta_s:.0f} s left"
            self._say(f"{event.done} of {event.total} runs, {event.elapsed_s:.0f} s{left} ({event.reason})")

    def _tell_failure(self, record: RunRecord, capsule: Path | None) -> None:
        """Failures are told when they happen."""
        if record.outcome.status in (Status.COMPLETED, Status.ENDED):
            return
        self._failed += 1
        if self._failed <= _TOLD:
            outcome = record.outcome
            where = f" at {outcome.time_s:g} s in {outcome.phase}" if outcome.phase else ""
            hint = f"replay {record.run_id[:8]}" if capsule is None else f"open {os.path.relpath(capsule)}"
            self._say(f"{outcome.status.value}{where}: {outcome.message}  ({hint})")
        elif self._failed == _TOLD + 1:
            self._say("further failures are counted in the table")

    def _tell_remarks(self, record: RunRecord) -> None:
        """What controllers say about how they work is told once."""
        for remark in record.remarks:
            if remark not in self._remarks and not self._quiet:
                self._say(remark)
            self._remarks.add(remark)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
