"""Judge: a sweep that was disturbed against one that was not; both end with the same bits, or it says where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from sweep.digest import canonical_json
from sweep.results import Ledger, RunRecord, Status
from sweep.results.attempts import Ending
from sweep.results.session import FINISHED
from tests.tracking.stores import Store

DECIDED = {field.name for field in fields(RunRecord) if field.compare} | {"code_id"}
"""What of a record must not depend on where, when and how often it was tried."""

FEW = 3


def complaints(disturbed: Path, undisturbed: Path) -> list[str]:
    """What is wrong with the ledger of a disturbed sweep; nothing if it is as good as the other."""
    with Ledger.open(disturbed, read_only=True) as there, Ledger.open(undisturbed, read_only=True) as here:
        return [*_accounts(there), *_differences(there, here)]


def mirror_complaints(disturbed: Store, undisturbed: Store) -> list[str]:
    """What MLflow says otherwise of a disturbed sweep; every cell is to be there once, under one parent."""
    try:
        (parent, there), (other, here) = disturbed.runs(), undisturbed.runs()
    except AssertionError:
        return [f"MLflow: {len(disturbed.all_runs())} runs that are not a parent with one child for each cell"]
    found = [f"MLflow: {parent.info.status} is the sweep"] if parent.info.status != other.info.status else []
    found += _told("cells that only one has, in MLflow", there.keys() ^ here.keys())
    for what in ("params", "metrics"):
        differing = [cell for cell in there.keys() & here.keys() if _data(there[cell], what) != _data(here[cell], what)]
        found += _told(f"cells with other {what}, in MLflow", differing)
    unequal = [cell for cell in there.keys() & here.keys() if there[cell].info.status != here[cell].info.status]
    return [*found, *_told("cells with another state, in MLflow", unequal)]


def endings(folder: Path) -> Counter[str]:
    """Attempts by how they ended."""
    with Ledger.open(folder, read_only=True) as ledger:
        histories = ledger.leases.histories().values()
        return Counter(str(attempt.ending) for history in histories for attempt in history.attempts)


def lost_for_a_while(folder: Path) -> int:
    """Runs that were given up once, and are not any more."""
    with Ledger.open(folder, read_only=True) as ledger:
        return len({record.run_id for record in ledger.superseded() if record.outcome.status is Status.LOST})


def _accounts(ledger: Ledger) -> Iterator[str]:
    """What is wrong with how the runs were accounted for."""
    if ledger.state != FINISHED:
        yield f"the ledger says that it is {ledger.state}"
    histories = ledger.leases.histories()
    yield from _told("runs in hand", (run for run, history in histories.items() if history.attempts[-1].is_open))
    answers = Counter(
        run for run, history in histories.items() for a in history.attempts if a.ending is Ending.ANSWERED
    )
    twice = (run_id for run_id in ledger.statuses() if answers[run_id] != 1)
    yield from _told("runs that were not answered exactly once", twice)
    replaced = (record.run_id for record in ledger.superseded() if record.outcome.status.is_final)
    yield from _told("final records that were replaced", replaced)


def _differences(there: Ledger, here: Ledger) -> Iterator[str]:
    if there.header.model_id != here.header.model_id or there.header.code_id != here.header.code_id:
        yield "they are two sweeps"
    rows, others = ([row.run_id for row in ledger.runs()] for ledger in (there, here))
    if rows != others:
        yield f"{len(rows)} runs were asked for, {len(others)} in the other"
    records, expected = ({record.run_id: record for record in ledger.records()} for ledger in (there, here))
    yield from _told("runs without a record", expected.keys() - records.keys())
    yield from _told("runs that nobody asked for", records.keys() - expected.keys())
    differing = [run for run in expected.keys() & records.keys() if _bits(expected[run]) != _bits(records[run])]
    yield from _told("records that differ", differing)


def _bits(record: RunRecord) -> str:
    """A record as text in which every bit of a float shows."""
    return canonical_json({name: value for name, value in record.to_json().items() if name in DECIDED})


def _data(run, what: str) -> dict:
    return dict(getattr(run.data, what))


def _told(what: str, which: Iterable[str]) -> list[str]:
    which = sorted(which)
    more = f" and {len(which) - FEW} more" if len(which) > FEW else ""
    return [f"{len(which)} {what}: {', '.join(which[:FEW])}{more}"] if which else []
