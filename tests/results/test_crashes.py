"""Ten thousand crashes: at whatever statement the writer is killed, the ledger is what it was before or after the call.

A crash is simulated by what it leaves: the bytes of the database, its journal and its lock at that moment, in a folder
of their own.  With a cache of one page SQLite writes pages before it commits, so most of these files are torn.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.results import Ledger, Outcome, Status, schema
from sweep.results import database as database_module
from sweep.results.attempts import HERE, Ending, RunHistory, State
from tests.analysis.synthetic import cell, header, record, run_row

ROOT = Path(__file__).parents[2]
PLACE = cell()
SEEDS = range(5)
IDS = {run_row(PLACE, seed)[0]: seed for seed in SEEDS}
FILES = ("ledger.sqlite", "ledger.sqlite-journal", "ledger.lock")
RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True)
class Model:
    """What a ledger should hold: the rules applied to plain values."""

    histories: dict[str, RunHistory]

    def each(self, run_ids, step):
        changed = {run_id: step(self.histories.get(run_id, RunHistory())) for run_id in run_ids}
        return Model({**self.histories, **changed})

    def settled(self, ending):
        held = [run_id for run_id, h in self.histories.items() if h.state is State.LEASED]
        return self.each(held, lambda h: h.ended(ending, now_ms=0))

    @property
    def facts(self):
        return {
            run_id: (h.status, [(a.number, a.worker, a.lanes, a.ending) for a in h.attempts])
            for run_id, h in self.histories.items()
            if h.attempts or h.status
        }

    @property
    def done(self):
        return {run_id for run_id, h in self.histories.items() if h.status is not None and h.status.is_final}


def facts(ledger):
    """What a ledger holds, by both of the ways to ask; each run once."""
    statuses, records = ledger.statuses(), ledger.records()
    assert {r.run_id: r.outcome.status for r in records} == statuses
    assert len(records) == len(statuses)
    histories = ledger.leases.histories()
    assert all(h.status == statuses.get(run_id) for run_id, h in histories.items())
    return Model({**{i: RunHistory(status=s) for i, s in statuses.items()}, **histories}).facts


@dataclass
class Crash:
    """The files that a kill leaves, and what may be in them."""

    files: dict[str, bytes]
    models: tuple[Model, ...]
    is_untouched: bool

    @property
    def ending(self):
        """How what was in hand ends: nobody emptied the lock, or somebody did."""
        return Ending.ORPHANED if self.files.get("ledger.lock") else Ending.CANCELLED

    def restore(self, folder, rng=None):
        """Write them; with ``rng`` the journal is cut, which a power cut may do while the database is untouched."""
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        for name, content in self.files.items():
            cut = rng is not None and self.is_untouched and name == "ledger.sqlite-journal"
            (folder / name).write_bytes(content[: rng.randrange(len(content) + 1)] if cut else content)


class Writer:
    """A ledger, its model, and every distinct crash that could have happened on the way."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self._forget(monkeypatch)
        self.model = self.next = Model({})
        Ledger.create(folder / FILES[0], header()).close()
        self.open(Ending.CANCELLED)

    def _forget(self, monkeypatch):
        self.crashes: list[Crash] = []
        self.points = 0
        self._seen: set[tuple[bytes, ...]] = set()
        self._start = b""
        monkeypatch.setattr(database_module, "connect", self._connect)

    def revive(self, crash, model, monkeypatch):
        """Go on from what a crash left."""
        crash.restore(self.folder)
        self._forget(monkeypatch)
        self.model = self.next = model
        self.open(crash.ending)

    def _connect(self, path):
        connection = schema.connect(path)
        connection.execute("PRAGMA cache_size = 1")
        connection.set_trace_callback(self._snap)
        return connection

    def _snap(self, statement):
        """A statement is about to be executed: what would be left if the process ended here?"""
        self.points += 1
        files = {name: (self.folder / name).read_bytes() for name in FILES if (self.folder / name).exists()}
        if (key := tuple(files.values())) not in self._seen:
            self._seen.add(key)
            self.crashes.append(Crash(files, (self.model, self.next), files.get(FILES[0]) == self._start))

    def open(self, ending):
        """Open the ledger, after a writer that left in good order, or one that died."""
        self.next = self.model.settled(ending)
        self.ledger = Ledger.open(self.folder / FILES[0])
        self._reached()
        self.ledger.add_cells([PLACE])
        self.ledger.add_runs(run_row(PLACE, seed) for seed in SEEDS)
        self.ledger.begin({})
        self._reached()

    def _reached(self):
        self.model = self.next
        self._start = (self.folder / FILES[0]).read_bytes()
        self._snap("")

    def do(self, step, call):
        """Make one call of which the model knows the outcome."""
        self.next = step(self.model)
        call(self.ledger)
        self._reached()
        assert facts(self.ledger) == self.model.facts


def perform(writer, step):
    """One of the things that drivers do, as far as the rules allow it now."""
    kind, seeds, lanes, detail = step
    ids = [run_row(PLACE, seed)[0] for seed in seeds]
    held = [i for i in ids if writer.model.histories.get(i, RunHistory()).state is State.LEASED]
    free = [i for i in ids if i not in held]
    if kind == "lease":
        worker = HERE if lanes else "worker 1"
        writer.do(
            lambda m: m.each(free, lambda h: h.leased(worker, len(free), session=0, now_ms=0)),
            lambda ledger: ledger.leases.lease(free, worker),
        )
    elif kind == "give_back":
        writer.do(
            lambda m: m.each(held, lambda h: h.ended(Ending.RETURNED, now_ms=0)),
            lambda ledger: ledger.leases.give_back(held),
        )
    elif kind == "died":
        writer.do(
            lambda m: m.each(held, lambda h: h.ended(Ending.DIED, now_ms=0)),
            lambda ledger: ledger.leases.died(held, "killed"),
        )
    elif kind == "overdue":
        writer.do(
            lambda m: m.each(held, lambda h: h.ended(Ending.OVERDUE, now_ms=0)),
            lambda ledger: ledger.leases.overdue(held, "late"),
        )
    elif kind == "append":
        writer.do(
            lambda m: m.each(ids, lambda h: h.answered(detail, now_ms=0)),
            lambda ledger: ledger.append(record(PLACE, IDS[i], outcome=Outcome(status=detail)) for i in ids),
        )
    else:
        if kind == "finish":
            writer.do(lambda m: m.settled(Ending.CANCELLED), lambda ledger: ledger.finish("interrupted"))
        writer.ledger.close()
        writer.open(Ending.CANCELLED)


def check(crash, folder, rng):
    """What a reader, and then the next writer, finds after a crash; returns the first."""
    crash.restore(folder, rng)
    with Ledger.open(folder, read_only=True) as reader:
        found = facts(reader)
    model = next((m for m in crash.models if m.facts == found), None)
    assert model is not None, "neither what was before the call nor what is after it"
    assert crash.models[0].done <= model.done, "done was undone"
    with Ledger.open(folder) as ledger:
        after = model.settled(crash.ending)
        assert facts(ledger) == after.facts
        assert model.done <= after.done
        assert not any(h.state is State.LEASED for h in ledger.leases.histories().values())
    return model


KINDS = ("lease", "lease", "append", "append", "give_back", "died", "overdue", "finish", "reopen")
STEPS = st.tuples(
    st.sampled_from(KINDS),
    st.sets(st.sampled_from(SEEDS), min_size=1).map(sorted),
    st.booleans(),
    st.sampled_from(Status),
)


def simulate(lives, rng):
    """Drivers one after the other, each killed at every point of its work; the next goes on from one of these crashes.

    Returns:
        How many crash points there were.
    """
    points = 0
    with tempfile.TemporaryDirectory(dir=RAM) as place, pytest.MonkeyPatch.context() as patch:
        copy = Path(place, "copy")
        copy.mkdir()
        writer = Writer(Path(place, "sweep"), patch)
        for steps in lives:
            for step in steps:
                perform(writer, step)
            writer.ledger.close()
            patch.undo()
            points += writer.points
            models = [check(crash, copy, rng if rng.random() < 0.5 else None) for crash in writer.crashes]
            chosen = rng.randrange(len(models))
            writer.revive(writer.crashes[chosen], models[chosen], patch)
        writer.ledger.close()
    return points


@settings(max_examples=4, deadline=None)
@given(st.lists(st.lists(STEPS, max_size=4), min_size=1, max_size=2), st.randoms(use_true_random=False))
def test_a_crash_anywhere_leaves_what_was_before_or_after(lives, rng):
    assert simulate(lives, rng) > 0


@pytest.mark.slow
def test_ten_thousand_crashes():
    rng, points = random.Random(20_261_130), 0
    while points < 10_000:
        lives = [
            [
                (
                    rng.choice(KINDS),
                    sorted(rng.sample(SEEDS, rng.randint(1, 5))),
                    rng.random() < 0.7,
                    rng.choice([*Status]),
                )
                for _ in range(rng.randint(1, 8))
            ]
            for _ in range(rng.randint(2, 6))
        ]
        points += simulate(lives, rng)


@pytest.mark.slow
def test_a_crash_in_the_middle_of_bringing_an_old_ledger_up_to_date(monkeypatch, tmp_path):
    golden = (ROOT / "tests/golden/ledger-1.sqlite").read_bytes()
    place, copy = tmp_path / "sweep", tmp_path / "copy"
    place.mkdir()
    copy.mkdir()
    (place / FILES[0]).write_bytes(golden)
    crashes = []

    def connect(path):
        connection = schema.connect(path)
        connection.execute("PRAGMA cache_size = 1")
        connection.set_trace_callback(
            lambda _: crashes.append({name: (place / name).read_bytes() for name in FILES if (place / name).exists()})
        )
        return connection

    monkeypatch.setattr(database_module, "connect", connect)
    with Ledger.open(place) as ledger:
        wanted = ledger.records()
    monkeypatch.undo()
    assert len(crashes) > 10
    for files in crashes:
        Crash(files, (), is_untouched=False).restore(copy)
        for read_only in (True, False, True):
            with Ledger.open(copy, read_only=read_only) as ledger:
                assert ledger.records() == wanted


DRIVER = """
import os, sys
from sweep.results import Ledger
from tests.analysis.synthetic import cell, record, run_row
seeds = [run_row(cell(), s)[0] for s in range(600)]
with Ledger.open(sys.argv[1]) as ledger:
    ledger.begin({})
    done = ledger.statuses()
    todo = [s for s in range(600) if seeds[s] not in done]
    for first in range(0, len(todo), 8):
        shard = todo[first : first + 8]
        ledger.leases.lease([seeds[s] for s in shard], "worker 1")
        ledger.append(record(cell(), s) for s in shard)
        print(*[seeds[s] for s in shard], flush=True)  # told only once it is committed
    ledger.finish()
"""


@pytest.mark.slow
def test_kill_9_of_writers_until_one_is_left_to_finish(tmp_path):
    path, rng = tmp_path / "ledger.sqlite", random.Random(7)
    with Ledger.create(path, header()) as ledger:
        ledger.add_cells([PLACE])
        ledger.add_runs(run_row(PLACE, s) for s in range(600))
    told, kills, code = set(), 0, None
    while code != 0:
        with subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(path)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            line = process.stdout.readline()
            if kills < 8:
                time.sleep(rng.uniform(0, 0.05))
                process.kill()
            told |= set((line + process.stdout.read()).split())
        code, kills = process.returncode, kills + 1
        assert code in (0, -signal.SIGKILL)
        with Ledger.open(path, read_only=True) as ledger:
            assert told <= set(ledger.statuses()), "told of a run that is not committed"
            assert ledger.state == ("finished" if code == 0 else "interrupted")
    assert kills == 9
    with Ledger.open(path, read_only=True) as ledger:
        assert ledger.records() == [record(PLACE, s) for s in range(600)]
        assert ledger.superseded() == []
        attempts = [h.attempts for h in ledger.leases.histories().values()]
    assert sum(len(those) > 1 for those in attempts) <= 8 * 8, "only what was in hand ran again"
    assert all(those[-1].ending is Ending.ANSWERED for those in attempts)
