"""Ledgers of every schema there was, never made again: the present code reads and continues them all."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from sweep.results import Ledger, Status
from sweep.results.attempts import Ending, State
from sweep.results.schema import SCHEMA_VERSION

GOLDEN = Path(__file__).parents[1] / "golden"
LEDGERS = sorted(GOLDEN.glob("ledger-*.sqlite"))


def told(ledger):
    """What a ledger says, as its golden JSON has it; what timed out was done for good when it was written."""
    code, late = ledger.header.code_id, ledger.records([Status.TIMED_OUT])
    return {
        "header": ledger.header.to_json(),
        "cells": [[c.cell_id, c.label, dict(c.values), dict(c.parameters), c.plan_id] for c in ledger.cells()],
        "runs": [list(run) for run in ledger.runs()],
        "records": [r.to_json() for r in ledger.records()],
        "superseded": [r.to_json() for r in ledger.superseded()],
        "done": sorted(ledger.done(code) | {record.run_id for record in late if record.code_id == code}),
        "state": ledger.state,
        "command": ledger.session().provenance["command"],
        "attempts": {
            run_id: [[a.number, a.session, a.worker, a.lanes, a.ending, a.detail] for a in history.attempts]
            for run_id, history in sorted(ledger.leases.histories().items())
        },
    }


def wanted(path):
    """The golden JSON; that of the first schema has places of cells, which could repeat, and no attempts."""
    document = json.loads(path.with_suffix(".json").read_text())
    document.pop("revision", None)
    document["cells"] = [[entry for entry in cell if not isinstance(entry, int)] for cell in document["cells"]]
    document.setdefault("attempts", {})
    document["header"] = {"files": {}, "code": {}, **document["header"]}
    return document


def as_json(value):
    return json.loads(json.dumps(value))


def test_there_is_one_of_every_schema():
    assert [path.stem for path in LEDGERS] == [f"ledger-{version}" for version in range(1, SCHEMA_VERSION + 1)]


@pytest.mark.parametrize("golden", LEDGERS, ids=lambda path: path.stem)
def test_a_reader_leaves_an_old_ledger_as_it_is(golden, tmp_path):
    path = Path(shutil.copy(golden, tmp_path / "ledger.sqlite"))
    path.chmod(0o444)
    with Ledger.open(path, read_only=True) as ledger:
        assert as_json(told(ledger)) == wanted(golden)
        assert [cell.ordinal for cell in ledger.cells()] == list(range(len(ledger.cells())))
    assert path.read_bytes() == golden.read_bytes()


@pytest.mark.parametrize("golden", LEDGERS, ids=lambda path: path.stem)
def test_a_writer_brings_it_up_to_date_and_goes_on(golden, tmp_path):
    path = Path(shutil.copy(golden, tmp_path / "ledger.sqlite"))
    expected = wanted(golden)
    with Ledger.open(path) as ledger:
        assert as_json(told(ledger)) == expected
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        todo = [run.run_id for run in ledger.runs() if run.run_id not in expected["done"]]
        records = {record.run_id: record for record in ledger.records()}
        again = [records[run_id] for run_id in dict.fromkeys(todo) if run_id in records]
        ledger.begin({"command": ["python"]})
        ledger.leases.lease([record.run_id for record in again])
        ledger.append(again)
        histories = ledger.leases.histories()
        assert all(histories[record.run_id].attempts[-1].ending is Ending.ANSWERED for record in again)
        assert all(histories[record.run_id].state in (State.LOST, State.PENDING) for record in again)
        ledger.add_cells(ledger.cells()[:1])
        places = [row for (row,) in ledger._database.rows("SELECT ordinal FROM cells ORDER BY 1")]
        assert places == list(range(len(places)))
