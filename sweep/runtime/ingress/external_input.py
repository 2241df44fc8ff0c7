"""The producers' side of the mailbox: what they may send, and how the owner hears that they may send at any time."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.ingress.recorded_input import RecordedInput

Enqueue = Callable[[str, Any, str, int | None, float | None], int]


class ExternalInputs:
    """Checks what comes from outside before the mailbox accepts it.  It touches no live state.

    Args:
        mailbox: where accepted input goes.
        widths: controls of each driver, by id.
    """

    def __init__(self, mailbox: Mailbox, widths: Mapping[str, int]) -> None:
        self._mailbox = mailbox
        self._widths = dict(widths)

    def enqueue(
        self, target: str, values: Any, source_id: str, source_sequence: int | None, effective_s: float | None
    ) -> int:
        """Accept an input; any thread.  See :meth:`SimulationInstance.enqueue_external_input`."""
        numbers = _numbers(values)
        problems = [*self._problems(target, numbers), *_source_problems(source_id, source_sequence)]
        if numbers is None:
            problems.append(Problem("values", f"must be numbers, not {values!r}"))
        if problems:
            raise InvalidInputError("external input", problems)
        assert numbers is not None
        return self._mailbox.enqueue(
            target,
            numbers,
            source_id=source_id,
            source_sequence=None if source_sequence is None else int(source_sequence),
            effective_s=effective_s,
        )

    def open_producer(self, source_id: str) -> InputProducer:
        """Open a producer; any thread.  See :meth:`SimulationInstance.open_producer`."""
        problems = _source_problems(source_id, None)
        if problems:
            raise InvalidInputError("producer", problems)
        self._mailbox.open(source_id)
        return InputProducer(source_id, self.enqueue, self._mailbox.close)

    def replay(self, records: Iterable[RecordedInput], *, tick: int, committed: Iterable[RecordedInput]) -> None:
        """Accept recorded inputs; owner only.  See :meth:`SimulationInstance.replay_inputs`.

        Args:
            records: in any order.
            tick: the next boundary whose input is committed.
            committed: what this episode has committed.
        """
        records = list(records)
        taken = self._mailbox.reserve(record.acceptance for record in records)
        taken.update(record.acceptance for record in committed)
        problems = []
        for position, record in enumerate(records):
            found = self._problems(record.target, np.asarray(record.values))
            if record.commit_tick < tick:
                message = f"tick {record.commit_tick} is over, the next one is {tick}; replay before the first step"
                found.append(Problem("commit_tick", message))
            if record.acceptance in taken:
                message = f"{record.acceptance} is the number of another input of this episode"
                found.append(Problem("acceptance", message))
            taken.add(record.acceptance)
            problems += [Problem(f"records[{position}].{p.path}", p.message) for p in found]
        if problems:
            raise InvalidInputError("replay", problems)
        self._mailbox.replay(record.command() for record in records)

    def _problems(self, target: str, numbers: NDArray[np.float64] | None) -> list[Problem]:
        width = self._widths.get(target) if isinstance(target, str) else None
        if width is None:
            return [Problem("target", f"there is no driver {target!r}{did_you_mean(str(target), list(self._widths))}")]
        if numbers is not None and numbers.shape != (width,):
            return [Problem("values", f"{len(numbers)} values for {target!r}, which has {width} controls")]
        return []


class InputProducer:
    """A producer of another thread that may send at any time, such as a bridge or an operator's console.

    While it is open the Instance looks for input before every single step, however many ``advance`` was asked for;
    that costs speed, so close it (or leave its ``with`` block) when no more will come.  One that is dropped without
    being closed closes itself.  It is safe from any thread, and outlives resets.

    Attributes:
        source_id: who sends.
    """

    def __init__(self, source_id: str, enqueue: Enqueue, release: Callable[[str], None]) -> None:
        self.source_id = source_id
        self._enqueue = enqueue
        self._release = weakref.finalize(self, release, source_id)
        self._release.atexit = False

    def enqueue(
        self, target: str, values: Any, sequence: int | None = None, effective_time_s: float | None = None
    ) -> int:
        """Send a command to a driver; see :meth:`SimulationInstance.enqueue_external_input`.

        Args:
            target: the driver's id.
            values: one number per control of the driver.
            sequence: the sender's own count; without one, inputs keep the order in which they were accepted.
            effective_time_s: not before this episode time [s].

        Returns:
            The number it was accepted under.

        Raises:
            InvalidInputError: as there, or the producer is closed.
        """
        if self.closed:
            message = f"the producer {self.source_id!r} is closed; open another with open_producer()"
            raise InvalidInputError("external input", [Problem("", message)])
        return self._enqueue(target, values, self.source_id, sequence, effective_time_s)

    @property
    def closed(self) -> bool:
        """Whether it sends no more."""
        return not self._release.alive

    def close(self) -> None:
        """Send no more; what was accepted stays accepted.  Closing twice is no error."""
        self._release()

    def __enter__(self) -> InputProducer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _numbers(values: Any) -> NDArray[np.float64] | None:
    """A private copy that nobody can change; None if these are no numbers."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    if given.dtype.kind not in "fiub":  # of None, numpy would make a NaN
        return None
    numbers = given.astype(np.float64).reshape(-1)
    numbers[np.isnan(numbers)] = np.nan  # one NaN: a record keeps no sign or payload of it
    numbers.flags.writeable = False
    return numbers


def _source_problems(source_id: Any, sequence: Any) -> list[Problem]:
    """What could not be compared with other sources later, in the owner's thread."""
    problems = []
    if not isinstance(source_id, str) or not source_id:
        problems.append(Problem("source_id", f"must be a name, not {source_id!r}"))
    whole = isinstance(sequence, Integral) and not isinstance(sequence, bool)
    if sequence is not None and not (whole and -(2**63) <= int(sequence) < 2**63):
        problems.append(Problem("source_sequence", f"must be a whole number of 64 bits, not {sequence!r}"))
    return problems
