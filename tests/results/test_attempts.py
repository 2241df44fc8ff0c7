"""The rules of attempts, without a file: what may follow what, and when a run is given up."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sweep.errors import LedgerError
from sweep.results import Status
from sweep.results.attempts import ALONE, HERE, MAX_ATTEMPTS, Ending, RunHistory, State

WITHOUT_RECORD = [ending for ending in Ending if ending is not Ending.ANSWERED]


def tried(*steps):
    """A history from (worker, lanes, ending) steps."""
    history = RunHistory()
    for worker, lanes, ending in steps:
        history = history.leased(worker, lanes, session=1, now_ms=1).ended(ending, now_ms=2)
    return history


class Life(RuleBasedStateMachine):
    """Any run, under any treatment."""

    def __init__(self):
        super().__init__()
        self.history = RunHistory()
        self.was_done = False

    @rule(worker=st.sampled_from([HERE, "worker 1"]), lanes=st.integers(1, 3))
    def lease(self, worker, lanes):
        if self.history.state is State.LEASED:
            with pytest.raises(LedgerError, match="nobody else can take it"):
                self.history.leased(worker, lanes, session=1, now_ms=0)
            return
        count = len(self.history.attempts)
        self.history = self.history.leased(worker, lanes, session=1, now_ms=count)
        assert self.history.attempts[-1].number == count + 1
        assert self.history.state is State.LEASED

    @rule(ending=st.sampled_from(WITHOUT_RECORD))
    def end(self, ending):
        if self.history.state is not State.LEASED:
            with pytest.raises(LedgerError, match="in nobody's hand"):
                self.history.ended(ending, now_ms=0)
            return
        given_up = {Status.LOST: State.LOST, Status.TIMED_OUT: State.TIMED_OUT}.get(self.history.status)
        self.history = self.history.ended(ending, now_ms=9, detail="why")
        last = self.history.attempts[-1]
        if self.was_done:
            assert self.history.state is State.DONE
        elif last.is_deadly and self.history.is_hopeless:
            assert self.history.state is State.LOST
            assert "why" in self.history.story
        else:
            assert self.history.state is (given_up or State.PENDING)

    @rule(status=st.sampled_from(Status))
    def answer(self, status):
        was_leased = self.history.state is State.LEASED
        self.history = self.history.answered(status, now_ms=9)
        if was_leased:
            overdue = self.history.attempts[-1].ending is Ending.OVERDUE
            assert overdue == (status is Status.TIMED_OUT)
        self.was_done |= status.is_final
        assert self.history.state is not State.LEASED
        assert self.was_done or self.history.status is status

    @invariant()
    def what_is_done_stays_done(self):
        if self.was_done:
            assert self.history.status.is_final
            assert self.history.state in (State.DONE, State.LEASED)

    @invariant()
    def at_most_the_last_attempt_is_open(self):
        assert not any(attempt.is_open for attempt in self.history.attempts[:-1])
        assert [attempt.number for attempt in self.history.attempts] == list(range(1, len(self.history.attempts) + 1))


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=25, stateful_step_count=20)


@pytest.mark.parametrize(
    ("steps", "state", "deaths"),
    [
        # The canary, alone from the start, killed its driver every time.
        ([(HERE, 1, Ending.ORPHANED)] * 2, State.PENDING, 2),
        ([(HERE, 1, Ending.ORPHANED)] * 3, State.LOST, 3),
        # In company first: two attempts alone are left.
        ([(HERE, 32, Ending.ORPHANED), *[(HERE, 1, Ending.ORPHANED)] * 2], State.LOST, 3),
        # Always in company: nobody knows who it was.
        ([(HERE, 32, Ending.ORPHANED)] * 9, State.PENDING, 9),
        # Halved until alone.
        ([*[("worker 1", n, Ending.DIED) for n in (32, 16, 8, 4, 2, 1)]], State.PENDING, 6),
        ([*[("worker 1", n, Ending.DIED) for n in (32, 16, 8, 4, 2, 1, 1)]], State.LOST, 7),
        # Others run while a driver dies: that says nothing about them.
        ([("worker 1", 1, Ending.ORPHANED)] * 9, State.PENDING, 0),
        ([(HERE, 1, Ending.CANCELLED)] * 9, State.PENDING, 0),
        ([(HERE, 1, Ending.RETURNED)] * 9, State.PENDING, 0),
        # Nobody dies of being late.
        ([(HERE, 1, Ending.OVERDUE)] * 9, State.PENDING, 0),
    ],
)
def test_who_is_given_up(steps, state, deaths):
    history = tried(*steps)
    assert (history.state, history.deaths) == (state, deaths)


def test_a_lost_run_that_is_asked_for_again_is_lost_again_at_its_next_death():
    history = tried(*[("worker 1", 1, Ending.DIED)] * MAX_ATTEMPTS)
    assert history.state is State.LOST
    again = history.leased("worker 2", 1, session=2, now_ms=3)
    assert again.ended(Ending.DIED, now_ms=4).state is State.LOST
    assert again.ended(Ending.CANCELLED, now_ms=4).state is State.LOST
    assert again.answered(Status.COMPLETED, now_ms=4).state is State.DONE


def test_a_run_that_timed_out_is_asked_for_again_and_may_come_to_anything():
    history = RunHistory().leased("worker 1", 1, session=1, now_ms=1).answered(Status.TIMED_OUT, now_ms=2)
    assert (history.state, history.deaths) == (State.TIMED_OUT, 0)
    again = history.leased("worker 2", 1, session=2, now_ms=3)
    assert again.ended(Ending.CANCELLED, now_ms=4).state is State.TIMED_OUT
    assert again.answered(Status.TIMED_OUT, now_ms=4).state is State.TIMED_OUT
    done = again.answered(Status.COMPLETED, now_ms=4)
    assert done.state is State.DONE
    assert done.answered(Status.TIMED_OUT, now_ms=5).status is Status.COMPLETED


def test_the_story_names_who_had_it_and_in_which_company():
    history = tried((HERE, 3, Ending.ORPHANED), ("worker 1", 1, Ending.CANCELLED), ("worker 2", 1, Ending.DIED))
    assert history.story == "attempt 1, with 2 others, by the driver: orphaned; attempt 3, alone, by worker 2: died"
    assert ALONE < MAX_ATTEMPTS
