"""Input that was recorded commits again at the same tick under the same number, whatever the order it arrives in."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import InvalidInputError, MailboxFullError
from sweep.plan.clock import Grid
from sweep.runtime import SimulationInstance
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.ingress.recorded_input import RecordedInput
from tests.runtime.scenes import cart, plan_of


def ending():
    document = cart()
    document["components"]["edge"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.2}
    return document


PLAN = plan_of(ending())


def assert_replays(instance, records, max_block):
    again = SimulationInstance(instance.plan, instance.seed, max_block=max_block)
    again.replay_inputs(records)
    again.advance(instance.tick if instance.fault is None else instance.tick + 1)
    assert list(map(repr, again.events())) == list(map(repr, instance.events()))
    assert again.trace_digest == instance.trace_digest
    assert again.stream_receipts == instance.stream_receipts
    assert repr(again.recorded_inputs) == repr(instance.recorded_inputs)


@st.composite
def sessions(draw):
    an_input = st.tuples(
        st.sampled_from([0.2, -1.5, 7.0, -0.0]),
        st.sampled_from(["aaa", "fb", "zzz"]),  # the second is also the controller's name
        st.none() | st.integers(0, 9),
        st.none() | st.integers(0, 120),
    )
    script = draw(st.lists(st.tuples(st.lists(an_input, max_size=4), st.integers(0, 25)), min_size=1, max_size=6))
    blocks = st.sampled_from([1, 3, None])
    return script, draw(blocks), draw(blocks), draw(st.randoms(use_true_random=False))


@pytest.mark.slow
@settings(max_examples=40)
@given(sessions())
def test_a_replay_commits_the_same_whatever_the_order_of_arrival(session):
    script, max_block, other_block, random = session
    instance = SimulationInstance(PLAN, 3, max_block=max_block)
    for inputs, ticks in script:
        for value, source, sequence, effective in inputs:
            instance.enqueue_external_input(
                "drive",
                [value],
                source_id=source,
                source_sequence=sequence,
                effective_time_s=None if effective is None else effective / 1000,
            )
        if instance.end is None:
            instance.advance(ticks)
    text = json.dumps([record.to_json() for record in instance.recorded_inputs], allow_nan=False)
    records = [RecordedInput.from_json(document) for document in json.loads(text)]
    random.shuffle(records)
    assert_replays(instance, records, other_block)


def test_what_a_stopped_lane_did_not_live_to_see_is_not_in_the_record():
    instance = plan_of(cart(controllers={})).instantiate()
    for effective, value in ((0.002, 1.0), (0.005, float("nan")), (0.030, 2.0)):
        instance.enqueue_external_input("drive", [value], effective_time_s=effective)
    instance.advance(100)
    assert instance.fault.tick == 6  # the NaN travels for one tick
    assert [record.commit_tick for record in instance.recorded_inputs] == [2, 5]
    assert_replays(instance, instance.recorded_inputs, None)
    instance.reset()
    assert [e.data["acceptance"] for e in instance.events() if e.kind == "cancelled" and e.component == "drive"] == [3]
    assert instance.recorded_inputs == ()


def test_a_replay_in_the_next_episode_and_new_input_beside_it():
    instance = plan_of(cart(controllers={})).instantiate()
    for sequence in range(3):
        instance.enqueue_external_input("drive", [1.0 + sequence], source_id="pad", source_sequence=sequence)
        instance.advance(4)
    records, digest = instance.recorded_inputs, instance.trace_digest
    instance.reset()
    instance.replay_inputs(records[2:])
    instance.replay_inputs(records[:2])
    instance.advance(12)
    assert instance.trace_digest == digest
    assert [record.acceptance for record in instance.recorded_inputs] == [1, 2, 3]
    other = plan_of(cart(controllers={})).instantiate()
    other.replay_inputs(records)
    assert other.enqueue_external_input("drive", [5.0]) == 4
    other.advance(5)
    assert [(r.acceptance, r.commit_tick) for r in other.recorded_inputs] == [(4, 0), (1, 0), (2, 4)]
    other.replay_inputs([])
    assert other.enqueue_external_input("drive", [5.0]) == 5


def test_a_later_episode_of_a_dirty_session_replays_in_a_fresh_one():
    dirty = SimulationInstance(PLAN, 3)
    dirty.enqueue_external_input("drive", [float("nan")], effective_time_s=0.013)
    dirty.enqueue_external_input("drive", [1.0], effective_time_s=50)
    dirty.advance(30)
    assert dirty.fault is not None
    dirty.reset(9)
    for tick in range(4):
        dirty.enqueue_external_input("drive", [0.5 * tick], source_id="pad", source_sequence=tick % 3)
        dirty.advance(6)
    fresh = SimulationInstance(PLAN, 9, max_block=2)
    fresh.replay_inputs(reversed(dirty.recorded_inputs))
    fresh.advance(24)
    assert fresh.trace_digest == dirty.trace_digest
    episode = [(e.kind, e.tick, e.component, dict(e.data)) for e in dirty.events() if e.episode_index == 1]
    assert [(e.kind, e.tick, e.component, dict(e.data)) for e in fresh.events()] == episode
    assert {kind for kind, *_ in episode} >= {"sample", "input", "stale"}


def test_a_replay_that_does_not_fit_says_everything_and_accepts_nothing():
    instance = plan_of(cart(controllers={})).instantiate()
    first = instance.enqueue_external_input("drive", [1.0])
    instance.advance(3)
    (record,) = instance.recorded_inputs
    document = record.to_json() | {"commit_tick": 9}
    wrong = [
        {},
        {"acceptance": 5, "commit_tick": 2},
        {"acceptance": 6, "target": "drift"},
        {"acceptance": 7, "values": [1, 2]},
        {"acceptance": 7},
    ]
    records = [RecordedInput.from_json(document | change) for change in wrong]
    with pytest.raises(InvalidInputError) as error:
        instance.replay_inputs(records)
    assert [problem.path for problem in error.value.problems] == [
        "records[0].acceptance",
        "records[1].commit_tick",
        "records[2].target",
        "records[3].values",
        "records[4].acceptance",
    ]
    for part in (f"{first} is the number of another input", "tick 2 is over, the next one is 3", "mean 'drive'"):
        assert part in str(error.value)
    instance.advance(20)
    assert instance.recorded_inputs == (record,)


def test_a_replay_is_not_bounded_by_the_mailbox():
    mailbox = Mailbox(Grid(0.001), capacity=3)

    def push():
        mailbox.enqueue("d", np.zeros(1), source_id="s", source_sequence=None, effective_s=None)

    for _ in range(3):
        push()
    records = [RecordedInput.of(command, 0) for command in mailbox.cut(0, 1)]
    mailbox.cancel()
    push()
    mailbox.reserve(record.acceptance for record in records)
    mailbox.replay(record.command() for record in records)
    push()
    push()
    with pytest.raises(MailboxFullError):
        push()
    assert sorted(c.acceptance for c in mailbox.cut(0, 1)) == [1, 2, 3, 4, 5, 6]


@settings(max_examples=50)
@given(
    st.lists(st.floats(allow_nan=False) | st.just(math.nan), max_size=3),
    st.floats(0, allow_infinity=False),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
)
def test_a_record_survives_json(values, effective_s, sequence, sequenced):
    record = RecordedInput(episode_index=2, acceptance=7, commit_tick=3, target="drive", values=tuple(values),
                         source_id="pad", source_sequence=sequence, sequenced=sequenced,
                         effective_s=effective_s)  # fmt: skip
    again = RecordedInput.from_json(json.loads(json.dumps(record.to_json(), allow_nan=False)))
    assert repr(again) == repr(record)
    assert again.command().values.tobytes() == record.command().values.tobytes()


def test_a_record_that_is_none_says_every_field():
    document = {"episode_index": 0, "acceptance": 0, "commit_tick": -1, "target": "d", "values": ["much"],
                "source_id": "s", "source_sequence": 1, "sequenced": True}  # fmt: skip
    with pytest.raises(InvalidInputError) as error:
        RecordedInput.from_json(document)
    assert [p.path for p in error.value.problems] == ["acceptance", "commit_tick", "values.0", "effective_s"]
