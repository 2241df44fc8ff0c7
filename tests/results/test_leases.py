"""Leases in the ledger: one transaction a shard, and what becomes of runs whose driver or worker went."""

from __future__ import annotations

import pytest

from sweep.errors import LedgerError
from sweep.results import Ledger, Outcome, Status
from sweep.results.attempts import HERE, Ending, State
from tests.analysis.synthetic import cell, header, record, run_row

PLACE = cell()
IDS = [run_row(PLACE, seed)[0] for seed in range(6)]


@pytest.fixture
def path(tmp_path):
    with Ledger.create(tmp_path / "ledger.sqlite", header()) as ledger:
        ledger.add_cells([PLACE])
        ledger.add_runs(run_row(PLACE, seed) for seed in range(6))
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def killed(path):
    """Runs a driver up to a point and kills it there; opens the ledger after it."""

    def call(step, state=None):
        with Ledger.open(path) as ledger:
            ledger.begin({})
            step(ledger)
            content = path.with_name("ledger.lock").read_bytes()
        path.with_name("ledger.lock").write_bytes(content)  # as it is when nobody has emptied it
        return Ledger.open(path)

    return call


def test_a_shard_is_leased_and_answered_in_a_transaction_each(path):
    with Ledger.open(path) as ledger:
        ledger.begin({})
        statements = []
        ledger._database._connection.set_trace_callback(statements.append)
        ledger.leases.lease(IDS, "worker 1")
        assert statements.count("COMMIT") == 1
        before = ledger.revision
        taken = f"Run {IDS[3]}: nobody else can take it: attempt 1, with 5 others, by worker 1: in hand"
        with pytest.raises(LedgerError, match=taken):
            ledger.leases.lease([*IDS[3:], IDS[2]], "worker 2")
        assert ledger.revision == before, "a lease is no news for those who follow the ledger"
        statements.clear()
        written = ledger.append(record(PLACE, seed, attempt=7) for seed in range(4))
        assert statements.count("COMMIT") == 1
        assert [r.attempt for r in written] == [1, 1, 1, 1]
        assert ledger.records() == written
        states = {run_id: history.state for run_id, history in ledger.leases.histories().items()}
        assert [states[run_id] for run_id in IDS] == [State.DONE] * 4 + [State.LEASED] * 2
        assert set(ledger.leases.histories(unanswered=True)) == set(IDS[4:])
        (attempt,) = ledger.leases.histories()[IDS[0]].attempts
        assert (attempt.worker, attempt.lanes, attempt.session, attempt.ending) == ("worker 1", 6, 1, Ending.ANSWERED)
        assert attempt.since_ms <= attempt.until_ms


def test_what_a_worker_never_began_is_as_it_was_but_for_the_attempt(path):
    with Ledger.open(path) as ledger:
        ledger.leases.lease(IDS[:3])
        ledger.leases.give_back(IDS[:2])
        ledger.leases.lease(IDS[:2], "worker 2")
        (written,) = ledger.append([record(PLACE, 0)])
        assert written.attempt == 2
        assert [a.ending for a in ledger.leases.histories()[IDS[0]].attempts] == [Ending.RETURNED, Ending.ANSWERED]


def test_a_run_that_kills_its_workers_is_lost_with_its_story(path):
    with Ledger.open(path) as ledger:
        ledger.leases.lease(IDS[:2], "worker 1")
        assert ledger.leases.died(IDS[:2], "signal 11") == []
        for worker in ("worker 2", "worker 3"):
            ledger.leases.lease(IDS[:1], worker)
            lost = ledger.leases.died(IDS[:1], "signal 11")
        assert [(r.run_id, r.seed, r.attempt, r.outcome.status) for r in lost] == [(IDS[0], 0, 3, Status.LOST)]
        story = (
            "attempt 1, with 1 others, by worker 1: died (signal 11); attempt 2, alone, by worker 2: died (signal 11); "
        )
        assert lost[0].outcome.message.startswith(story)
        assert lost[0].metrics == dict.fromkeys(header().metrics)
        assert ledger.records() == lost
        ledger.append(lost)
        assert ledger.superseded() == [], "told twice is no other answer"


def test_whoever_shared_an_overdue_call_is_pending_and_who_was_alone_timed_out_until_more_time_helps(path):
    with Ledger.open(path) as ledger:
        ledger.leases.lease(IDS[:2], "worker 1")
        before = ledger.revision
        ledger.leases.overdue(IDS[:2], "5 s were not enough")
        assert ledger.revision == before, "it is no news that nobody has an answer"
        ledger.leases.lease(IDS[:1], "worker 2")
        late = record(PLACE, 0, outcome=Outcome(status=Status.TIMED_OUT), wall_s=5.0)
        (written,) = ledger.append([late])
        assert written.attempt == 2
        first, other = (ledger.leases.histories(unanswered=True)[run_id] for run_id in IDS[:2])
        assert (first.state, other.state) == (State.TIMED_OUT, State.PENDING)
        assert str(first.attempts[0]) == "attempt 1, with 1 others, by worker 1: overdue (5 s were not enough)"
        assert str(first.attempts[1]) == "attempt 2, alone, by worker 2: overdue"
        assert ledger.done(late.code_id) == set()
        ledger.leases.lease(IDS[:1], "worker 3")
        ledger.append([record(PLACE, 0)])
        assert ledger.records() == [record(PLACE, 0)]
        assert [r.wall_s for r in ledger.superseded()] == [5.0]


def test_an_orphan_counts_as_an_attempt_so_that_a_crash_cannot_loop(killed):
    def crash(ledger):
        ledger.leases.lease(IDS[:1], HERE)

    for count in (1, 2, 3):
        with killed(crash) as ledger:
            history = ledger.leases.histories()[IDS[0]]
            assert [a.ending for a in history.attempts] == [Ending.ORPHANED] * count
            assert "died" in history.attempts[-1].detail
            assert history.state is (State.LOST if count == 3 else State.PENDING)
            assert len(ledger.records()) == (count == 3)


def test_a_driver_that_leaves_in_good_order_orphans_nothing(path):
    with Ledger.open(path) as ledger:
        ledger.begin({})
        ledger.leases.lease(IDS[:2])
        ledger.finish("interrupted")
        assert {h.state for h in ledger.leases.histories().values()} == {State.PENDING}
    with Ledger.open(path) as ledger:
        ledger.begin({})
        ledger.leases.lease(IDS[:2])  # ... and one that could not even say so, for the disk was full
    with Ledger.open(path) as ledger:
        endings = [[a.ending for a in h.attempts] for h in ledger.leases.histories().values()]
        assert endings == [[Ending.CANCELLED] * 2] * 2


def test_a_reader_sees_leases_and_ends_none(path):
    with Ledger.open(path) as ledger, Ledger.open(path, read_only=True) as reader:
        ledger.leases.lease(IDS)
        assert {h.state for h in reader.leases.histories().values()} == {State.LEASED}
        with pytest.raises(LedgerError, match="reading only"):
            reader.leases.give_back(IDS)


def test_a_run_that_runs_again_for_its_trace_keeps_its_record_whatever_becomes_of_it(killed, path):
    with Ledger.open(path) as ledger:
        ledger.append([record(PLACE, 0)])
    for _ in range(4):
        with killed(lambda ledger: ledger.leases.lease(IDS[:1])) as ledger:
            assert ledger.records() == [record(PLACE, 0)]
            assert ledger.leases.histories()[IDS[0]].state is State.DONE
    with Ledger.open(path) as ledger:
        ledger.leases.lease(IDS[:1], "worker 1")
        assert ledger.leases.died(IDS[:1], "again") == [record(PLACE, 0)]


def test_the_pace_is_that_of_the_last_session_that_answered(path):
    with Ledger.open(path) as ledger:
        assert ledger.leases.pace_s() is None
        for seed, (since, until) in enumerate([(0, 1000), (0, 3000)]):
            ledger.begin({})
            ledger.leases.lease(IDS[seed * 2 : seed * 2 + 2])
            ledger.append([record(PLACE, seed * 2), record(PLACE, seed * 2 + 1)])
            ledger._database._connection.execute(
                "UPDATE attempts SET since_ms = ?, until_ms = ? WHERE session = ?", (since, until, seed + 1)
            )
        ledger.begin({})
        assert ledger.leases.pace_s() == 1.5


def test_statuses_are_those_of_the_records(path):
    with Ledger.open(path) as ledger:
        ends = [Outcome(status=status) for status in Status]
        ledger.append(record(PLACE, seed, outcome=end) for seed, end in enumerate(ends))
        assert ledger.statuses() == {r.run_id: r.outcome.status for r in ledger.records()}
        bad = [status for status in Status if status.is_failure]
        assert [r.outcome.status for r in ledger.records(bad)] == bad
