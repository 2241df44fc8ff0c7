"""Who may touch an Instance, and that two of them do not see each other."""

from __future__ import annotations

import threading

import pytest

from sweep.errors import OwnershipError
from sweep.runtime import SimulationInstance
from tests.runtime.scenes import cart, plan_of

OWNER_ONLY = {
    "step": lambda i: i.step(),
    "advance": lambda i: i.advance(3),
    "run": lambda i: i.run(),
    "reset": lambda i: i.reset(),
    "snapshot": lambda i: i.snapshot(),
    "physics_state": lambda i: i.physics_state(),
    "restore_physics_state": lambda i: i.restore_physics_state(None),
    "inject": lambda i: i.inject("joint_kinematics:hinge", (0, 0)),
    "replay_inputs": lambda i: i.replay_inputs([]),
    "recorded_inputs": lambda i: i.recorded_inputs,
    "output": lambda i: i.output("enc"),
    "outputs": lambda i: i.outputs(),
    "events": lambda i: i.events(),
    "record": lambda i: i.record,
    "history": lambda i: i.history,
    "trace_digest": lambda i: i.trace_digest,
    "metrics": lambda i: i.metrics,
    "stream_receipts": lambda i: i.stream_receipts,
}

ANY_THREAD = {
    "enqueue_external_input": lambda i: i.enqueue_external_input("drive", [1.0]),
    "open_producer": lambda i: i.open_producer("pad").close(),
    "tick": lambda i: i.tick,
    "episode_index": lambda i: i.episode_index,
    "episode_time_s": lambda i: i.episode_time_s,
    "session_time_s": lambda i: i.session_time_s,
    "seed": lambda i: i.seed,
    "fault": lambda i: i.fault,
    "end": lambda i: i.end,
}


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


def test_whatever_is_public_says_whose_it_is():
    public = {name for name in dir(SimulationInstance) if not name.startswith("_")}
    assert public == OWNER_ONLY.keys() | ANY_THREAD.keys()


@pytest.mark.parametrize("name", OWNER_ONLY)
def test_only_the_owner_touches_live_state(name):
    instance = plan_of(cart()).instantiate()
    instance.advance(10)
    digest = instance.trace_digest
    error = raised_in_thread(lambda: OWNER_ONLY[name](instance))
    assert isinstance(error, OwnershipError)
    assert str(error).startswith(f"{name}()")
    assert "'stranger'" in str(error)
    assert repr(threading.current_thread().name) in str(error)
    assert (instance.tick, instance.episode_index, instance.trace_digest) == (10, 0, digest)


@pytest.mark.parametrize("name", ANY_THREAD)
def test_every_thread_may_send_and_ask_where_the_episode_stands(name):
    instance = plan_of(cart()).instantiate()
    instance.advance(10)
    digest = instance.trace_digest
    assert raised_in_thread(lambda: ANY_THREAD[name](instance)) is None
    assert instance.trace_digest == digest


def test_the_maker_owns_it_not_the_main_thread():
    made = []
    assert raised_in_thread(lambda: made.append(plan_of(cart()).instantiate()), "maker") is None
    with pytest.raises(OwnershipError, match="'maker'"):
        made[0].step()


def test_session_time_never_goes_back_in_any_threads_eyes():
    instance = plan_of(cart(controllers={})).instantiate()
    done, seen = threading.Event(), []

    def watch():
        while not done.is_set() and len(seen) < 200_000:
            seen.append(instance.session_time_s)

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(5):
        instance.advance(9)
        instance.reset()
    done.set()
    thread.join()
    assert seen == sorted(seen)
    assert instance.session_time_s == 0.045


def test_two_instances_in_one_process_do_not_see_each_other():
    plan = plan_of(cart())
    alone, watched, other = (plan.instantiate(7) for _ in range(3))
    alone.advance(60)
    producer = other.open_producer("pad")
    for tick in range(60):
        watched.step()
        if other.fault is None:
            other.enqueue_external_input("drive", [float("nan") if tick == 40 else 3.0])
            other.inject("joint_kinematics:hinge", (0.2, 1.0))
            other.step()
        else:
            other.reset(tick)
            producer.enqueue("drive", [1.0])
    assert watched.trace_digest == alone.trace_digest
    assert watched.events() == alone.events()
    assert watched.recorded_inputs == ()
    assert watched.enqueue_external_input("drive", [1.0]) == 1
    with watched.open_producer("pad"):
        pass
    assert other.episode_index > 0


def test_a_reset_that_is_refused_leaves_the_episode_as_it_was():
    instance = plan_of(cart(controllers={})).instantiate()
    instance.advance(5)
    number = instance.enqueue_external_input("drive", [1.0])
    with pytest.raises(ValueError, match="seed"):
        instance.reset(-1)
    instance.step()
    assert (instance.episode_index, instance.tick) == (0, 6)
    assert [record.acceptance for record in instance.recorded_inputs] == [number]
