"""Progress of a sweep: why its runs are run, then a bar and the table so far, or plain lines off a terminal."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from sweep.errors import LedgerError
from sweep.execution.auto import in_words
from sweep.execution.pending import Reason, Work
from sweep.execution.progress import Progress as Collected
from sweep.execution.words import counted
from sweep.results import FailureGroup, Failures, RunRecord, Status

if TYPE_CHECKING:
    from analysis.comparison import Comparison

LINE_EVERY_S = 5.0
"""Between two plain lines [s]."""

TABLE_EVERY_S = 2.0
HEADLINE_EVERY_S = 30.0
"""Between two looks at the results so far, on a terminal and elsewhere [s] ..."""

TABLE_SHARE = 0.05
"""... and the most of the time that goes into them."""

_TOLD = 10
"""Causes of failures told as they first happen; the list at the end has them all."""


class ProgressDisplay:
    """Shows events of a collection; used in ``with``.

    Args:
        console: where to.
        quiet: show nothing but failures.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._live: Live | None = None
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[eta]}"),
            console=console,
        )
        self._task = self._bar.add_task("runs", total=None, eta="")
        self._last_line = self._next_look = time.monotonic()
        self._compare: Callable[[], Comparison] | None = None
        self._failures = Failures()
        self._told: set[str] = set()

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(self._bar, console=self._console, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            # What is taller than the terminal could not be taken away again.
            self._live.update(self._bar, refresh=True)
            self._live.stop()

    def refresh_with(self, compare: Callable[[], Comparison]) -> None:
        """Show the results so far now and then, too.

        Args:
            compare: what the ledger says by now.
        """
        self._compare = compare
        self._next_look = time.monotonic() + self._look_every_s

    def show(self, event: Collected) -> None:
        """Show how far the sweep is."""
        if event.work is not None and not self._quiet:
            self._tell_once(explained(event.work, event.eta_s))
        for record in event.records:
            self._tell_failure(record, event.capsules.get(record.run_id))
        self._tell_once([*event.remarks, *(remark for record in event.records for remark in record.remarks)])
        self._tell_once([event.stopping] if event.stopping else [])
        failed = f", {sum(group.count for group in event.failures)} failed" if event.failures else ""
        if self._live is not None:
            eta = "" if event.eta_s is None or event.done == event.total else f"about {in_words(event.eta_s)} left"
            self._bar.update(self._task, total=event.total, completed=event.done, eta=eta + failed)
        elif not self._quiet and event.done < event.total and time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            left = "" if event.eta_s is None else f", about {in_words(event.eta_s)} left"
            self._say(f"{event.done} of {event.total} runs{failed}, {event.elapsed_s:.0f} s{left} ({event.reason})")
        if event.records and event.done < event.total:
            self._look()

    @property
    def _look_every_s(self) -> float:
        return TABLE_EVERY_S if self._live is not None else HEADLINE_EVERY_S

    def _look(self) -> None:
        """Show the results so far, if it is time."""
        began = time.monotonic()
        if self._compare is None or self._quiet or began < self._next_look:
            return
        with suppress(LedgerError):  # the next look finds it, or the sweep itself stops with words
            self._show_results(self._compare())
        now = time.monotonic()
        self._next_look = now + max(self._look_every_s, (now - began) / TABLE_SHARE)

    def _show_results(self, comparison: Comparison) -> None:
        from analysis import render

        if self._live is None:
            self._say(f"so far: {comparison.headline}")
        else:
            # The bar stands first, since what does not fit is cut off below.
            self._live.update(Group(self._bar, "", render(comparison, width=self._console.width)))

    def _tell_failure(self, record: RunRecord, capsule: Path | None) -> None:
        """The first failure of a cause is told when it happens."""
        group = self._failures.add(record)
        if group is None or group.count > 1 or len(self._failures.groups) > _TOLD:
            return
        hint = f"replay {record.run_id[:8]}" if capsule is None else f"open {os.path.relpath(capsule)}"
        self._say(f"{group}  ({hint})" if group.outcome.status is not Status.TIMED_OUT else str(group))

    def _tell_once(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line not in self._told and not self._quiet:
                self._say(line)
            self._told.add(line)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def failure_lines(groups: Sequence[FailureGroup], folder: str) -> list[str]:
    """All failures by cause, with the command that repeats one of each."""
    lines = [f"{counted(sum(group.count for group in groups), 'run')} failed:"]
    for group in groups[:_TOLD]:
        lines += [f"  {group.count} × {group}", f"      {repeating(group, folder)}"]
    if len(groups) > _TOLD:
        lines.append(f"  and {len(groups) - _TOLD} further causes: python -m sweep status {folder}")
    return lines


def repeating(group: FailureGroup, folder: str, capsule: str | None = None) -> str:
    """What to type to have one of some failures again; a replay of what takes too long would take as long."""
    if group.outcome.status is Status.TIMED_OUT:
        *_, enough = re.findall(r"executor\.timeout_s=\S+", group.outcome.message) or ["executor.timeout_s=SECONDS"]
        return f"python -m sweep resume {folder} {enough}"
    return "python -m sweep " + (f"open {capsule}" if capsule else f"replay {group.run_id[:8]} --dir {folder}")


def explained(work: Work, eta_s: float | None) -> list[str]:
    """Why runs of a sweep that is there already are run, before they are; nothing to say of one that is new."""
    lines, total = [], work.reused + work.left + len(work.runs)
    if work.reused or set(work.reasons) - {Reason.NEW}:
        why = ", ".join(f"{count} {reason}" for reason, count in work.reasons.items())
        time_left = "" if eta_s is None else f", about {in_words(eta_s)}"
        todo = f"{len(work.runs)} to run: {why}{time_left}" if work.runs else "nothing is left to run"
        lines.append(f"{work.reused} of {total} runs are reused; {todo}")
    if work.left:
        text = "killed the process before and must not do so again here: executor=ray runs in processes of its own"
        lines.append(f"{counted(work.left, 'lost run')} {text}")
    return lines
