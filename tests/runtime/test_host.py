"""SimulationHost: one thread steps, modes change when and never what, and whatever goes wrong around it is told."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import HostError, InvalidInputError, LateError, OwnershipError
from sweep.runtime import SimulationInstance
from sweep.runtime.hosting.host import SimulationHost
from sweep.runtime.hosting.modes import MODES, PACED
from sweep.runtime.hosting.pacing import Pacer, WallClock
from sweep.runtime.hosting.sink import LatestSnapshot
from sweep.runtime.hosting.state import HostState
from tests.runtime.scenes import cart, plan_of

SOON_S = 20.0
"""No wait in these tests comes near to this; it turns a hang into a failure."""


class FakeClock:
    """Time passes while someone sleeps, and where a test says so."""

    def __init__(self):
        self.now_s = 100.0

    @property
    def wall(self):
        return WallClock(now=lambda: self.now_s, sleep=self.work)

    def work(self, seconds):
        self.now_s += seconds


class Log:
    """A sink that keeps everything, and can be slow or break."""

    def __init__(self, then=lambda output: None):
        self.outputs, self.closed, self.then = [], 0, then

    def publish(self, output):
        self.outputs.append(output)
        self.then(output)

    def close(self):
        self.closed += 1

    @property
    def ticks(self):
        return [(o.episode_index, o.tick) for o in self.outputs]


def breaks_at(tick, error=None):
    error = error or ValueError("no room")

    def then(output):
        if output.tick == tick:
            raise error

    return then


def hosted(plan, seed=3, clock=None, **options):
    """Run one episode on a host, which is stopped when this returns."""
    clock = clock or FakeClock()
    with SimulationHost(plan, seed, clock=clock.wall, **options) as host:
        host.wait(SOON_S)
    return host


def plain(plan, seed=3):
    return plan.instantiate(seed).run()


# --- modes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_changes_no_bit(mode):
    plan = plan_of(cart())
    log = Log()
    host = hosted(plan, mode=mode, sinks=[log])
    assert host.record == plain(plan)
    assert host.record == hosted(plan, mode=mode).record
    assert log.ticks == [(0, n) for n in range(1, 201)]


def test_the_mode_is_the_manifests_unless_another_is_given():
    document = cart(runtime={"timestep_s": 0.001, "duration_s": 0.01, "mode": "rendered"})
    plan = plan_of(document)
    assert SimulationHost(plan).mode == "rendered"
    assert hosted(plan).lateness.steps == 10
    assert hosted(plan, mode="unbounded").lateness.steps == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "realtime"}, ["mode", "'realtime'", "did you mean 'realtime_paced'"]),
        ({"mode": "unbounded", "pace": 2.0}, ["pace", "'unbounded' knows no wall clock", "rendered"]),
        ({"mode": "deterministic_ci", "strict": True}, ["strict", "knows no wall clock"]),
        ({"mode": "rendered", "pace": 0.0}, ["pace", "above 0"]),
        ({"mode": "rendered", "pace": float("inf")}, ["pace"]),
        ({"mode": "rendered", "strict": -1.0}, ["strict", "above 0 [s]"]),
        ({"publish_every": 0}, ["publish_every", "at least 1"]),
    ],
)
def test_what_was_asked_wrong_is_told(options, words):
    with pytest.raises(InvalidInputError) as told:
        SimulationHost(plan_of(cart()), **options)
    for word in words:
        assert word in str(told.value)


# --- pacing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", PACED)
@pytest.mark.parametrize("pace", [0.5, 1.0, 4.0])
def test_steps_begin_on_an_absolute_schedule(mode, pace):
    clock, begun = FakeClock(), []
    log = Log(lambda output: begun.append(clock.now_s))  # a step takes no time here, so it ends when it began
    hosted(plan_of(cart()), mode=mode, pace=pace, sinks=[log], clock=clock)
    assert begun == pytest.approx([100 + n * 0.001 / pace for n in range(200)], abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 0.03), min_size=1, max_size=40), st.sampled_from([0.001, 0.01]))
def test_no_step_begins_early_and_lateness_is_caught_up(costs, interval_s):
    clock = FakeClock()
    pacer = Pacer(interval_s, None, clock.wall)
    pacer.anchor(7)
    begun = []
    for tick, cost in enumerate(costs, start=7):
        clock.work(max(0.0, pacer.ahead_s(tick)))
        pacer.begin(tick)
        begun.append(clock.now_s)
        clock.work(cost)
    due = [100 + k * interval_s for k in range(len(costs))]
    lateness = np.array(begun) - due
    assert lateness.min() >= -1e-9
    for before, cost, now, at in zip(begun, costs, begun[1:], due[1:], strict=False):
        assert now == pytest.approx(max(at, before + cost), abs=1e-9)
    report = pacer.report()
    assert report.steps == len(costs)
    assert report.mean_s == pytest.approx(lateness.mean(), abs=1e-9)
    assert report.max_s == pytest.approx(lateness.max(), abs=1e-9)
    for percent, stated in report.percentiles_s.items():
        exact = np.percentile(lateness, percent, method="inverted_cdf")
        assert exact - 1e-9 <= stated <= exact * 2**0.25 + 1e-6


def test_the_lateness_report_speaks():
    clock = FakeClock()
    log = Log(lambda output: clock.work(0.02 if output.tick == 50 else 0.0))
    host = hosted(plan_of(cart()), mode="realtime_paced", sinks=[log], clock=clock)
    report = host.lateness
    # 20 ms were lost after step 49; steps 50 to 69 were due meanwhile, each a millisecond less late.
    assert (report.steps, report.late, report.worst_tick) == (200, 19, 50)
    assert report.max_s == pytest.approx(0.019)
    assert report.mean_s == pytest.approx(0.001 * sum(range(20)) / 200)
    assert "19 of 200 steps late" in str(report)
    assert "worst 19 ms at tick 50" in str(report)
    assert host.record == plain(plan_of(cart()))


@pytest.mark.parametrize(("strict", "lost_s", "stops"), [(True, 0.0025, True), (True, 0.0015, False),
                                                         (0.01, 0.0025, False), (0.01, 0.0125, True)])  # fmt: skip
def test_strict_stops_on_a_step_that_is_too_late(strict, lost_s, stops):
    plan, clock = plan_of(cart()), FakeClock()
    log = Log(lambda output: clock.work(lost_s if output.tick == 50 else 0.0))
    host = SimulationHost(plan, 3, mode="realtime_paced", strict=strict, sinks=[log], clock=clock.wall)
    host.start()
    state = host.wait(SOON_S)
    host.stop()
    if not stops:
        assert (state, host.error) == (HostState.ENDED, None)
        return
    assert state is HostState.STOPPED
    assert isinstance(host.error, LateError)
    assert f"late by {(lost_s - 0.001) * 1e3:.3g} ms at tick 50" in str(host.error)
    # The step was not taken, and nothing before it was changed.
    assert log.ticks[-1] == (0, 50)
    instance = plan.instantiate(3)
    instance.advance(50)
    assert host.record == instance.record


def test_a_pause_and_a_reset_make_no_step_late():
    clock = FakeClock()

    def rest(output):
        if output.tick == 20 and output.episode_index == 0:
            host.pause()

    host = SimulationHost(plan_of(cart()), mode="operator_training", strict=True, sinks=[Log(rest)], clock=clock.wall)
    with host:
        until(lambda: host.state is HostState.PAUSED)
        clock.work(50.0)
        host.resume()
        assert host.wait(SOON_S) is HostState.ENDED
        clock.work(50.0)
        host.reset()
        assert host.wait(SOON_S) is HostState.ENDED
    assert host.lateness.max_s < 1e-9
    assert host.lateness.steps == 400


def until(condition):
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < SOON_S
        time.sleep(0.001)


def test_the_real_clock_keeps_pace():
    plan = plan_of(cart(runtime={"timestep_s": 0.001, "duration_s": 0.1}))
    started = time.monotonic()
    with SimulationHost(plan, mode="realtime_paced", pace=2.0) as host:
        host.wait(SOON_S)
    assert time.monotonic() - started >= 99 * 0.0005
    assert host.lateness.steps == 100


# --- input from outside ---------------------------------------------------------------------------------------------


def driven():
    """A cart that only an operator drives."""
    return plan_of(cart(controllers={}, runtime={"timestep_s": 0.001, "duration_s": 0.04}))


def recording():
    """An episode that an operator took part in, in real time: its record, and what was committed."""
    host = SimulationHost(driven(), 3, mode="operator_training", pace=0.5)
    with host:
        with host.open_producer("operator") as producer:
            for force in (2.0, -1.0, -3.0, 4.0):
                producer.enqueue("drive", [force])
                time.sleep(0.01)
        host.enqueue_external_input("drive", [0.5], effective_time_s=0.035, source_id="late")
        host.wait(SOON_S)
        return host.record, host.call(lambda instance: instance.recorded_inputs)


def test_recorded_inputs_give_the_same_bits_in_every_mode():
    record, inputs = recording()
    assert inputs
    assert record != plain(driven())
    for mode in MODES:
        host = SimulationHost(driven(), 3, mode=mode, clock=FakeClock().wall)
        host.start(reversed(inputs))
        host.wait(SOON_S)
        assert host.record == record, mode
        host.reset()
        host.wait(SOON_S)
        assert host.record == plain(driven())
        host.reset(inputs=inputs)
        host.wait(SOON_S)
        assert host.record == record
        host.stop()


@pytest.mark.parametrize("ask", [lambda h: h.enqueue_external_input("drive", [1.0]), lambda h: h.open_producer("me")])
def test_deterministic_ci_takes_recorded_input_only(ask):
    with SimulationHost(driven(), mode="deterministic_ci") as host, pytest.raises(HostError, match="recorded inputs"):
        ask(host)


def test_input_that_does_not_fit_is_the_callers():
    _, inputs = recording()
    host = SimulationHost(plan_of(cart(components={}, controllers={})), 3)
    with pytest.raises(InvalidInputError, match="no driver 'drive'"):
        host.start(inputs)
    assert host.state is HostState.STOPPED
    with SimulationHost(plan_of(cart(components={}, controllers={})), 3) as host:
        host.wait(SOON_S)
        with pytest.raises(InvalidInputError, match="no driver 'drive'"):
            host.reset(5, inputs)
        assert host.state is HostState.PAUSED
        assert host.call(lambda instance: (instance.seed, instance.tick)) == (5, 0)
        host.resume()
        assert host.wait(SOON_S) is HostState.ENDED


# --- sinks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["unbounded", "realtime_paced"])
def test_sinks_are_told_of_every_boundary_what_a_stepped_instance_shows(mode):
    plan, log = plan_of(cart()), Log()
    hosted(plan, mode=mode, sinks=[log])
    instance = plan.instantiate(3)
    for output in log.outputs:
        instance.step()
        shown = instance.output("enc")
        mine = output.devices["enc"]
        assert (output.tick, output.episode_time_s, output.session_time_s) == (
            instance.tick, instance.episode_time_s, instance.session_time_s)  # fmt: skip
        assert (mine.valid, mine.acquired_tick, mine.delivered_tick, mine.index) == (
            shown.valid, shown.acquired_tick, shown.delivered_tick, shown.index)  # fmt: skip
        np.testing.assert_array_equal(mine.values, shown.values)
    assert instance.tick == 200


def test_an_output_cannot_be_changed():
    log = Log()
    hosted(plan_of(cart()), sinks=[log])
    output = log.outputs[-1]
    with pytest.raises(ValueError, match="read-only"):
        output.devices["enc"].values[0] = 1.0
    with pytest.raises(TypeError):
        output.devices["enc"] = None
    with pytest.raises(AttributeError):
        output.tick = 5


@pytest.mark.parametrize("mode", ["unbounded", "rendered"])
def test_publish_every_tells_of_its_multiples_and_of_the_last(mode):
    plan, log = plan_of(cart()), Log()
    host = hosted(plan, mode=mode, sinks=[log], publish_every=60)
    assert log.ticks == [(0, 60), (0, 120), (0, 180), (0, 200)]
    assert host.record == plain(plan)


def test_a_slow_sink_changes_no_bit():
    plan = plan_of(cart())
    log = Log(lambda output: time.sleep(0.0005))
    assert hosted(plan, sinks=[log]).record == plain(plan)


@pytest.mark.parametrize("error", [ValueError("no room"), SystemExit(3)])
def test_a_sink_that_raises_stops_the_host_and_is_no_fault_of_the_instance(error):
    plan = plan_of(cart())
    before, breaking, after = Log(), Log(breaks_at(30, error)), Log()
    host = SimulationHost(plan, 3, sinks=[before, breaking, after])
    host.start()
    assert host.wait(SOON_S) is HostState.STOPPED
    assert isinstance(host.error, HostError)
    for word in ("Log", "tick 30", "episode 0", type(error).__name__, str(error), "test_host.py, line"):
        assert word in str(host.error)
    assert host.error.__cause__ is error
    assert (before.ticks[-1], after.ticks[-1]) == ((0, 30), (0, 29))
    assert [log.closed for log in (before, breaking, after)] == [1, 1, 1]
    instance = plan.instantiate(3)
    instance.advance(30)
    assert host.record == instance.record
    assert host.record.outcome.status == "cancelled"


def test_a_with_block_raises_what_stopped_the_host():
    with pytest.raises(HostError, match="no room"), SimulationHost(plan_of(cart()), sinks=[Log(breaks_at(3))]) as host:
        host.wait(SOON_S)


def test_a_sink_that_cannot_close_is_told_and_the_others_are_closed():
    class Torn(Log):
        def close(self):
            super().close()
            raise OSError("disk full")

    torn, whole = Torn(), Log()
    host = SimulationHost(plan_of(cart()), sinks=[torn, whole])
    host.start()
    host.wait(SOON_S)
    host.stop()
    assert "disk full" in str(host.error)
    assert "closing" in str(host.error)
    assert whole.closed == 1


def test_snapshots_are_copies_at_their_own_period():
    plan = plan_of(cart())
    log, latest = Log(), LatestSnapshot(0.033)
    assert latest.latest is None
    host = hosted(plan, sinks=[log, latest])
    shown = [output for output in log.outputs if output.snapshot is not None]
    assert [output.tick for output in shown] == [1, 33, 66, 99, 132, 165, 198]
    instance = plan.instantiate(3)
    instance.advance(198)
    assert latest.latest.tick == 198
    np.testing.assert_array_equal(latest.latest.qpos, instance.snapshot().qpos)
    assert host.record == plain(plan)


# --- episodes and the session ---------------------------------------------------------------------------------------


def test_reset_returns_episode_time_to_zero_and_session_time_only_grows():
    plan, log = plan_of(cart()), Log()
    with SimulationHost(plan, 3, sinks=[log]) as host:
        host.wait(SOON_S)
        first = host.record
        host.reset()
        host.wait(SOON_S)
        again = host.record
        host.reset(8)
        host.wait(SOON_S)
        other = host.record
    assert first == again == plain(plan)
    assert other == plain(plan, 8)
    assert log.ticks == [(episode, n) for episode in range(3) for n in range(1, 201)]
    session = [output.session_time_s for output in log.outputs]
    assert session == sorted(set(session))
    assert session[-1] == host.session_time_s == pytest.approx(0.6)
    assert [output.episode_time_s for output in log.outputs[200:202]] == [0.001, 0.002]


def test_a_reset_in_the_middle_leaves_the_episode_where_it_was():
    plan = plan_of(cart())
    host = SimulationHost(
        plan, 3, sinks=[Log(lambda o: host.reset(5) if (o.episode_index, o.tick) == (0, 70) else None)]
    )
    with host:
        host.wait(SOON_S)
        assert host.record == plain(plan, 5)
        assert host.session_time_s == pytest.approx(0.27)


def test_a_sink_may_begin_the_next_episode():
    plan = plan_of(cart())
    log = Log(lambda o: host.reset(o.episode_index + 1) if o.tick == 200 and o.episode_index < 2 else None)
    host = SimulationHost(plan, 0, sinks=[log])
    with host:
        until(lambda: len(log.outputs) == 600)
        host.wait(SOON_S)
    assert host.record == plain(plan, 2)


def test_stop_from_another_thread_finishes_the_step_and_closes_the_sinks():
    plan, log = plan_of(cart()), Log()
    host = SimulationHost(plan, 3, mode="realtime_paced", pace=0.1, sinks=[log])
    host.start()
    until(lambda: len(log.outputs) >= 3)
    stopper = threading.Thread(target=host.stop)
    stopper.start()
    stopper.join(SOON_S)
    assert not stopper.is_alive()
    assert host.state is HostState.STOPPED
    assert (host.error, log.closed) == (None, 1)
    steps = len(log.outputs)
    instance = plan.instantiate(3)
    instance.advance(steps)
    assert host.record == instance.record
    host.stop()
    assert log.closed == 1


def test_a_stop_does_not_wait_for_a_step_that_is_far_off():
    host = SimulationHost(plan_of(cart()), mode="realtime_paced", pace=1e-5)  # a step in a hundred seconds
    host.start()
    started = time.monotonic()
    assert host.call(lambda instance: instance.tick) <= 1
    host.stop()
    assert time.monotonic() - started < 5.0


def test_pause_rests_and_resume_goes_on():
    plan = plan_of(cart())
    host = SimulationHost(plan, 3, sinks=[Log(lambda o: host.pause() if o.tick == 40 else None)])
    with host:
        until(lambda: host.state is HostState.PAUSED)
        assert host.wait(0.01) is HostState.PAUSED
        assert host.call(lambda instance: instance.tick) == 40
        with pytest.raises(HostError, match="paused"):
            host.pause()
        host.resume()
        host.wait(SOON_S)
        with pytest.raises(HostError, match="ended"):
            host.resume()
    assert host.record == plain(plan)


def test_a_reset_while_paused_stays_paused():
    host = SimulationHost(plan_of(cart()), 3, sinks=[Log(lambda o: host.pause() if o.session_time_s < 0.05 else None)])
    with host:
        until(lambda: host.state is HostState.PAUSED)
        host.reset(4)
        assert host.state is HostState.PAUSED
        assert host.call(lambda instance: (instance.tick, instance.seed)) == (0, 4)


# --- who may do what ------------------------------------------------------------------------------------------------


def test_the_instance_belongs_to_the_hosts_thread():
    plan = plan_of(cart())
    with SimulationHost(plan) as host:
        instance = host.call(lambda instance: instance)
        with pytest.raises(OwnershipError, match="host of"):
            instance.step()
        assert host.call(lambda _: threading.current_thread().name) == f"host of {plan.plan_id}"


def test_a_call_that_raises_is_the_callers():
    plan = plan_of(cart())
    with SimulationHost(plan, 3) as host:
        with pytest.raises(ZeroDivisionError):
            host.call(lambda instance: 1 / 0)
        host.wait(SOON_S)
        with pytest.raises(InvalidInputError, match="seed"):
            host.reset(-1)
        assert host.state is HostState.ENDED
        assert host.call(SimulationInstance.snapshot).tick == 200
    assert host.record == plain(plan)


def test_what_a_host_cannot_do_yet_or_any_more():
    host = SimulationHost(plan_of(cart()))
    assert host.state is HostState.CREATED
    for ask in (host.pause, host.reset, lambda: host.enqueue_external_input("drive", [1.0])):
        with pytest.raises(HostError, match="created"):
            ask()
    host.start()
    with pytest.raises(HostError, match="already"):
        host.start()
    host.stop()
    for ask in (host.start, host.pause, host.reset, lambda: host.enqueue_external_input("drive", [1.0])):
        with pytest.raises(HostError, match="stopped"):
            ask()


def test_a_host_that_was_never_started_can_be_stopped():
    log = Log()
    host = SimulationHost(plan_of(cart()), sinks=[log])
    host.stop()
    assert (host.state, log.closed, host.wait(0)) == (HostState.STOPPED, 1, HostState.STOPPED)


@pytest.mark.slow
def test_many_threads_ask_at_once_and_no_bit_changes():
    plan = plan_of(cart())
    host = SimulationHost(plan, 3, sinks=[Log()])
    failures = []

    def bother():
        try:
            while host.call(lambda instance: instance.snapshot().tick) < 200:
                for act in (host.pause, host.resume):
                    try:
                        act()
                    except HostError:
                        continue
        except HostError as error:
            failures.append(error)

    host.start()
    threads = [threading.Thread(target=bother) for _ in range(4)]
    for thread in threads:
        thread.start()
    while host.wait(0.001) is not HostState.ENDED:
        if host.state is HostState.PAUSED:
            try:
                host.resume()
            except HostError:
                continue
    for thread in threads:
        thread.join(SOON_S)
    host.stop()
    assert not failures
    assert host.record == plain(plan)


# --- what goes wrong ------------------------------------------------------------------------------------------------


def wild():
    document = cart()
    document["controllers"]["fb"]["parameters"]["gain"] = [0, 1e9, 0, 1e12]
    document["components"]["drive"]["actuators"] = "twist"
    return plan_of(document)


def test_a_fault_is_a_state_and_a_reset_leaves_no_trace_of_it():
    plan, log = wild(), Log()
    with SimulationHost(plan, 3, sinks=[log]) as host:
        assert host.wait(SOON_S) is HostState.FAULTED
        first = host.record
        assert first == plain(plan)
        assert host.error is None
        fault = log.outputs[-1].fault
        assert (fault.tick, fault.kind) == (first.outcome.tick, "diverged")
        assert [o.fault for o in log.outputs[:-1]] == [None] * (len(log.outputs) - 1)
        assert host.capsule.outcome == first.outcome
        host.reset()
        assert host.wait(SOON_S) is HostState.FAULTED
        assert host.record == first


def test_a_controller_that_raises_faults_the_instance():
    document = cart()
    document["controllers"]["fb"] |= {"class": "tests.runtime.controllers:Gain",
                                      "parameters": {"gain": 3.0, "bad": 1.0, "at": 42}}  # fmt: skip
    host = hosted(plan_of(document))
    assert host.capsule.outcome.kind == "controller"
    assert "no solution at tick" in host.capsule.outcome.message


def test_a_domain_end_is_told_with_its_reason():
    document = cart()
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.12, "reason": "fell"}
    document["controllers"]["fb"]["parameters"]["gain"] = [0, 0, 0, 0]
    log = Log()
    host = hosted(plan_of(document), sinks=[log])
    assert log.outputs[-1].end.reason == "fell"
    assert host.record.outcome.reason == "fell"
    assert host.record == plain(plan_of(document))


class Unbuildable:
    """A controller that can be imported and not built."""

    def __init__(self, setup):
        if setup.parameters["bad"][0, 0]:
            raise RuntimeError("no licence")

    def compute(self, step):
        return 0 * step.inputs["enc"].values[:, :1]


def test_an_instance_that_cannot_be_made_is_told_by_start():
    document = cart()
    document["controllers"]["fb"] |= {"class": "tests.runtime.test_host:Unbuildable", "parameters": {"bad": 1.0}}
    log = Log()
    host = SimulationHost(plan_of(document), sinks=[log])
    with pytest.raises(HostError, match=r"RuntimeError: no licence \(test_host.py, line \d+\)") as told:
        host.start()
    host.stop()
    assert host.error is told.value
    assert (host.state, host.record, log.closed) == (HostState.STOPPED, None, 1)
