"""The ledger keeps what it was told, whatever kills the teller."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import LedgerError
from sweep.results import Ledger, Outcome, RunRecord, Status, lock
from sweep.results.lock import WriterLock
from tests.analysis.synthetic import build, cell, header, latencies, record, run_row

ROOT = Path(__file__).parents[2]
RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Whoever finds a ledger locked says so at once."""
    monkeypatch.setattr(lock, "PATIENCE_S", 0.05)


def outcome(status: Status) -> Outcome:
    return Outcome(status=status)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "sweep" / "ledger.sqlite", header()) as opened:
        yield opened


def test_all_of_it_survives_reopening(tmp_path):
    cells = latencies(0.002, 0.005)
    folder = build(tmp_path / "s", cells, range(3))
    with Ledger.open(folder, read_only=True) as again:
        assert again.header == header()
        assert list(again.header.axes) == ["latency", "mass_scale"]
        assert again.cells() == cells
        assert again.runs() == [run_row(c, s) for s in range(3) for c in cells]
        assert again.records() == [record(c, s) for s in range(3) for c in cells]
        assert again.done("c0de" * 4) == {r.run_id for r in again.records()}
        assert again.done("other") == set()
        assert again.state == "finished"


def test_extending_keeps_cells_and_runs_and_reorders(ledger):
    old, new = cell(0, latency=0.005), cell(0, latency=0.001)
    ledger.add_cells([old])
    ledger.add_runs([run_row(old, 0)])
    ledger.append([record(old, 0)])
    ledger.add_cells([new, cell(1, latency=0.005)])
    ledger.add_runs([run_row(new, 0), run_row(old, 0)])
    assert [c.values["latency"] for c in ledger.cells()] == [0.001, 0.005]
    assert len(ledger.runs()) == 2
    assert ledger.records() == [record(old, 0)]


def test_every_seed_of_64_bits_comes_back_as_it_was(ledger):
    one, seeds = cell(0, latency=0.005), [0, 2**63 - 1, 2**63, 2**64 - 1]
    ledger.add_cells([one])
    ledger.add_runs(run_row(one, seed) for seed in seeds)
    ledger.append([record(one, seed) for seed in seeds])
    assert [run.seed for run in ledger.runs()] == seeds
    assert [seed for _, seed, *_ in ledger.parts()] == seeds
    ledger.add_runs(run_row(one, seed) for seed in seeds)
    assert len(ledger.runs()) == len(seeds)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
def test_what_is_no_seed_is_refused(ledger, seed):
    one = cell(0, latency=0.005)
    ledger.add_cells([one])
    with pytest.raises(LedgerError, match=r"seeds are integers from 0 to 2\*\*64 - 1"):
        ledger.add_runs([(f"{seed}", one.cell_id, one.plan_id, seed)])
    assert ledger.runs() == []


@pytest.mark.parametrize(
    ("designs", "order"),
    [
        ([(2, 5), (5, 9, 2)], [5, 9, 2]),  # all that is known is in it: its order is that of the sweep
        ([(2, 5), (9,)], [2, 5, 9]),
        ([(2, 5), (9,), (7, 5, 8)], [2, 5, 9, 7, 8]),
        ([(2, 5), (9,), (5, 2)], [2, 5, 9]),
        ([(2, 5), (9,), (9, 5, 2)], [9, 5, 2]),
        ([(2, 2)], [2]),
    ],
)
def test_no_two_cells_have_one_place_whatever_an_extension_leaves_out(ledger, designs, order):
    for design in designs:
        ledger.add_cells(latencies(*design))
        stored = [place for (place,) in ledger._database.rows("SELECT ordinal FROM cells ORDER BY 1")]
        assert stored == list(range(len(stored)))
    assert [c.values["latency"] for c in ledger.cells()] == order
    assert [c.ordinal for c in ledger.cells()] == list(range(len(order)))


def test_cells_that_resolve_to_one_plan_share_a_run(ledger):
    a, b = latencies(0.002, 0.0020001)
    shared = {"run_id": "r", "plan_id": "p"}
    ledger.add_cells([a, b])
    ledger.add_runs([("r", a.cell_id, "p", 0), ("r", b.cell_id, "p", 0)])
    ledger.append([record(a, 0, **shared)])
    assert len(ledger.records()) == 1
    assert [row[:3] for row in ledger.parts()] == [(a.cell_id, 0, "completed"), (b.cell_id, 0, "completed")]


@pytest.mark.parametrize("first", list(Status))
@pytest.mark.parametrize("second", list(Status))
@pytest.mark.parametrize("code", ["same", "other"])
def test_what_replaces_what(tmp_path, first, second, code):
    place = cell()
    with Ledger.create(tmp_path / "ledger.sqlite", header()) as ledger:
        ledger.add_cells([place])
        ledger.add_runs([run_row(place, 0)])
        ledger.append([record(place, 0, outcome=outcome(first), code_id="same")])
        ledger.append([record(place, 0, outcome=outcome(second), code_id=code, attempt=2)])
        (kept,) = ledger.records()
        replaced = not first.is_final or code == "other"
        assert kept.attempt == (2 if replaced else 1)
        assert [r.attempt for r in ledger.superseded()] == ([1] if replaced else [])


def test_a_run_nobody_planned_is_refused_and_the_batch_with_it(ledger):
    place = cell()
    ledger.add_cells([place])
    ledger.add_runs([run_row(place, 0)])
    before = ledger.revision
    with pytest.raises(LedgerError, match="add_runs"):
        ledger.append([record(place, 0), record(place, 1)])
    assert ledger.records() == []
    assert ledger.revision == before


def test_a_changed_plan_is_refused(ledger):
    place = cell()
    ledger.add_cells([place])
    ledger.add_runs([run_row(place, 0)])
    with pytest.raises(LedgerError, match="Plan has changed"):
        ledger.add_runs([("elsewhere", place.cell_id, "another", 0)])
    with pytest.raises(LedgerError, match="does not have"):
        ledger.add_runs([("x", "nowhere", "p", 0)])


def test_nan_is_refused_by_name(ledger):
    place = cell()
    ledger.add_cells([place])
    ledger.add_runs([run_row(place, 0)])
    with pytest.raises(LedgerError, match=record(place, 0).run_id):
        ledger.append([record(place, 0, metrics={"tracking_error_rms": float("nan")})])


def test_commits_and_revision_only_grow(ledger):
    place = cell()
    ledger.add_cells([place])
    ledger.add_runs(run_row(place, s) for s in range(50))
    seen = []
    for seed in range(50):
        ledger.append([record(place, seed)])
        seen.append((ledger.revision, max(time for *_, time, body in ledger.parts() if body)))
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(seen))


def test_session_states(tmp_path):
    path = tmp_path / "ledger.sqlite"
    writer = Ledger.create(path, header())
    reader = Ledger.open(path, read_only=True)
    assert reader.state == "new"
    writer.begin({"host": "here"})
    assert reader.state == "running"
    session = reader.session()
    assert session is not None
    assert (session.pid, session.finished_ms, session.provenance) == (os.getpid(), None, {"host": "here"})
    writer.close()
    assert reader.state == "interrupted"
    with Ledger.open(path) as writer:
        writer.begin({})
        writer.finish()
        assert reader.state == "finished"
        writer.begin({})
        writer.finish("interrupted")
    assert reader.state == "interrupted"
    reader.close()


def test_a_second_writer_is_refused_and_readers_are_not(ledger):
    with pytest.raises(LedgerError, match=rf"process {os.getpid()} on .*, since 2\d\d\d-.* only one can"):
        Ledger.open(ledger.path)
    with Ledger.open(ledger.path, read_only=True) as reader, pytest.raises(LedgerError, match="reading only"):
        reader.append([])
    ledger.close()
    Ledger.open(ledger.path).close()


def test_a_lock_that_another_machine_holds_is_explained(ledger):
    file = ledger.path.with_name("ledger.lock")
    file.write_text("process 12 on another-machine, since 2026-01-02 03:04:05+00:00")
    with pytest.raises(LedgerError, match=rf"process 12 on another-machine, since .* is off .* remove {file}"):
        Ledger.open(ledger.path)
    file.write_text("")  # a full disk had no room for its label
    with pytest.raises(LedgerError, match="another process, is writing"):
        Ledger.open(ledger.path)


def test_a_lock_is_empty_when_it_was_left_in_good_order(tmp_path):
    path = tmp_path / "ledger.lock"
    held = WriterLock(path)
    assert not held.was_abandoned
    label = path.read_text()
    held.release()
    assert path.read_text() == ""
    path.write_text(label)
    held = WriterLock(path)
    assert held.was_abandoned
    held.release()


def test_a_reader_sees_commits_while_the_writer_goes_on(ledger):
    place = cell()
    with Ledger.open(ledger.path, read_only=True) as reader:
        ledger.add_cells([place])
        ledger.add_runs(run_row(place, s) for s in range(5))
        for seed in range(5):
            before = reader.revision
            ledger.append([record(place, seed)])
            assert reader.revision > before
            assert len(reader.records()) == seed + 1


def test_missing_foreign_and_too_new_files(tmp_path):
    with pytest.raises(LedgerError, match="There is no ledger"):
        Ledger.open(tmp_path)
    text = tmp_path / "text.sqlite"
    text.write_text("not a database " * 100)
    with pytest.raises(LedgerError, match="not a readable ledger"):
        Ledger.open(text)
    foreign = tmp_path / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(LedgerError, match="not the ledger of a sweep"):
        Ledger.open(foreign, read_only=True)
    Ledger.create(tmp_path / "ledger.sqlite", header()).close()
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LedgerError, match="later version"):
        Ledger.open(tmp_path)
    with pytest.raises(LedgerError, match="exists already"):
        Ledger.create(tmp_path / "ledger.sqlite", header())


def test_disk_full_is_clear_and_harmless(ledger):
    place = cell()
    ledger.add_cells([place])
    ledger.add_runs(run_row(place, s) for s in range(500))
    ledger.append([record(place, 0)])
    (pages,) = ledger._database._connection.execute("PRAGMA page_count").fetchone()
    ledger._database._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match="disk is full"):
        ledger.append(record(place, s) for s in range(1, 500))
    assert len(ledger.records()) == 1
    ledger._database._connection.execute("PRAGMA max_page_count = 1000000")
    ledger.append(record(place, s) for s in range(1, 500))
    assert len(ledger.records()) == 500


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_read_only_folder(tmp_path):
    build(tmp_path / "s", [cell()], range(2))
    for path in [*(tmp_path / "s").iterdir(), tmp_path / "s"]:
        path.chmod(0o555)
    try:
        with Ledger.open(tmp_path / "s", read_only=True) as reader:
            assert len(reader.records()) == 2
        with pytest.raises(LedgerError, match="cannot be written"):
            Ledger.open(tmp_path / "s")
    finally:
        (tmp_path / "s").chmod(0o755)


def test_a_folder_that_cannot_be_made():
    with pytest.raises(LedgerError, match="cannot be made"):
        Ledger.create("/proc/nowhere/ledger.sqlite", header())


KILLED = """
import os, signal, sys
from pathlib import Path
from sweep.results import Ledger
from tests.analysis.synthetic import cell, header, record, run_row
place, when = cell(), int(sys.argv[2])
ledger = Ledger.create(Path(sys.argv[1]), header())
ledger.add_cells([place])
ledger.add_runs(run_row(place, s) for s in range(2000))
ledger.begin({})
ledger.append(record(place, s) for s in range(10))
ledger._database._connection.execute("PRAGMA cache_size = 1")  # spills: the file itself is torn when the process dies
count = 0
def trace(statement):
    global count
    count += statement.startswith("INSERT OR REPLACE INTO records")
    if count == when:
        os.kill(os.getpid(), signal.SIGKILL)
ledger._database._connection.set_trace_callback(trace)
ledger.append(record(place, s) for s in range(10, 2000))
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", [1, 150, 1990])
@pytest.mark.parametrize("read_only", [True, False])
def test_kill_9_loses_only_its_transaction(tmp_path, when, read_only):
    path = tmp_path / "ledger.sqlite"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED, path, str(when)], env=environment, cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    if when == 1990:
        assert path.with_name("ledger.sqlite-journal").exists()
    with Ledger.open(path, read_only=read_only) as survivor:
        assert survivor.state == "interrupted"
        assert survivor.records() == [record(cell(), s) for s in range(10)]
    with Ledger.open(path) as again:
        again.append(record(cell(), s) for s in range(2000))
        assert len(again.records()) == 2000


RUNS = st.integers(0, 4)
ATTEMPTS = st.builds(
    lambda seed, status, code, attempt: record(
        cell(), seed, outcome=outcome(status), code_id=code, attempt=attempt, metrics={}
    ),
    RUNS,
    st.sampled_from(Status),
    st.sampled_from(["old", "new"]),
    st.integers(1, 9),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.lists(ATTEMPTS, max_size=4), st.just("reopen"), st.just("again")), max_size=12))
def test_it_is_a_dict_with_one_rule(steps):
    model: dict[str, RunRecord] = {}
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        path = Path(folder) / "ledger.sqlite"
        ledger = Ledger.create(path, header())
        ledger.add_cells([cell()])
        ledger.add_runs(run_row(cell(), s) for s in range(5))
        for step in steps:
            if step == "reopen":
                ledger.close()
                ledger = Ledger.open(path)
            elif step == "again":
                ledger.append(ledger.records())
            else:
                ledger.append(step)
                for new in step:
                    old = model.get(new.run_id)
                    if old is None or not old.outcome.status.is_final or old.code_id != new.code_id:
                        model[new.run_id] = new
            found = {r.run_id: (r, r.attempt, r.code_id) for r in ledger.records()}
            assert found == {i: (r, r.attempt, r.code_id) for i, r in model.items()}
            assert len(ledger.records()) == len(found)
            for code in ("old", "new"):
                final = {i for i, r in model.items() if r.outcome.status.is_final and r.code_id == code}
                assert ledger.done(code) == final
        ledger.close()
