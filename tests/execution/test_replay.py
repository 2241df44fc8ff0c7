"""Timing case 29: where a run's bits need not come out again, replay says why with both values, or refuses."""

from __future__ import annotations

import json
import sqlite3

import pytest

from sweep.cli import main
from sweep.execution.collect import collect
from sweep.execution.folder import SweepFolder
from sweep.execution.node import DECIDING, class_differences, node_fingerprint
from sweep.execution.planning import plan_sweep

OTHER = {"machine": "riscv64", "features": "SSE SSE2 NOTHING_ELSE", "mujoco": "3.9.0", "numpy": "1.99.9"}


@pytest.fixture
def replay(scene, capsys):
    """``replay(change, *options) -> (exit code, what was printed)`` of a run whose stored record is changed first."""
    spec = scene.spec(seeds=[4])
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    collect(planned, folder, spec)
    run_id = planned.runs[0].run_id

    def call(change, *options):
        with sqlite3.connect(folder.path / "ledger.sqlite") as connection:
            (body,) = connection.execute("SELECT body FROM records WHERE run_id = ?", (run_id,)).fetchone()
            record = json.loads(body)
            change(record)
            connection.execute("UPDATE records SET body = ? WHERE run_id = ?", (json.dumps(record), run_id))
        connection.close()
        capsys.readouterr()
        code = main(["replay", run_id, "--dir", str(folder.path), *options])
        return code, "".join(capsys.readouterr())

    return call


def test_the_same_machine_and_code_is_accepted_by_strict(replay):
    code, said = replay(lambda record: record["node"].update(host="elsewhere", python="3.99"), "--strict")
    assert code == 0
    assert "same digest" in said
    assert "another" not in said


@pytest.mark.parametrize("entry", DECIDING)
def test_row_29_another_class_is_told_with_both_values_and_refused_by_strict(replay, entry):
    def change(record):
        record["node"][entry] = OTHER[entry]

    code, said = replay(change)
    assert (code, "same digest" in said) == (0, True)
    for word in ("another machine class: ", f"here: {node_fingerprint()[entry]}; there: {OTHER[entry]}"):
        assert word in said
    code, said = replay(change, "--strict")
    assert (code, "same digest" in said) == (2, False)
    for word in ("refused by --strict", "another machine class", node_fingerprint()[entry], OTHER[entry]):
        assert word in said


def test_a_record_that_does_not_say_where_it_ran_is_of_another_class(replay):
    code, said = replay(lambda record: record["node"].pop("features"), "--strict")
    assert code == 2
    assert "there: not recorded" in said


def test_other_code_is_refused_by_strict_too(replay):
    code, said = replay(lambda record: record.update(code_id="feedbeef"), "--strict")
    assert code == 2
    assert "there: feedbeef" in said


def test_another_digest_is_told_with_the_reasons(replay):
    code, said = replay(lambda record: record.update(trace_digest="0" * 32) or record["node"].update(OTHER))
    assert code == 1
    assert f"it was {'0' * 32}" in said
    assert all(value in said for value in OTHER.values())


def test_only_what_decides_bits_makes_a_class():
    here = node_fingerprint()
    assert class_differences({**here, "host": "x", "python": "x", "bit_class": "x"}) == []
    assert [line.split(" here")[0] for line in class_differences({})] == list(DECIDING.values())
