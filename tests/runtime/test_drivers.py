"""Drivers: what every one does, against a scalar model and formulas."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.runtime import InstanceBatch
from sweep.runtime.ingress.mailbox import Mailbox
from tests.runtime.driven import Controls, advanced, applied, document, send
from tests.runtime.scalar_driver import ScalarDrive
from tests.runtime.scenes import bits, cart, plan_of

# --- stages, in numbers ---------------------------------------------------------------------------------------------


def test_a_slew_of_ten_units_a_second_takes_fifty_ticks_of_two_milliseconds_for_one_unit():
    found = applied({"slew_per_s": 10}, 130, {5: 1.0, 70: 0.0}, dt=0.002)
    assert found[:8] == [0.0] * 5 + [0.02, 0.04, 0.06]
    assert found[53] < 1.0 == found[54] == found[69]
    assert found[70] == 0.98
    assert found[118] > 0.0 == found[119] == found[129]


@pytest.mark.parametrize(("rate", "dt"), [(10, 0.002), (3, 0.001), (0.1, 0.01), (7, "1/240"), (2.5, 0.004)])
def test_so_many_steps_take_so_many_ticks_at_any_rate(rate, dt):
    target = float(301 * Fraction(str(rate)) * Fraction(str(dt)))
    found = applied({"slew_per_s": rate}, 310, {0: target}, dt=dt)
    assert found.index(target) == 300
    assert found[300:] == [target] * 10


def test_up_and_down_slew_by_themselves():
    found = applied({"slew_up_per_s": 100}, 40, {0: 2.0, 30: -5.0})
    assert found[19:31] == [2.0] * 11 + [-5.0]
    found = applied({"slew_down_per_s": 100, "initial": 1.0}, 40, {0: 2.0, 5: -5.0})
    assert found[:7] == pytest.approx([2.0] * 5 + [1.9, 1.8])


def test_a_lag_is_the_exact_answer_of_a_first_order_system_to_a_held_command():
    found = applied({"lag_s": 0.02, "initial": 1.0}, 200, {10: 3.0, 100: -1.0}, dt=0.002)
    assert found[:10] == [1.0] * 10
    rising = [3.0 - 2.0 * math.exp(-(n + 1) * 0.002 / 0.02) for n in range(90)]
    assert found[10:100] == pytest.approx(rising, rel=1e-13)
    assert found[100] == pytest.approx(-1.0 + (found[99] + 1.0) * math.exp(-0.1), rel=1e-14)


@pytest.mark.parametrize(
    ("drive", "expected"),
    [
        ({"dead_band": 0.5}, [0.0, 0.0, 0.0, 0.25, -0.5]),
        ({"dead_band": 0.5, "dead_band_jump": True}, [0.0, 0.0, 0.0, 0.75, -1.0]),
        ({"resolution": 0.5}, [0.0, 0.5, -0.5, 1.0, -1.0]),
        ({"strength": 0.5}, [0.05, 0.25, -0.25, 0.375, -0.5]),
        ({"limit": 0.6}, [0.1, 0.5, -0.5, 0.6, -0.6]),
        # In their order: what the dead band leaves is rounded, weakened and limited.
        ({"dead_band": 0.1, "resolution": 0.25, "strength": 0.5, "limit": 0.3}, [0.0, 0.25, -0.25, 0.3, -0.3]),
    ],
)
def test_stages_without_memory(drive, expected):
    sent = [0.1, 0.5, -0.5, 0.75, -1.0]
    assert applied(drive, 5, dict(enumerate(sent))) == [x if x else 0.0 for x in expected]


@pytest.mark.parametrize("max_block", [None, 1, 4])
@pytest.mark.parametrize(
    ("fallback", "then"), [("zero", 0.0), ("hold", 4.0), (-0.5, -0.5)], ids=["zero", "hold", "numbers"]
)
def test_the_watchdog_trips_at_the_first_boundary_of_its_age(fallback, then, max_block):
    """dt 2 ms, timeout 10 ms, last arrival at tick 5: acts 5 .. 9, trips at tick 10."""
    drive = {"timeout_s": 0.010, "fallback": fallback, "initial": 1.0}
    found = applied(drive, 20, {0: 3.0, 5: 4.0, 15: 5.0}, dt=0.002, max_block=max_block)
    assert found == [3.0] * 5 + [4.0] * 5 + [then] * 5 + [5.0] * 5


def test_the_watchdog_waits_for_a_first_arrival():
    assert applied({"timeout_s": 0.002, "initial": 1.0}, 20, {}) == [1.0] * 20


def test_commands_are_taken_up_at_multiples_of_their_period():
    found = applied({"command_period_s": 0.0035}, 16, {0: 1.0, 5: 2.0, 6: 3.0, 7: 4.0, 8: 5.0})
    assert found == [0.0] * 4 + [1.0] * 3 + [4.0] * 4 + [5.0] * 5  # due at ticks 4, 7, 11, 14


def test_a_slewed_and_lagged_drive_starts_from_its_initial_command():
    for drive in ({"slew_per_s": 1}, {"lag_s": 0.1}):
        assert applied({**drive, "initial": 2.5}, 5, {}) == [2.5] * 5


# --- every stage at once, against the scalar model ------------------------------------------------------------------

DT = Fraction(1, 500)


def maybe(strategy):
    return st.none() | strategy


@st.composite
def lanes_of_drives(draw):
    """Specs of the lanes of one batch: they share what there is, and differ in all numbers."""
    kinds = {"jitter": draw(st.booleans()), "loss": draw(st.sampled_from([None, "drop", "burst"]))}
    shared = {
        "ordering": draw(st.sampled_from(["fifo", "overtaking"])),
        "dead_band_jump": draw(st.booleans()),
    }
    return [{**shared, **draw(drives(**kinds))} for _ in range(draw(st.integers(1, 3)))]


@st.composite
def drives(draw, jitter, loss):
    ticks = st.fractions(0, 12, max_denominator=3).map(lambda x: float(x * DT))
    probability = st.sampled_from([0.0, 0.3, 1.0])
    numbers = {
        "command_latency_s": draw(ticks),
        "command_period_s": draw(maybe(st.sampled_from([0.002, 0.007]))),
        "timeout_s": draw(maybe(st.sampled_from([0.004, 0.009]))),
        "fallback": draw(st.sampled_from(["hold", "zero", -0.7])),
        "initial": draw(maybe(st.sampled_from([0.25, -9.0]))),
        "dead_band": draw(st.sampled_from([0.0, 0.25])),
        "resolution": draw(st.sampled_from([0.0, 0.3])),
        "lag_s": draw(st.sampled_from([0.0, 0.0123])),
        "strength": draw(st.sampled_from([1.0, 0.7])),
        "limit": draw(maybe(st.sampled_from([0.6, 5.0]))),
        **draw(st.sampled_from([{}, {"slew_per_s": 100.0}, {"slew_up_per_s": 30.0, "slew_down_per_s": 300.0}])),
    }
    if jitter:
        values = draw(st.lists(ticks, min_size=3, max_size=3))
        numbers["jitter"] = {"type": "discrete", "values_s": values}
    if loss == "drop":
        numbers["drop_probability"] = draw(probability)
    if loss == "burst":
        names = ("p_good_to_bad", "p_bad_to_good", "loss_good", "loss_bad")
        numbers["burst_loss"] = {name: draw(probability) for name in names}
    return {name: value for name, value in numbers.items() if value is not None}


inputs = st.lists(
    st.tuples(
        st.integers(0, 25),
        st.sampled_from(["bare", "counted"]),
        st.integers(0, 9),
        st.sampled_from([0.1, 1.3, -0.45, 7.0, -20.0]),
    ),
    max_size=25,
)


def committed(entries):
    """The same in the order of their commits, as the scalar model takes them; only ``counted`` keeps a count."""
    numbered = [(tick, source, sequence, acceptance, value)
                for acceptance, (tick, source, sequence, value) in enumerate(entries, start=1)]  # fmt: skip
    in_order = sorted(numbered, key=lambda e: (e[0], e[1], e[2] if e[1] == "counted" else e[3], e[3]))
    return [(tick, source, sequence if source == "counted" else None, value)
            for tick, source, sequence, _, value in in_order]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=120)
@given(lanes_of_drives(), inputs, st.sampled_from([None, 1, 2, 3, 7]), st.integers(0, 2**32))
def test_every_drive_is_its_scalar_model_bit_for_bit(drives, entries, max_block, seed):
    plans = [plan_of(document({**drive, "actuators": "push"}, float(DT))) for drive in drives]
    recorder, mailbox, ticks = Controls(), Mailbox(plans[0].grid), 45
    for tick, source, sequence, value in entries:
        send(mailbox, DT, tick, value, source, sequence if source == "counted" else None)
    seeds = [seed + lane for lane in range(len(plans))]
    batch = advanced(InstanceBatch(plans, seeds, max_block, observers=[recorder], mailbox=mailbox), ticks)
    for lane, drive in enumerate(drives):
        scalar = ScalarDrive("drive", drive, DT, seeds[lane], committed(entries), -8.0, 6.0)
        assert same(recorder.of(lane, 0), [scalar.control(tick) for tick in range(ticks)])
        summary = batch.parts.drivers["drive"].summary(lane, ticks)
        assert summary["commands"] == scalar.arrived
        assert summary["saturated"] == scalar.saturated / ticks
        assert summary.get("lost", 0.0) == scalar.lost
        assert summary.get("timed_out", 0.0) == scalar.timed_out / ticks


@pytest.mark.parametrize("max_block", [None, 1, 4])
@pytest.mark.parametrize("ordering", ["fifo", "overtaking"])
def test_commands_keep_their_order_or_the_last_arrival_wins(ordering, max_block):
    jitter = {"type": "discrete", "values_s": [0.0, 0.001, 0.005, 0.012]}
    drive = {"ordering": ordering, "jitter": jitter, "command_latency_s": 0.002, "timeout_s": 0.004}
    sent = {tick: float(tick + 1) for tick in range(0, 60, 2)}
    in_order = [(tick, "bare", None, value) for tick, value in sent.items()]
    scalar = ScalarDrive("drive", drive, Fraction(1, 1000), 0, in_order, -math.inf, math.inf)
    found = applied(drive, 75, sent, max_block=max_block)
    assert found == [scalar.control(tick) for tick in range(75)]
    held = [x for x in found if x]
    assert (held == sorted(held)) == (ordering == "fifo")


def same(found, expected):
    return bits(x + 0.0 for x in found) == bits(x + 0.0 for x in expected)


@pytest.mark.slow
@settings(max_examples=30)
@given(lanes_of_drives(), inputs, st.sampled_from([None, 3]))
def test_a_lane_alone_is_that_lane_in_a_batch(drives, entries, max_block):
    plans = [plan_of(document({**drive, "actuators": "push"}, float(DT))) for drive in drives]

    def digests(chosen):
        mailbox = Mailbox(plans[0].grid)
        for tick, source, sequence, value in entries:
            send(mailbox, DT, tick, value, source, sequence if source == "counted" else None)
        batch = InstanceBatch(
            [plans[lane] for lane in chosen], [lane + 5 for lane in chosen], max_block, mailbox=mailbox
        )
        batch.advance(70)
        return [(batch.trace_digest(n), batch.record(n).receipts) for n in range(len(chosen))]

    assert digests(range(len(plans))) == [digests([lane])[0] for lane in range(len(plans))]


@pytest.mark.parametrize("ordering", ["fifo", "overtaking"])
def test_a_controllers_calls_are_counted_in_each_lane(ordering):
    """Lanes whose controller begins at another call, or takes another time, draw what they would draw alone."""
    drive = {"type": "torque", "actuators": "push", "drop_probability": 0.3, "ordering": ordering}
    jitter = {"type": "uniform", "high_s": 0.015}
    made = cart()
    made["components"]["drive"] = {**drive, "jitter": jitter}
    cells = [
        {"components.enc.latency_s": seen, "controllers.fb.compute_latency_s": compute}
        for seen, compute in [(0.0, 0.0), (0.03, 0.0), (0.012, 0.008), (0.0, 0.008)]
    ]
    plans = [plan_of(made, cell) for cell in cells]

    def left(chosen):
        batch = InstanceBatch([plans[n] for n in chosen], chosen, trace="events")
        batch.run()
        tables = [batch.parts.drivers["drive"].event_table(lane) for lane in range(len(chosen))]
        mine = [[t[c].tolist() for c in ("tick", "source_sequence", "arrival_tick", "values")] for t in tables]
        return [(batch.record(lane), mine[lane]) for lane in range(len(chosen))]

    together = left([0, 1, 2, 3])
    assert together == [left([n])[0] for n in range(4)]
    assert [table[1] for _, table in together] == [list(range(1, len(t[1]) + 1)) for _, t in together]
    assert len({len(table[1]) for _, table in together}) > 1
    assert all(record.summaries["drive/lost"] for record, _ in together)


# --- what it leaves behind ------------------------------------------------------------------------------------------


def test_the_event_table_holds_every_committed_input_in_order():
    drive = {"command_latency_s": 0.002, "drop_probability": 0.5}
    plan = plan_of(document(drive))
    mailbox = Mailbox(plan.grid)
    for tick, sequence in [(1, 1), (2, 2), (4, 2), (5, 7), (5, 8), (9, 9)]:
        send(mailbox, 0.001, tick, float(tick), "counted", sequence)
    send(mailbox, 0.001, 5, 0.5)
    batch = InstanceBatch([plan], [3], trace="events", mailbox=mailbox)
    batch.advance(8)
    table = batch.parts.drivers["drive"].event_table(0)
    assert table["tick"].tolist() == [1, 2, 4, 5, 5, 5]
    assert table["source_id"].tolist() == ["counted", "counted", "counted", "bare", "counted", "counted"]
    assert table["source_sequence"].tolist() == [1, 2, 2, 7, 7, 8]
    assert table["stale"].tolist() == [False, False, True, False, False, False]
    assert table["acceptance"].tolist() == [1, 2, 3, 7, 4, 5]
    assert table["values"].tolist() == [[1.0], [2.0], [4.0], [0.5], [5.0], [5.0]]
    assert table["effective_s"].tolist() == [0.001, 0.002, 0.004, 0.005, 0.005, 0.005]
    scalar = ScalarDrive("drive", drive, Fraction(1, 1000), 3, [], -1, 1)
    arrives = [-1 if scalar.loses(n) else tick + 2 for tick, n in [(1, 1), (2, 2), (5, 1), (5, 7), (5, 8)]]
    assert table["arrival_tick"].tolist() == [*arrives[:2], -1, *arrives[2:]]
    assert {len(column) for column in table.values()} == {6}
    summary = batch.parts.drivers["drive"].summary(0, 8)
    assert (summary["commands"], summary["lost"]) == (sum(a >= 0 for a in arrives), sum(a < 0 for a in arrives))


def test_an_empty_event_table_has_its_columns():
    batch = InstanceBatch([plan_of(document({}))], [0], trace="events")
    table = batch.parts.drivers["drive"].event_table(0)
    assert {len(column) for column in table.values()} == {0}
    assert table["values"].shape == (0, 1)


def test_a_drive_says_which_draws_it_used():
    drive = {"jitter": {"type": "uniform", "high_s": 0.004}, "drop_probability": 0.2}
    plan = plan_of(document(drive))

    def receipts(sequences):
        mailbox = Mailbox(plan.grid)
        for tick, sequence in enumerate(sequences):
            send(mailbox, 0.001, tick, 1.0, "p", sequence)
        batch = InstanceBatch([plan], [0], mailbox=mailbox)
        batch.advance(len(sequences))
        return {name: (r.first, r.count) for name, r in batch.record(0).receipts.items()}

    assert receipts([]) == {"drive/latency": (1, 0), "drive/dropout": (1, 0)}
    assert receipts([None] * 5) == {"drive/latency": (1, 5), "drive/dropout": (1, 5)}
    assert receipts([4, 5, 6]) == {"drive/latency": (4, 3), "drive/dropout": (4, 3)}
    assert receipts([4, 6]) == {}


@pytest.mark.parametrize("max_block", [None, 1, 5])
def test_nothing_later_than_a_lanes_end_is_accounted_for(max_block):
    drive = {"limit": 0.5, "timeout_s": 0.02, "drop_probability": 0.4}
    made = document(drive)
    made["components"]["fall"] = {"type": "limit_exceeded", "joints": "hinge", "limit": 0.3}
    plan = plan_of(made)
    mailbox = Mailbox(plan.grid)
    for tick in range(0, 900, 7):
        send(mailbox, 0.001, tick, 0.9 if tick % 2 else 0.1)
    batch = InstanceBatch([plan, plan], [0, 1], max_block, mailbox=mailbox)
    batch.run()
    for lane, seed in enumerate([0, 1]):
        steps = batch.stops[lane].tick + 1
        inputs = [(tick, "bare", None, 0.9 if tick % 2 else 0.1) for tick in range(0, steps, 7)]
        scalar = ScalarDrive("drive", drive, Fraction(1, 1000), seed, inputs, -math.inf, math.inf)
        for tick in range(steps):
            scalar.control(tick)
        assert batch.record(lane).summaries == {
            "drive/commands": scalar.arrived,
            "drive/lost": scalar.lost,
            "drive/saturated": scalar.saturated / steps,
            "drive/timed_out": scalar.timed_out / steps,
        }
        assert 20 < steps < 850
        assert scalar.saturated
        assert scalar.timed_out


MIXED = """
<mujoco><option timestep="0.002" gravity="0 0 0"/>
  <worldbody><body><joint name="slide" type="slide"/><geom size=".1" mass="1e6"/></body></worldbody>
  <actuator><pid name="servo" joint="slide" input="pos vel ff" kp="1" posrange="-1 1"/>
    <motor name="free" joint="slide"/><motor name="weak" joint="slide" ctrlrange="-.5 .25"/></actuator>
</mujoco>
"""


def test_each_control_has_its_own_range_though_actuators_have_several():
    """MuJoCo keeps a range for each control, not for each actuator."""
    drive = {"type": "torque", "actuators": ["weak", "free", "servo"], "initial": [9.0, 9.0, 9.0, 9.0, 9.0]}
    document = {"schema": "3.3", "model": {"xml": MIXED}, "components": {"drive": drive}}
    instance = plan_of(document).instantiate()
    instance.step()
    assert instance.snapshot().ctrl.tolist() == [1.0, 9.0, 9.0, 9.0, 0.25]
