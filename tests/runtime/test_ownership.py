"""Who may touch an Instance, what comes in through the mailbox, what goes out as copies."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from sweep.errors import GridError, InvalidInputError, MailboxFullError, OwnershipError
from sweep.plan.claims import JointKinematics
from sweep.plan.clock import Grid
from sweep.runtime.mailbox import Mailbox
from tests.runtime.scenes import cart, plan_of


def raised_in_thread(call, name="stranger"):
    found = []

    def run():
        try:
            call()
        except Exception as error:  # noqa: BLE001
            found.append(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()
    thread.join()
    return found[0] if found else None


@pytest.mark.parametrize(
    "operation",
    [
        lambda i: i.step(),
        lambda i: i.advance(3),
        lambda i: i.run(),
        lambda i: i.reset(),
        lambda i: i.snapshot(),
        lambda i: i.inject("joint_kinematics:hinge", (0, 0)),
        lambda i: i.output("enc"),
        lambda i: i.events(),
        lambda i: i.trace_digest,
        lambda i: i.metrics,
        lambda i: i.stream_receipts,
    ],
)
def test_only_the_owner_touches_live_state(operation):
    instance = plan_of(cart()).instantiate()
    instance.advance(10)
    digest = instance.trace_digest
    error = raised_in_thread(lambda: operation(instance))
    assert isinstance(error, OwnershipError)
    assert "'stranger'" in str(error)
    assert repr(threading.current_thread().name) in str(error)
    assert (instance.tick, instance.episode_index, instance.trace_digest) == (10, 0, digest)


def test_the_maker_owns_it_not_the_main_thread():
    made = []
    assert raised_in_thread(lambda: made.append(plan_of(cart()).instantiate()), "maker") is None
    with pytest.raises(OwnershipError, match="'maker'"):
        made[0].step()


def test_many_threads_lose_nothing_and_change_nothing_until_the_commit():
    instance = plan_of(cart(controllers={})).instantiate()
    instance.advance(5)
    numbers, lock = [], threading.Lock()

    def produce(source):
        for sequence in range(200):
            number = instance.enqueue_external_input("drive", [1.0], source_id=source, source_sequence=sequence)
            with lock:
                numbers.append(number)

    threads = [threading.Thread(target=produce, args=(f"source{k}",)) for k in range(8)]
    before = instance.trace_digest
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert instance.trace_digest == before
    assert [e for e in instance.events() if e.kind == "input"] == []
    instance.step()
    events = [e for e in instance.events() if e.kind == "input"]
    assert sorted(numbers) == list(range(1, 1601))
    assert sorted(e.data["acceptance"] for e in events) == sorted(numbers)
    assert [e.data["source_id"] for e in events] == sorted(e.data["source_id"] for e in events)
    assert {e.tick for e in events} == {5}


@pytest.mark.slow
def test_producers_that_run_through_steps_and_resets_lose_nothing():
    instance = plan_of(cart(controllers={})).instantiate()
    stop, sent = threading.Event(), []

    def produce():
        while not stop.is_set() and len(sent) < 20_000:
            sent.append(instance.enqueue_external_input("drive", [1.0]))

    thread = threading.Thread(target=produce)
    thread.start()
    for _ in range(20):
        instance.advance(7)
        instance.reset()
    stop.set()
    thread.join()
    instance.step()
    kinds = [(e.kind, e.data["acceptance"]) for e in instance.events() if "acceptance" in e.data]
    accounted = {acceptance for _, acceptance in kinds}
    assert accounted == set(sent) == set(range(1, len(sent) + 1))


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


@pytest.mark.parametrize("effective", [-0.001, float("nan"), float("inf"), "soon"])
def test_an_effective_time_that_is_none_is_the_producers_error(effective):
    instance = plan_of(cart(controllers={})).instantiate()
    instance.enqueue_external_input("drive", [1.0])
    with pytest.raises(GridError):
        instance.enqueue_external_input("drive", [9.0], effective_time_s=effective)
    instance.advance(3)
    assert instance.snapshot().ctrl[0] == 1.0


@pytest.mark.parametrize(("target", "values", "match"), [
    ("drift", [1.0], "did you mean 'drive'"),
    ("enc", [1.0], "no driver 'enc'"),
    ("drive", [1.0, 2.0], "2 values for 'drive', which has 1 controls"),
    ("drive", [], "0 values"),
])  # fmt: skip
def test_a_wrong_input_is_the_producers_error(target, values, match):
    instance = plan_of(cart()).instantiate()
    with pytest.raises(InvalidInputError, match=match):
        instance.enqueue_external_input(target, values)


def test_a_full_mailbox_refuses_and_drops_nothing_whenever_the_input_is_meant_for():
    mailbox = Mailbox(Grid(0.001), capacity=4)

    def send(effective_s=None):
        mailbox.enqueue("d", np.zeros(1), source_id="s", source_sequence=None, effective_s=effective_s)

    send(5.0)
    send(6.0)
    assert mailbox.cut(0, 10) == []
    send()
    send(7.0)
    with pytest.raises(MailboxFullError, match="4 inputs"):
        send()
    assert [c.acceptance for c in mailbox.cut(10, 11)] == [3]
    send()
    with pytest.raises(MailboxFullError):
        send()
    assert [c.acceptance for c in mailbox.cancel()] == [1, 2, 4, 5]
    for _ in range(4):
        send()


def test_a_snapshot_is_a_coherent_copy_that_changes_nothing():
    instance, other = (plan_of(cart()).instantiate(1) for _ in range(2))
    for _ in range(40):
        instance.step()
        snapshot = instance.snapshot()
        assert (snapshot.tick, snapshot.time_s) == (instance.tick, instance.episode_time_s)
    other.advance(40)
    assert instance.trace_digest == other.trace_digest
    kept = instance.snapshot()
    qpos = kept.qpos.tolist()
    instance.advance(10)
    assert kept.qpos.tolist() == qpos != instance.snapshot().qpos.tolist()
    with pytest.raises(ValueError, match="read-only"):
        kept.qpos[0] = 0.0


def test_injection_takes_complete_resources_and_returns_the_state():
    instance = plan_of(cart()).instantiate()
    instance.advance(10)
    snapshot = instance.inject(JointKinematics("hinge"), {"qpos": 0.5, "qvel": -1.0})
    assert (snapshot.qpos[1], snapshot.qvel[1], snapshot.tick) == (0.5, -1.0, 10)
    for resource, value, match in [
        ("joint_kinematics:hing", (0, 0), "did you mean 'hinge'"),
        ("joint_kinematics:hinge", 0.5, "complete"),
        ("joint_kinematics:hinge", {"qpos": 1.0}, "complete resource"),
        ("joint_kinetics:hinge", (0, 0), "joint_kinematics"),
        ("actuator_activation:push", 0, "none in the model"),
        ("mocap_pose:hand", (0, 0), "none in the model"),
    ]:
        with pytest.raises(InvalidInputError, match=match):
            instance.inject(resource, value)
    instance.step()
    assert instance.snapshot().qpos[1] < 0.5
