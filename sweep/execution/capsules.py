"""Capsules of a sweep's faulted runs: a few of every cause, in a bounded time, and healthy runs pay nothing."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sweep.design.run import Run
from sweep.errors import CapsuleError
from sweep.execution.code import is_installed, user_sources
from sweep.execution.planning import PlannedSweep
from sweep.plan.plan import Plan
from sweep.results import Outcome, RunRecord, Status
from sweep.runtime.hosting.capsule import Capsule, capsule_of
from sweep.runtime.hosting.capsule_file import SUFFIX, write_capsule
from sweep.runtime.instance import SimulationInstance

CAPSULES_NAME = "capsules"
PER_SWEEP = 20
PER_CAUSE = 3
"""Runs that fault in the same way say the same; the first few of every phase, kind and component are kept."""

BUDGET_S = 30.0
"""Wall time that a session spends on capsules [s]: each costs one more simulation of its run, alone."""

_PIECE = 256
"""Ticks between two looks at the time."""


class CapsuleWriter:
    """Leaves ``capsules/<run_id>.capsule`` in a sweep's folder for runs that faulted.

    A record does not hold a run's last states.  Runs are deterministic, so one that faulted is simulated once more, on
    the driver, with its last boundaries kept.

    Args:
        planned: the sweep.
        folder: its place.
    """

    def __init__(self, planned: PlannedSweep, folder: Path) -> None:
        self._runs = {run.run_id: run for run in planned.runs}
        self._cells = {cell.cell_id: cell for cell in planned.cells}
        self._folder = folder / CAPSULES_NAME
        self._known = set(capsules_in(folder))
        self._causes: Counter[tuple[str | None, ...]] = Counter()
        self._left_s = BUDGET_S
        self._without = 0
        self._reason = ""

    @property
    def remark(self) -> str:
        """Why runs that faulted have no capsule; empty if all have one."""
        if not self._without:
            return ""
        runs = "1 run that faulted has" if self._without == 1 else f"{self._without} runs that faulted have"
        return f"{runs} no capsule: {self._reason}; `replay` runs any of them again"

    def write(self, records: Sequence[RunRecord]) -> dict[str, Path]:
        """Keep what faulted among records; returns the capsules by run_id."""
        written = {}
        for record in records:
            if record.outcome.status is Status.FAULTED:
                try:
                    written[record.run_id] = self._write(record)
                except CapsuleError as error:  # the records are what a sweep is for, and they are safe
                    self._without, self._reason = self._without + 1, str(error).rstrip(".")
        return written

    def _write(self, record: RunRecord) -> Path:
        outcome = record.outcome
        cause = (outcome.phase, outcome.kind, outcome.component)
        self._causes[cause] += 1
        if self._causes[cause] > PER_CAUSE or len(self._known | {record.run_id}) > PER_SWEEP:
            raise CapsuleError(f"at most {PER_CAUSE} of a cause and {PER_SWEEP} of a sweep are kept")
        started = time.monotonic()
        capsule = again(self._runs[record.run_id], outcome, started + self._left_s)
        self._left_s -= time.monotonic() - started
        path = write_capsule(self._told(capsule, record), self._folder / f"{record.run_id}{SUFFIX}")
        self._known.add(record.run_id)
        return path

    def _told(self, capsule: Capsule, record: RunRecord) -> Capsule:
        """With what the sweep knows of the run; the record says how it ended."""
        run = self._runs[record.run_id]
        cell = self._cells[run.cell_id]
        same = (capsule.outcome, capsule.trace_digest) == (record.outcome, record.trace_digest)
        return replace(
            capsule,
            outcome=record.outcome,
            trace_digest=record.trace_digest,
            history=capsule.history if same else None,
            code_id=record.code_id,
            code=_code_of(run.plan),
            cell=cell.label,
            parameters=dict(cell.parameters),
        )


def capsules_in(folder: Path) -> dict[str, Path]:
    """The capsules of a sweep's folder, by run_id."""
    return {path.stem: path for path in sorted((folder / CAPSULES_NAME).glob(f"*{SUFFIX}"))}


def again(run: Run, outcome: Outcome, deadline: float) -> Capsule:
    """Simulate a run once more up to its fault.

    Raises:
        CapsuleError: that takes until ``deadline`` on the monotonic clock.
    """
    try:
        instance = SimulationInstance(run.plan, run.seed)
        last = run.plan.horizon if outcome.tick is None else outcome.tick + 1
        while instance.tick < last and instance.fault is None and instance.end is None:
            if time.monotonic() >= deadline:
                raise CapsuleError(f"running them again takes more than the {BUDGET_S:g} s set aside for that")
            instance.advance(min(_PIECE, last - instance.tick))
        return capsule_of(instance)
    except CapsuleError:
        raise
    except (Exception, SystemExit):  # noqa: BLE001 - user code that raises outside of all phases does so again
        return Capsule.of(run.plan, run.seed, outcome)


def _code_of(plan: Plan) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in user_sources(plan).items() if not is_installed(path)}
