"""Whatever is done to an Instance in whatever order: it does what the reference does, and what a fresh one would do."""

from __future__ import annotations

import math

import mujoco
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sweep.errors import EndedError, FaultedError, InvalidInputError
from sweep.runtime import MoveMocap, SetJoint, SimulationInstance
from tests.runtime.judge import agree, episode_of, expected, happened
from tests.runtime.random_plans import BLOCKS, SEEDS, documents, inputs
from tests.runtime.reference_model import exact
from tests.runtime.scenes import plan_of

UPRIGHT = (1.0, 0.0, 0.0, 0.0)
NUMBERS = st.sampled_from([-0.2, 0.1, 1.5])
ACTIONS = st.one_of(
    st.builds(lambda q, v: SetJoint(joint="hinge", position=(q,), velocity=(v,)), NUMBERS, NUMBERS),
    st.builds(lambda x: SetJoint(joint="free", position=(2.0, x, 1.0, *UPRIGHT), velocity=(x,) * 6), NUMBERS),
    st.builds(lambda x: MoveMocap(body="base", position_m=(2.0, x, 1.0)), NUMBERS),
    st.builds(
        lambda x: SetJoint(joint="slider", position=(x,), velocity=(0.0,)), st.sampled_from([0.0, 0.1, math.nan])
    ),
)
"""Complete resources to inject, as the actions that would set them; one is a broken one."""

TICKS = st.integers(0, 31)


class Session:
    """An Instance and the reference beside it, through any number of episodes."""

    def __init__(self, plan, seed, max_block):
        self.plan, self.seed, self.max_block = plan, seed, max_block
        self.instance, self.reference = SimulationInstance(plan, seed, max_block=max_block), episode_of(plan, seed)
        self.log = []  # what was done in this episode
        self.past = []  # what earlier ones left

    def enqueue(self, target, values, source, sequence, effective):
        self.log.append(("enqueue", target, values, source, sequence, effective))
        self.reference.enqueue(target, values, source, sequence, effective)
        assert self.reference.accepted == enqueue(self.instance, target, values, source, sequence, effective)

    def advance(self, ticks):
        self.log.append(("advance", ticks))
        if self.reference.stop is not None:
            with pytest.raises({"fault": FaultedError, "end": EndedError}[self.reference.stop[0]]):
                self.instance.advance(ticks)
            return
        self.instance.advance(ticks)
        for _ in range(ticks):
            self.reference.step()

    def inject(self, action):
        if isinstance(action, MoveMocap) and self.reference.motions:
            with pytest.raises(InvalidInputError, match="is claimed"):
                inject(self.instance, action)
            return
        self.log.append(("inject", action))
        inject(self.instance, action)
        self.reference.act(action)
        mujoco.mj_forward(self.reference.model, self.reference.data)

    def reset(self, seed):
        self.settle()
        self.past.append(expected(self.reference, over=True))
        self.instance.reset(seed)
        self.seed, self.log = self.seed if seed is None else seed, []
        self.reference = episode_of(self.plan, self.seed, self.reference.accepted)

    def settle(self):
        """An episode that is over is what a fresh Instance makes of the same, in other blocks."""
        fresh = SimulationInstance(self.plan, self.seed, max_block=None if self.max_block else 2)
        for what, *arguments in self.log:
            if what == "advance" and fresh.fault is None and fresh.end is None:
                fresh.advance(*arguments)
            elif what != "advance":
                {"enqueue": enqueue, "inject": inject}[what](fresh, *arguments)
        assert fresh.trace_digest == self.instance.trace_digest
        assert (fresh.metrics, fresh.stream_receipts) == (self.instance.metrics, self.instance.stream_receipts)
        assert fresh.record.outcome == self.instance.record.outcome

    def told(self):
        events = self.instance.events()
        for episode, left in enumerate([*self.past, expected(self.reference)]):
            assert happened(events, episode) == left


def enqueue(instance, target, values, source, sequence, effective):
    return instance.enqueue_external_input(
        target, values, source_id=source, source_sequence=sequence, effective_time_s=effective
    )


def inject(instance, action):
    if isinstance(action, SetJoint):
        instance.inject(f"joint_kinematics:{action.joint}", (action.position, action.velocity))
    else:
        instance.inject(f"mocap_pose:{action.body}", (action.position_m, action.quaternion))


class Machine(RuleBasedStateMachine):
    """Two sessions in one process, in turns."""

    def __init__(self):
        super().__init__()
        self.sessions = []

    @initialize(document=documents(), seeds=st.tuples(SEEDS, SEEDS), blocks=st.tuples(BLOCKS, BLOCKS))
    def begin(self, document, seeds, blocks):
        plan = plan_of(document)
        self.timestep = exact(document["runtime"]["timestep_s"])
        self.sessions = [Session(plan, *both) for both in zip(seeds, blocks, strict=True)]

    # Each rule advances too, by no tick or some: rules are not chosen equally often.

    @rule(which=st.booleans(), ticks=TICKS, other=TICKS)
    def advance(self, which, ticks, other):
        self.sessions[which].advance(ticks)
        self.sessions[not which].advance(other)

    @rule(which=st.booleans(), data=st.data(), ticks=TICKS)
    def enqueue(self, which, data, ticks):
        for sent in data.draw(st.lists(inputs(self.timestep), min_size=1, max_size=3)):
            self.sessions[which].enqueue(*sent)
        self.sessions[which].advance(ticks)

    @rule(which=st.booleans(), seed=st.none() | SEEDS, ticks=TICKS)
    def reset(self, which, seed, ticks):
        self.sessions[which].reset(seed)
        self.sessions[which].advance(ticks)

    @rule(which=st.booleans(), action=ACTIONS, ticks=TICKS)
    def inject(self, which, action, ticks):
        if self.sessions[which].reference.stop is None:
            self.sessions[which].inject(action)
            self.sessions[which].advance(ticks)

    @rule(which=st.booleans())
    def look(self, which):
        session = self.sessions[which]
        instance, before = session.instance, session.instance.trace_digest
        instance.snapshot(), instance.physics_state(), instance.outputs(), instance.metrics, instance.history
        session.told()
        assert instance.trace_digest == before

    @invariant()
    @precondition(lambda self: self.sessions)
    def both_are_the_references(self):
        for session in self.sessions:
            agree(session.instance, session.reference)

    def teardown(self):
        for session in self.sessions:
            session.settle()
            session.told()


TestMachine = pytest.mark.slow(Machine.TestCase)
TestMachine.settings = settings(
    max_examples=18, stateful_step_count=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
