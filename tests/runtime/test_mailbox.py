"""Input from outside: who may send what, from which threads, and in which order it commits."""

from __future__ import annotations

import threading
import time
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import GridError, InvalidInputError, MailboxFullError
from sweep.plan.clock import Grid
from sweep.runtime.ingress.mailbox import Mailbox
from tests.runtime.scenes import cart, plan_of

GRID = Grid(0.001)


def push(mailbox, value=0.0, source="s", sequence=None, effective_s=None):
    return mailbox.enqueue(
        "d", np.array([value]), source_id=source, source_sequence=sequence, effective_s=effective_s
    )  # fmt: skip


def kinds(instance, *wanted):
    return [(e.kind, e.tick, e.component, dict(e.data)) for e in instance.events() if e.kind in wanted]


def total_order(record):
    return record.commit_tick, record.effective_s, record.source_id, record.source_sequence, record.acceptance


def in_threads(*jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    return threads


# The cut and the order.


@st.composite
def sendings(draw):
    """Sends and cuts in the order in which they happen: ``(source, sequence, effective tick or None)`` or a number."""
    send = st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 3), st.none() | st.integers(0, 40))
    return draw(st.lists(send | st.integers(1, 12), max_size=40))


@settings(max_examples=60)
@given(sendings())
def test_a_cut_takes_what_is_due_in_total_order_and_nothing_else(script):
    """Against the plainest queue: a list that is filtered and sorted at every cut."""
    mailbox, waiting, tick = Mailbox(GRID), [], 0
    for entry in script:
        if isinstance(entry, int):
            stop = tick + entry
            placed = [(max(tick, 0 if at is None else at), tick if at is None else at, s, n, k)
                      for at, s, n, k in waiting]  # fmt: skip
            due = sorted(row for row in placed if row[0] < stop)
            waiting = [(e, s, n, k) for c, e, s, n, k in placed if c >= stop]
            cut = mailbox.cut(tick, stop)
            assert [(c.commit_tick, c.effective_s, c.source_id, c.source_sequence, c.acceptance) for c in cut] == [
                (commit, GRID.time_s(effective), *rest) for commit, effective, *rest in due
            ]
            tick = stop
        else:
            source, sequence, effective = entry
            number = push(mailbox, 0.0, source, sequence, None if effective is None else GRID.time_s(effective))
            waiting.append((effective, source, number if sequence is None else sequence, number))
    assert [c.acceptance for c in mailbox.cancel()] == [number for *_, number in waiting]


def test_what_comes_after_the_cut_waits_for_a_later_boundary():
    mailbox = Mailbox(GRID)
    first = push(mailbox)
    assert [c.acceptance for c in mailbox.cut(0, 5)] == [first]
    second = push(mailbox)
    assert [(c.acceptance, c.commit_tick) for c in mailbox.cut(5, 6)] == [(second, 5)]


def test_a_late_input_keeps_its_own_effective_time():
    mailbox = Mailbox(GRID)
    push(mailbox, source="b", effective_s=0.002)
    push(mailbox, source="a")
    assert [(c.source_id, c.effective_s, c.commit_tick) for c in mailbox.cut(7, 8)] == [
        ("b", 0.002, 7),
        ("a", 0.007, 7),
    ]


def test_the_order_of_arrival_decides_nothing():
    inputs = [(0.003, "b", 1, 1.0), (0.003, "a", 2, 2.0), (0.003, "a", 1, 3.0), (0.001, "z", 1, 4.0)]
    digests, committed = set(), []
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        instance = plan_of(cart(controllers={})).instantiate()
        for i in order:
            effective, source, sequence, value = inputs[i]
            instance.enqueue_external_input(
                "drive", [value], source_id=source, source_sequence=sequence, effective_time_s=effective
            )
        instance.advance(20)
        digests.add(instance.trace_digest)
        committed.append([(e.tick, e.data["source_id"], e.data["source_sequence"]) for e in instance.events()
                          if e.kind == "input"])  # fmt: skip
        assert instance.snapshot().ctrl[0] == 1.0  # "b" comes after both of "a"
    assert len(digests) == 1
    assert committed == [[(1, "z", 1), (3, "a", 1), (3, "a", 2), (3, "b", 1)]] * 3


def test_a_stale_sequence_is_dropped_and_said_so():
    instance = plan_of(cart(controllers={})).instantiate()
    instance.enqueue_external_input("drive", [2.0], source_id="s", source_sequence=7)
    instance.advance(2)
    instance.enqueue_external_input("drive", [5.0], source_id="s", source_sequence=6)
    instance.enqueue_external_input("drive", [5.0], source_id="s", source_sequence=7)
    instance.advance(5)
    assert instance.snapshot().ctrl[0] == 2.0
    assert [(e.tick, e.data["source_sequence"]) for e in instance.events() if e.kind == "stale"] == [(2, 6), (2, 7)]


def test_an_input_for_later_is_not_made_stale_by_one_for_now():
    instance = plan_of(cart(controllers={})).instantiate()
    instance.enqueue_external_input("drive", [2.0], effective_time_s=0.010)
    instance.enqueue_external_input("drive", [1.0])
    applied = []
    for _ in range(14):
        instance.step()
        applied.append(instance.snapshot().ctrl[0])
    assert applied == [0.0] + [1.0] * 10 + [2.0] * 3


def test_the_numbers_of_inputs_are_not_shifted_by_controllers():
    """So that a replay, in which controllers call again, can give every input the number that it had."""
    instance = plan_of(cart()).instantiate()
    numbers = []
    for _ in range(3):
        numbers.append(instance.enqueue_external_input("drive", [0.0]))
        instance.advance(25)
    instance.reset()
    numbers.append(instance.enqueue_external_input("drive", [0.0]))
    assert numbers == [1, 2, 3, 4]
    commands = [e.data for e in instance.events() if e.kind == "input" and e.data["source_id"] == "fb"]
    assert {data["acceptance"] for data in commands} == {0}
    assert [data["source_sequence"] for data in commands] == list(range(1, len(commands) + 1))


# Producers.


def test_input_of_an_open_producer_commits_at_the_next_boundary_of_a_running_advance():
    instance = plan_of(cart(controllers={})).instantiate()
    seen = []

    def produce(producer):
        with producer:
            for _ in range(20):
                before = instance.tick
                number = producer.enqueue("drive", [1.0])
                after = instance.tick
                seen.append((number, before, after))
                while instance.tick == after:
                    time.sleep(0)

    producer = instance.open_producer("console")
    (thread,) = in_threads(lambda: produce(producer))
    while thread.is_alive():
        instance.advance(150)
    commits = {record.acceptance: record.commit_tick for record in instance.recorded_inputs}
    assert len(seen) == 20
    for number, before, after in seen:
        assert before <= commits[number] <= after + 1


def test_a_closed_producer_sends_no_more_and_no_longer_counts():
    instance = plan_of(cart(controllers={})).instantiate()
    mailbox = instance._mailbox
    with instance.open_producer("a") as a, instance.open_producer("b") as b:
        assert mailbox.open_producers == 2
        b.close()
        b.close()
        assert (mailbox.open_producers, a.closed, b.closed) == (1, False, True)
    assert mailbox.open_producers == 0
    with pytest.raises(InvalidInputError, match="producer 'a' is closed; open another"):
        a.enqueue("drive", [1.0])
    instance.advance(3)
    assert instance.recorded_inputs == ()


def test_a_producer_that_is_dropped_closes_itself():
    instance = plan_of(cart(controllers={})).instantiate()
    producer = instance.open_producer("lost")
    assert instance._mailbox.open_producers == 1
    del producer
    assert instance._mailbox.open_producers == 0
    instance.open_producer("lost").close()


def test_one_producer_of_a_name_at_a_time():
    instance = plan_of(cart()).instantiate()
    with instance.open_producer("pad"), pytest.raises(InvalidInputError, match="'pad' is open already"):
        instance.open_producer("pad")
    with instance.open_producer("pad") as again:
        again.enqueue("drive", [1.0])
    for name in ("", 3, None):
        with pytest.raises(InvalidInputError, match="must be a name"):
            instance.open_producer(name)


def test_an_open_producer_outlives_a_reset_and_changes_no_bit():
    plain, watched = (plan_of(cart()).instantiate(5) for _ in range(2))
    plain.advance(40)
    with watched.open_producer("silent") as producer:
        watched.advance(40)
        assert watched.trace_digest == plain.trace_digest
        watched.reset()
        number = producer.enqueue("drive", [1.0], sequence=4, effective_time_s=0.002)
        watched.advance(5)
    (record,) = watched.recorded_inputs
    assert (record.acceptance, record.episode_index, record.commit_tick) == (number, 1, 2)
    assert (record.source_id, record.source_sequence, record.sequenced) == ("silent", 4, True)


# Many threads.

SOURCES, SENT = 8, 2_000


def assert_all_committed_once_in_order(instance, numbers):
    """Nothing lost, nothing twice, the order of each source kept, one order over all; and a replay says the same."""
    records = instance.recorded_inputs
    assert sorted(numbers) == list(range(1, SOURCES * SENT + 1))
    assert sorted(record.acceptance for record in records) == sorted(numbers)
    events = kinds(instance, "input", "stale")
    assert {kind for kind, *_ in events} == {"input"}
    assert [(tick, data["acceptance"]) for _, tick, _, data in events] == [
        (record.commit_tick, record.acceptance) for record in records
    ]
    keys = [total_order(record) for record in records]
    assert keys == sorted(set(keys))
    for source in range(SOURCES):
        of_source = [record for record in records if record.source_id == f"s{source}"]
        assert [record.source_sequence for record in of_source] == list(range(SENT))
        assert sorted(of_source, key=attrgetter("acceptance")) == of_source
    again = instance.plan.instantiate(instance.seed)
    again.replay_inputs(reversed(records))
    again.advance(instance.tick)
    assert again.trace_digest == instance.trace_digest
    assert again.recorded_inputs == records


def test_many_threads_change_nothing_until_the_commit():
    instance = plan_of(cart(controllers={})).instantiate()
    instance.advance(5)
    before = instance.trace_digest

    def produce(source):
        for sequence in range(50):
            instance.enqueue_external_input("drive", [1.0], source_id=source, source_sequence=sequence)

    for thread in in_threads(*(lambda k=k: produce(k) for k in "abcdefgh")):
        thread.join()
    assert instance.trace_digest == before
    assert kinds(instance, "input") == []
    instance.step()
    assert instance.trace_digest != before
    assert [(tick, data["source_id"], data["source_sequence"]) for _, tick, _, data in kinds(instance, "input")] == [
        (5, source, sequence) for source in "abcdefgh" for sequence in range(50)
    ]


@pytest.mark.slow
def test_eight_producers_while_the_owner_steps():
    instance = plan_of(cart(controllers={})).instantiate()
    numbers = [[] for _ in range(SOURCES)]

    def produce(source):
        for sequence in range(SENT):
            number = instance.enqueue_external_input(
                "drive", [float(sequence % 7)], source_id=f"s{source}", source_sequence=sequence
            )
            numbers[source].append(number)

    threads = in_threads(*(lambda k=k: produce(k) for k in range(SOURCES)))
    while any(thread.is_alive() for thread in threads):
        instance.step()
    instance.step()
    assert_all_committed_once_in_order(instance, [n for source in numbers for n in source])


@pytest.mark.slow
def test_eight_open_producers_while_the_owner_advances_far():
    instance = plan_of(cart(controllers={})).instantiate()
    numbers = [[] for _ in range(SOURCES)]
    producers = [instance.open_producer(f"s{k}") for k in range(SOURCES)]

    def produce(producer, mine):
        with producer:
            for sequence in range(SENT):
                mine.append(producer.enqueue("drive", [float(sequence % 7)], sequence))
                if sequence % 50 == 0:
                    time.sleep(0)

    threads = in_threads(*(lambda p=p, mine=mine: produce(p, mine) for p, mine in zip(producers, numbers, strict=True)))
    while any(thread.is_alive() for thread in threads):
        instance.advance(400)
    instance.advance(400)
    assert_all_committed_once_in_order(instance, [n for source in numbers for n in source])


def test_a_refused_input_was_not_accepted_and_can_be_sent_again():
    mailbox, committed, refused = Mailbox(GRID, capacity=16), [], []

    def produce(source):
        for sequence in range(100):
            while len(refused) < 20_000:
                try:
                    push(mailbox, source=source, sequence=sequence)
                    break
                except MailboxFullError:
                    refused.append(source)
                    time.sleep(0)

    threads = in_threads(*(lambda k=k: produce(k) for k in "abcd"))
    while not refused:
        time.sleep(0)
    tick = 0
    while any(thread.is_alive() for thread in threads):
        committed += mailbox.cut(tick, tick + 1)
        tick += 1
    committed += mailbox.cut(tick, tick + 1)
    assert [c.acceptance for c in sorted(committed, key=attrgetter("acceptance"))] == list(range(1, 401))
    for source in "abcd":
        assert [c.source_sequence for c in committed if c.source_id == source] == list(range(100))


@pytest.mark.slow
def test_an_input_belongs_to_one_episode_though_resets_run_meanwhile():
    instance = plan_of(cart(controllers={})).instantiate()
    done, sent = threading.Event(), [[], [], []]

    def produce(mine):
        while not done.is_set() and len(mine) < 5_000:
            mine.append(instance.enqueue_external_input("drive", [1.0]))

    threads = in_threads(*(lambda mine=mine: produce(mine) for mine in sent))
    for length in (0, 3, 1, 0, 7, 2, 0, 5):
        instance.advance(length)
        instance.reset()
    done.set()
    for thread in threads:
        thread.join()
    instance.step()
    episodes = {}
    for event in instance.events():
        if "acceptance" in event.data:
            episodes.setdefault(event.data["acceptance"], set()).add(event.episode_index)
    assert set(episodes) == {number for mine in sent for number in mine} == set(range(1, len(episodes) + 1))
    assert all(len(indices) == 1 for indices in episodes.values())
    first = [min(episodes[number]) for number in sorted(episodes)]
    assert first == sorted(first)  # what was accepted earlier is of no later episode


# What a producer is told.


@pytest.mark.parametrize(("send", "match"), [
    ({"target": "drift"}, "target: there is no driver 'drift'; did you mean 'drive'"),
    ({"target": "enc"}, "no driver 'enc'"),
    ({"target": ["drive"]}, "no driver"),
    ({"values": [1.0, 2.0]}, "2 values for 'drive', which has 1 controls"),
    ({"values": []}, "0 values"),
    ({"values": "much"}, "values: must be numbers, not 'much'"),
    ({"values": [None]}, "values: must be numbers"),
    ({"values": ["1.0"]}, "values: must be numbers"),
    ({"values": [[1.0], [1.0, 2.0]]}, "values: must be numbers"),
    ({"values": 1j}, "values: must be numbers"),
    ({"source_id": 4}, "source_id: must be a name"),
    ({"source_sequence": "3"}, "source_sequence: must be a whole number"),
    ({"source_sequence": 1.5}, "source_sequence: must be a whole number"),
    ({"source_sequence": True}, "source_sequence: must be a whole number"),
    ({"source_sequence": 2**63}, "source_sequence: must be a whole number"),
])  # fmt: skip
def test_a_wrong_input_is_the_producers_error(send, match):
    instance = plan_of(cart(controllers={})).instantiate()
    with pytest.raises(InvalidInputError, match=match):
        instance.enqueue_external_input(**{"target": "drive", "values": [1.0], **send})
    assert instance.enqueue_external_input("drive", [1.0]) == 1
    instance.advance(3)
    assert len(instance.recorded_inputs) == 1


def test_all_that_is_wrong_is_said_at_once():
    instance = plan_of(cart()).instantiate()
    with pytest.raises(InvalidInputError) as error:
        instance.enqueue_external_input("drift", "much", source_id=None, source_sequence=0.5)
    assert [p.path for p in error.value.problems] == ["target", "source_id", "source_sequence", "values"]


@pytest.mark.parametrize("effective", [-0.001, float("nan"), float("inf"), "soon"])
def test_an_effective_time_that_is_none_is_the_producers_error(effective):
    instance = plan_of(cart(controllers={})).instantiate()
    instance.enqueue_external_input("drive", [1.0])
    with pytest.raises(GridError):
        instance.enqueue_external_input("drive", [9.0], effective_time_s=effective)
    instance.advance(3)
    assert instance.snapshot().ctrl[0] == 1.0


def test_the_mailbox_keeps_its_own_copy_of_the_values():
    instance = plan_of(cart(controllers={})).instantiate()
    values = np.array([2.0])
    instance.enqueue_external_input("drive", values)
    values[0] = 5.0
    instance.advance(3)
    assert instance.snapshot().ctrl[0] == 2.0


def test_a_full_mailbox_refuses_and_drops_nothing_whenever_the_input_is_meant_for():
    mailbox = Mailbox(GRID, capacity=4)
    push(mailbox, effective_s=5.0)
    push(mailbox, effective_s=6.0)
    assert mailbox.cut(0, 10) == []
    push(mailbox)
    push(mailbox, effective_s=7.0)
    with pytest.raises(MailboxFullError, match="4 inputs"):
        push(mailbox)
    assert [c.acceptance for c in mailbox.cut(10, 11)] == [3]
    push(mailbox)
    with pytest.raises(MailboxFullError):
        push(mailbox)
    assert [c.acceptance for c in mailbox.cancel()] == [1, 2, 4, 5]
    for _ in range(4):
        push(mailbox)
