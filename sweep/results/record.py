"""What one run left behind: an outcome, metrics, summaries, receipts; plain values that travel and merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How a run ended; the one taxonomy of ledger, MLflow, tables and plots."""

    COMPLETED = "completed"
    ENDED = "ended"
    FAULTED = "faulted"
    TIMED_OUT = "timed_out"
    LOST = "lost"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the run is answered for good: what comes out the same again is never tried again.

        A run that timed out is tried again with more time, the others in any case.
        """
        return self in (Status.COMPLETED, Status.ENDED, Status.FAULTED)

    @property
    def is_good(self) -> bool:
        """Whether the run came to its horizon, or to an end of the domain's; only such runs enter a mean."""
        return self in (Status.COMPLETED, Status.ENDED)

    @property
    def is_failure(self) -> bool:
        """Whether something went wrong; an end is none, whether the domain calls it a success or not."""
        return self in (Status.FAULTED, Status.TIMED_OUT, Status.LOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How, when and why a run ended.

    Attributes:
        status: the kind of outcome.
        tick: the step that was the last one (of a fault: the step that faulted).
        time_s: simulated time reached [s].
        reason: an end's domain reason, for example ``"fell"``.
        success: whether that end is a success; None unless ``ended``.
        phase: the canonical phase of a fault or an end.
        kind: a fault's kind, for example ``"diverged"``.
        component: who ended the run.
        message: one sentence for people.
    """

    status: Status
    tick: int | None = None
    time_s: float | None = None
    reason: str | None = None
    success: bool | None = None
    phase: str | None = None
    kind: str | None = None
    component: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReceipt:
    """Which draws of a noise stream a run used: enough to prove that two runs saw the same noise.

    Attributes:
        key: the stream's key, 32 hexadecimal digits.
        first: index of the first draw used.
        count: number of draws used.
        width: raw words per draw.
        digest: XXH3-128 of the raw words used, in order.
    """

    key: str
    first: int
    count: int
    width: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run's result.  Equality ignores where, when and how often it was tried.

    Attributes:
        run_id: digest of plan_id and seed.
        plan_id: what was run.
        seed: the episode seed.
        outcome: how it ended.
        metrics: value per metric; None where its window did not complete.
        summaries: trace summaries, ``component/quantity``.
        trace_digest: digest of the whole trace.
        receipts: noise receipts, ``component/stream``.
        remarks: what controllers said about how they work, for people.
        code_id: digest of the code that decided the bits.
        node: fingerprint of where it ran.
        wall_s: its share of the wall time [s].
        attempt: 1 for the first try.
    """

    run_id: str
    plan_id: str
    seed: int
    outcome: Outcome
    metrics: Mapping[str, float | None]
    summaries: Mapping[str, float]
    trace_digest: str
    receipts: Mapping[str, StreamReceipt]
    remarks: tuple[str, ...] = field(default=(), compare=False)
    code_id: str = field(default="", compare=False)
    node: Mapping[str, str] = field(default_factory=dict, compare=False)
    wall_s: float = field(default=0.0, compare=False)
    attempt: int = field(default=1, compare=False)

    def to_json(self) -> dict[str, Any]:
        """The record as plain data, for the ledger."""
        # Not dataclasses.asdict, which copies deeply and takes ten times as long: every run passes here.
        receipts = {name: _shallow(receipt) for name, receipt in self.receipts.items()}
        return {**_shallow(self), "outcome": _shallow(self.outcome), "receipts": receipts}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunRecord:
        """The record that :meth:`to_json` wrote."""
        outcome = dict(data["outcome"])
        outcome["status"] = Status(outcome["status"])
        receipts = {name: StreamReceipt(**receipt) for name, receipt in data["receipts"].items()}
        remarks = tuple(data.get("remarks", ()))
        return cls(**{**data, "outcome": Outcome(**outcome), "receipts": receipts, "remarks": remarks})


def _shallow(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}
