"""SimulationHost: a thread that makes and steps one Instance, by the wall clock or as fast as it can."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

from sweep.errors import HostError, SweepError
from sweep.plan.plan import Plan
from sweep.plan.streams import checked_seed
from sweep.results.record import RunRecord
from sweep.runtime.fault import what_raised
from sweep.runtime.hosting.capsule import Capsule, capsule_of
from sweep.runtime.hosting.modes import RECORDED_ONLY, pacer_of
from sweep.runtime.hosting.pacing import WALL_CLOCK, LatenessReport, WallClock
from sweep.runtime.hosting.requests import Requests
from sweep.runtime.hosting.sink import Publisher, Sink
from sweep.runtime.hosting.state import HostState, StateCell
from sweep.runtime.ingress.external_input import InputProducer
from sweep.runtime.ingress.recorded_input import RecordedInput
from sweep.runtime.instance import SimulationInstance

T = TypeVar("T")

_UNHEARD = 64
"""Ticks advanced at once where nobody listens and no wall clock counts; requests are answered between them."""

_NAP_S = 0.005
"""Longest sleep before requests are looked at again [s]."""


class SimulationHost:
    """A session: one episode after another of one Plan, on a thread of its own.

    The thread makes the Instance and is the only one that steps it; no timer and no caller ever does.  Modes decide
    when steps happen and who may speak, never what they do: a Plan, a seed and recorded inputs give the same bits in
    all of them.

    ====================  =============================  ===========================================
    mode                  a step begins                  input from outside
    ====================  =============================  ===========================================
    unbounded             at once                        while it runs, from any thread
    deterministic_ci      at once                        recorded only: no wall clock decides a tick
    realtime_paced        on an absolute schedule        while it runs, from any thread
    rendered              likewise                       likewise; see :class:`LatestSnapshot`
    operator_training     likewise                       likewise
    ====================  =============================  ===========================================

    An episode is over at the Plan's horizon, at its domain's end, or with a fault; the host then waits for
    :meth:`reset` or :meth:`stop`.  What raises on the thread outside the thirteen phases (a sink, a controller's
    constructor, a step that is too late under ``strict``) stops the host and is kept as :attr:`error`; the Instance
    has no fault by that.  Used in ``with``, it starts, stops, and raises that error.

    Args:
        plan: what to simulate.
        seed: the first episode's seed; the manifest's ``runtime.episode_seed`` by default.
        mode: one of the above; the manifest's ``runtime.mode`` by default.
        pace: simulated seconds per second of wall time, in a paced mode.
        strict: lateness that stops the session, in a paced mode: True means one step's, a number means seconds.
        sinks: who is told of completed boundaries.
        publish_every: tell them of every so many ticks, and of each episode's last.
        clock: the wall clock.

    Raises:
        InvalidInputError: an unknown mode, a pace that is not positive, pacing asked of a mode that has none.
    """

    def __init__(self, plan: Plan, seed: int | None = None, *, mode: str | None = None, pace: float = 1.0,
                 strict: bool | float = False, sinks: Sequence[Sink] = (), publish_every: int = 1,
                 clock: WallClock = WALL_CLOCK) -> None:  # fmt: skip
        self.plan = plan
        self.mode = plan.manifest.runtime.mode if mode is None else mode
        self._seed = seed
        self._clock = clock
        self._publisher = Publisher(sinks, plan.grid, publish_every)
        self._pacer = pacer_of(self.mode, pace, strict, plan.grid, clock)
        self._stride = 1 if self._pacer else publish_every if sinks else _UNHEARD
        self._requests = Requests()
        self._state = StateCell()
        self._stopping = False
        self._instance: SimulationInstance | None = None
        self._made = threading.Event()
        self._inputs: tuple[RecordedInput, ...] = ()
        self._error: SweepError | None = None
        self._record: RunRecord | None = None
        self._capsule: Capsule | None = None
        self._thread = threading.Thread(target=self._run, name=f"host of {plan.plan_id}", daemon=True)

    @property
    def state(self) -> HostState:
        """What the execution thread does."""
        return self._state.now

    @property
    def error(self) -> SweepError | None:
        """What stopped the host, if it was not :meth:`stop`."""
        return self._error

    @property
    def record(self) -> RunRecord | None:
        """The record of the last episode that is over, or was left by a reset or a stop."""
        return self._record

    @property
    def capsule(self) -> Capsule | None:
        """What is enough to reopen the last episode that faulted; :func:`write_capsule` keeps it."""
        return self._capsule

    @property
    def lateness(self) -> LatenessReport:
        """How late steps began in this session; empty in a mode without pacing."""
        return LatenessReport() if self._pacer is None else self._pacer.report()

    @property
    def session_time_s(self) -> float:
        """Simulated time of all episodes together [s]; it only grows."""
        return 0.0 if self._instance is None else self._instance.session_time_s

    def start(self, inputs: Iterable[RecordedInput] = ()) -> None:
        """Make the Instance on a thread of its own and begin to step it; returns once it is made.

        Args:
            inputs: recorded inputs that the episode commits at their ticks.

        Raises:
            HostError: it was started before, or the Instance cannot be made.
        """
        recorded = tuple(inputs)
        if not self._state.leave(HostState.CREATED, HostState.RUNNING):
            raise HostError(f"the host is {self.state} already; reset() begins another episode of one that is started")
        self._inputs = recorded
        self._thread.start()
        self._made.wait()
        if self._instance is None:
            assert self._error is not None
            raise self._error

    def stop(self) -> None:
        """Finish the step under way, close the sinks, and end the thread.  Safe from any thread, and again."""
        self._stopping = True
        if self._state.leave(HostState.CREATED, HostState.STOPPED):
            self._finish()
        self._requests.wake()
        if threading.current_thread() is not self._thread:
            self._made.wait()
            if self._thread.is_alive():
                self._thread.join()

    def pause(self) -> None:
        """Step no further for now.

        Raises:
            HostError: it is not running.
        """
        self.call(lambda _: self._switch(HostState.RUNNING, HostState.PAUSED))

    def resume(self) -> None:
        """Go on after a pause; a paced schedule begins anew, so the pause makes no step late.

        Raises:
            HostError: it is not paused.
        """
        self.call(lambda _: self._switch(HostState.PAUSED, HostState.RUNNING))

    def reset(self, seed: int | None = None, inputs: Iterable[RecordedInput] = ()) -> None:
        """Begin a new episode between two steps, and go on running unless paused; session time is kept.

        Args:
            seed: a new episode seed; the present one is kept by default.
            inputs: recorded inputs that the episode commits at their ticks.

        Raises:
            InvalidInputError: not a seed.
            HostError: the host is not started, or stopped.
        """
        seed = seed if seed is None else checked_seed(seed)
        recorded = tuple(inputs)
        self.call(lambda instance: self._reset(instance, seed, recorded))

    def wait(self, timeout_s: float | None = None) -> HostState:
        """Wait until the episode is over: at the horizon, ended, faulted, or the host stopped.

        Args:
            timeout_s: wait no longer than this [s].

        Returns:
            The state then.
        """
        return self._state.wait_over(timeout_s)

    def call(self, function: Callable[[SimulationInstance], T]) -> T:
        """Run a function on the execution thread, between two steps, and return what it returns.

        It is for reading: ``host.call(SimulationInstance.snapshot)`` gives a copy of the state to any thread.

        Raises:
            HostError: the host is not started, or stopped.
            Exception: whatever the function raised; the host goes on.
        """
        if threading.current_thread() is self._thread:
            return function(self._live())
        self._live()
        return self._requests.ask(function).result()

    def enqueue_external_input(self, target: str, values: Any, **identity: Any) -> int:
        """Send a command to a driver, from any thread; see :meth:`SimulationInstance.enqueue_external_input`.

        Where no wall clock paces the steps it is committed within a few dozen of them; for the very next one, see
        :meth:`open_producer`.

        Raises:
            HostError: the host is not started, or stopped, or its mode takes recorded inputs only.
        """
        return self._listening().enqueue_external_input(target, values, **identity)

    def open_producer(self, source_id: str) -> InputProducer:
        """Announce input that may come before every step; see :meth:`SimulationInstance.open_producer`.

        Raises:
            HostError: as above.
        """
        return self._listening().open_producer(source_id)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.stop()
        if kind is None and self._error is not None:
            raise self._error

    # What follows runs on the execution thread.

    def _run(self) -> None:
        try:
            instance = SimulationInstance(self.plan, self._seed)
            self._begin(instance, self._inputs)
            self._instance = instance
            self._made.set()
            while not self._stopping:
                self._requests.answer(instance, wait=self.state is not HostState.RUNNING)
                if self.state is HostState.RUNNING and not self._stopping:
                    self._step(instance)
        except BaseException as error:  # noqa: BLE001 - whatever ends the thread is told as a value
            self._fail(error)
        self._finish()

    def _step(self, instance: SimulationInstance) -> None:
        """Step, unless the wall clock says that it is too early."""
        tick, pacer = instance.tick, self._pacer
        if pacer is not None:
            if (ahead := pacer.ahead_s(tick)) > 0:
                self._clock.sleep(min(ahead, _NAP_S))
                return
            pacer.begin(tick)
        instance.advance(min(self._stride - tick % self._stride, self.plan.horizon - tick))
        episode, state = instance.episode_index, self._reached(instance)
        if state.is_over:
            self._settle(instance)
        self._publisher.publish(instance, is_last=state.is_over)
        if state.is_over and instance.episode_index == episode:  # a sink may have begun the next one
            self._state.enter(state)

    def _begin(self, instance: SimulationInstance, inputs: Sequence[RecordedInput]) -> None:
        instance.replay_inputs(inputs)
        if self._pacer is not None:
            self._pacer.anchor(instance.tick)

    def _reset(self, instance: SimulationInstance, seed: int | None, inputs: Sequence[RecordedInput]) -> None:
        before = self.state
        if not before.is_over:
            self._settle(instance)
        instance.reset(seed)
        self._state.enter(HostState.PAUSED)  # where it stays if the inputs do not fit: the new episode has begun
        self._begin(instance, inputs)
        if before is not HostState.PAUSED:
            self._state.enter(HostState.RUNNING)

    def _switch(self, before: HostState, after: HostState) -> None:
        if not self._state.leave(before, after):
            raise HostError(f"the host is {self.state}; only one that is {before} can become {after}")
        if self._pacer is not None and after is HostState.RUNNING:
            self._pacer.anchor(self._live().tick)

    def _reached(self, instance: SimulationInstance) -> HostState:
        if instance.fault is not None:
            return HostState.FAULTED
        over = instance.end is not None or instance.tick >= self.plan.horizon
        return HostState.ENDED if over else HostState.RUNNING

    def _settle(self, instance: SimulationInstance) -> None:
        """Keep what an episode leaves behind."""
        self._record = instance.record
        if instance.fault is not None:
            self._capsule = capsule_of(instance)

    def _fail(self, error: BaseException) -> None:
        told = error if isinstance(error, SweepError) else HostError(f"the host stopped: {what_raised(error)}")
        told.__cause__ = told.__cause__ or (None if told is error else error)
        self._error = self._error or told  # the first error is the one to hear of
        self._stopping = True

    def _finish(self) -> None:
        try:
            if self._instance is not None and not self.state.is_over:
                self._settle(self._instance)
        except BaseException as error:  # noqa: BLE001 - whoever waits hears of the end in any case
            self._fail(error)
        unclosed = self._publisher.close()
        self._error = self._error or unclosed
        self._state.enter(HostState.STOPPED)
        self._requests.refuse()
        self._made.set()

    def _listening(self) -> SimulationInstance:
        if self.mode in RECORDED_ONLY:
            raise HostError(
                f"the mode is {self.mode}: an input from outside would be committed when the wall clock says; "
                "give recorded inputs to start() or reset(), or take another mode"
            )
        return self._live()

    def _live(self) -> SimulationInstance:
        if self._instance is None or self.state is HostState.STOPPED:
            raise HostError(f"the host is {self.state}: there is no Instance")
        return self._instance
