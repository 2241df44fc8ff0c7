"""What came from outside, kept so that a replay commits the same input at the same tick."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from sweep.errors import InvalidInputError, Problem
from sweep.runtime.ingress.command import Command

_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedInput:
    """One input that was committed from outside; see :meth:`SimulationInstance.replay_inputs`.

    Attributes:
        episode_index: the episode it was committed in.
        acceptance: the number it was accepted under; a replay keeps it.
        commit_tick: the boundary whose ExternalInputCommit made it visible.
        target: id of the driver.
        values: one number per control of the driver.
        source_id: who sent it.
        source_sequence: the sender's own count; the acceptance number if it kept none.
        sequenced: whether the sender counted by itself, so that the input can be stale.
        effective_s: when it was meant for [s].
    """

    episode_index: _Count
    acceptance: Annotated[int, Field(ge=1)]
    commit_tick: _Count
    target: str
    values: tuple[float, ...]
    source_id: str
    source_sequence: int
    sequenced: bool
    effective_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    @classmethod
    def of(cls, command: Command, episode: int) -> RecordedInput:
        """The record of a committed command."""
        return cls(
            episode_index=episode,
            acceptance=command.acceptance,
            commit_tick=command.commit_tick,
            target=command.target,
            values=tuple(command.values[0].tolist()),
            source_id=command.source_id,
            source_sequence=command.source_sequence,
            sequenced=command.sequenced,
            effective_s=command.effective_s,
        )

    def command(self) -> Command:
        """The same input once more."""
        values = np.array([self.values], np.float64)
        values.flags.writeable = False
        return Command(
            target=self.target,
            commit_tick=self.commit_tick,
            values=values,
            lanes=None,
            effective_s=self.effective_s,
            source_id=self.source_id,
            source_sequence=self.source_sequence,
            sequenced=self.sequenced,
            from_outside=True,
            acceptance=self.acceptance,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON document, from which :meth:`from_json` makes the same bits."""
        # JSON has no NaN and no infinity: their names stand for them.
        return asdict(self) | {"values": [x if math.isfinite(x) else str(x) for x in self.values]}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> RecordedInput:
        """Read what :meth:`to_json` wrote.

        Raises:
            InvalidInputError: every field that is missing or not what it must be.
        """
        try:
            return _reader().validate_python(document)
        except ValidationError as error:
            details = error.errors(include_url=False)
            problems = [Problem(".".join(map(str, d["loc"])), f"{d['msg']}, not {d['input']!r}") for d in details]
            raise InvalidInputError("recorded input", problems) from None


@cache
def _reader() -> TypeAdapter[RecordedInput]:
    return TypeAdapter(RecordedInput)
