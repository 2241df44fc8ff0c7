"""Transport: when samples and commands arrive, which are lost, and what is visible meanwhile.

Timing case 16 (``0.003 + U[0, 0.001)`` on a grid of 0.001) and its kind; laws against scipy, the loss of bursts against
the two-state Markov chain; the queue and the whole device against the plainest scalar model.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sweep.plan import load_manifest, stream_key
from sweep.plan.clock import Grid
from sweep.plan.transport import TransportSpec
from sweep.plan.units import exact_seconds
from sweep.runtime import InstanceBatch, SimulationInstance, uniforms
from sweep.runtime.context import BatchContext
from sweep.runtime.numerics.draws import normal_of
from sweep.runtime.numerics.exponential import exp_of, exps_of, normal_probability_of
from sweep.runtime.transport.channel import LOST, Channel
from sweep.runtime.transport.queue import SampleQueue
from tests.runtime.scenes import bits, cart, plan_of, samples

MILLI = Fraction(1, 1000)
UNIFORM = {"type": "uniform", "high_s": 0.001}
BURSTS = {"p_good_to_bad": 0.05, "p_bad_to_good": 0.25}


class Spec(TransportSpec):
    """Transport alone."""

    capability = "device"


def context(seeds, timestep=MILLI):
    return BatchContext(
        lanes=len(seeds), index=None, grid=Grid(timestep), seeds=seeds, references={}, keep_events=False
    )


def channel(*specs, latency=0, seeds=None, timestep=MILLI, name="link"):
    """One lane per specification, or one per seed of the only one."""
    specs = [Spec.model_validate(spec) for spec in specs]
    seeds = list(range(len(specs))) if seeds is None else seeds
    if len(specs) == 1:
        specs *= len(seeds)
    return Channel(name, specs, context(seeds, timestep), [exact_seconds(latency)] * len(specs))


def numbered(count, first=1):
    return np.arange(first, first + count)[None]


def jitter_draws(seed, count, first=1, name="link"):
    return uniforms(stream_key(seed, name, "latency"), first, count)


# Jitter


def test_row_16_jitter_on_the_grid_is_never_too_early():
    link = channel({"jitter": UNIFORM}, latency=0.003)
    sent = numbered(10_000)
    delays = link.arrivals(sent, sent) - sent
    assert (link.shortest.tolist(), link.longest.tolist()) == ([3], [4])
    assert (delays == 4).all()
    none = channel({"jitter": {"type": "uniform", "high_s": 0.0}}, latency=0.003)
    assert (none.arrivals(sent, sent) - sent == 3).all()


seconds = st.fractions(0, Fraction(1, 50), max_denominator=10**6).map(float)
timesteps = st.sampled_from([MILLI, Fraction(1, 500), Fraction(1, 240), Fraction(1, 30)])


@st.composite
def jitters(draw):
    low, middle, high = sorted(draw(st.tuples(seconds, seconds, seconds)))
    return draw(
        st.sampled_from(
            [
                {"type": "uniform", "low_s": low, "high_s": high},
                {"type": "triangular", "low_s": low, "mode_s": middle, "high_s": high},
                {"type": "truncated_normal", "low_s": low, "mean_s": middle, "std_s": low, "high_s": high},
                {"type": "lognormal", "median_s": middle, "sigma": 50 * low, "high_s": high},
                {"type": "discrete", "values_s": [middle, low, high], "weights": [low, middle, 1.0]},
            ]
        )
    )


def scalar_jitter(spec, u):
    """What the distribution makes of a uniform number: exact where it is a choice, else a float."""
    if spec["type"] == "uniform":
        low, high = spec["low_s"], spec["high_s"]
        return exact_seconds(low) if low == high else Fraction(low + (high - low) * u)
    total = sum(spec["weights"])
    for value, weight in zip(spec["values_s"], np.cumsum(spec["weights"]).tolist(), strict=True):
        if u * total < weight:
            return exact_seconds(value)
    return exact_seconds(spec["values_s"][-1])


@settings(max_examples=40)
@given(jitters(), seconds, timesteps, st.integers(0, 2**64 - 1))
def test_a_delay_is_the_least_whole_number_of_ticks_that_lasts_latency_and_jitter(jitter, latency, timestep, seed):
    link = channel({"jitter": jitter}, latency=latency, seeds=[seed], timestep=timestep)
    sent = numbered(20)
    delays, lost = link.fates(sent)
    low, high = (exact_seconds(b) for b in Spec.model_validate({"jitter": jitter}).jitter.bounds_s)
    least, greatest = (math.ceil((exact_seconds(latency) + bound) / timestep) for bound in (low, high))
    assert lost is None
    assert (link.shortest[0], link.longest[0]) == (least, greatest)
    assert delays.min() >= least >= math.ceil(exact_seconds(latency) / timestep)
    assert delays.max() <= greatest
    if jitter["type"] in ("uniform", "discrete"):
        drawn = [scalar_jitter(jitter, u) for u in jitter_draws(seed, 20).tolist()]
        assert delays[0].tolist() == [math.ceil((exact_seconds(latency) + j) / timestep) for j in drawn]
    # The deadline is what was drawn, and no message arrives before it.
    deadlines, instants = link.deadlines_s(0, sent[0], sent[0]), (sent + delays)[0].tolist()
    assert all(d <= float(tick * timestep) for d, tick in zip(deadlines.tolist(), instants, strict=True))
    assert all(d >= float((tick - 1) * timestep) for d, tick in zip(deadlines.tolist(), instants, strict=True))


def test_values_on_the_grid_are_exact():
    link = channel({"jitter": {"type": "discrete", "values_s": [0.001, 0.002, 0.0021]}}, latency=0.1 + 0.2)
    sent = numbered(300)
    delays, deadlines = link.fates(sent)[0][0], link.deadlines_s(0, sent[0], sent[0])
    assert set(delays.tolist()) == {301, 302, 303}
    exact = {301: Fraction(301), 302: Fraction(302), 303: Fraction(3021, 10)}
    asked = [float((exact[d] + n) / 1000) for d, n in zip(delays.tolist(), sent[0].tolist(), strict=True)]
    assert bits(deadlines) == bits(asked)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "uniform", "low_s": 0.002, "high_s": 0.005}, stats.uniform(0.002, 0.003).cdf),
        (
            {"type": "triangular", "low_s": 0.001, "mode_s": 0.002, "high_s": 0.005},
            stats.triang(0.25, 0.001, 0.004).cdf,
        ),
        ({"type": "triangular", "mode_s": 0.0, "high_s": 0.005}, stats.triang(0, 0, 0.005).cdf),
        (
            {"type": "truncated_normal", "mean_s": 0.002, "std_s": 0.002, "high_s": 0.007},
            stats.truncnorm(-1.0, 2.5, 0.002, 0.002).cdf,
        ),
        (
            {"type": "truncated_normal", "mean_s": 0.0, "std_s": 0.001, "high_s": 0.05},
            stats.halfnorm(0, 0.001).cdf,
        ),
        (
            {"type": "lognormal", "median_s": 0.003, "sigma": 0.8, "high_s": 0.006},
            lambda x: stats.lognorm(0.8, scale=0.003).cdf(x) / stats.lognorm(0.8, scale=0.003).cdf(0.006),
        ),
    ],
)
def test_jitter_has_the_distribution_it_is_named_after(spec, expected):
    draws = np.arange(1, 20_001)
    found = channel({"jitter": spec}).deadlines_s(0, np.zeros(len(draws), np.int64), draws)
    assert stats.kstest(found, expected).pvalue > 0.01


def test_discrete_jitter_has_its_weights():
    spec = {"type": "discrete", "values_s": [0.003, 0.001, 0.002], "weights": [5, 0, 15]}
    delays = channel({"jitter": spec}).fates(numbered(10_000))[0]
    counts = [int((delays == ticks).sum()) for ticks in (3, 1, 2)]
    assert counts[1] == 0
    assert stats.binomtest(counts[0], 10_000, 0.25).pvalue > 0.01
    assert sum(counts) == 10_000


def test_a_spread_of_zero_is_the_middle():
    for spec in ({"type": "truncated_normal", "mean_s": 0.002, "std_s": 0, "high_s": 1},
                 {"type": "lognormal", "median_s": 0.002, "sigma": 0, "high_s": 1},
                 {"type": "triangular", "low_s": 0.002, "mode_s": 0.002, "high_s": 0.002}):  # fmt: skip
        assert set(channel({"jitter": spec}).fates(numbered(50))[0][0].tolist()) == {2}


@given(st.floats(-700, 700))
def test_the_exponential_is_good_to_an_ulp(x):
    assert exp_of(x) == pytest.approx(math.exp(x), rel=4.5e-16, abs=0)
    assert bits(exps_of(np.array([1.0, x, -x]))[1:]) == bits([exp_of(x), exp_of(-x)])


@given(st.floats(-8.5, 8.5))
def test_the_normal_probability_agrees_with_the_library_and_with_its_inverse(z):
    p = normal_probability_of(z)
    assert p == pytest.approx(NormalDist().cdf(z), rel=1e-13, abs=2e-16)
    if abs(z) < 4:
        assert normal_of(p) == pytest.approx(z, rel=1e-11, abs=1e-14)


# Order and loss


def scalar_arrivals(sent, delays, lost, ordering):
    latest, arrivals = LOST, []
    for tick, delay, gone in zip(sent, delays, lost, strict=True):
        arrival = tick + delay
        if gone:
            arrivals.append(LOST)
        elif ordering == "fifo":
            latest = max(latest, arrival)
            arrivals.append(latest)
        else:
            arrivals.append(arrival)
    return arrivals


def scalar_losses(spec, words):
    if "drop_probability" in spec:
        return [u < spec["drop_probability"] for u, _ in words]
    bad, lost = False, []
    for u, move in words:
        bad = move < 1.0 - spec["burst_loss"]["p_bad_to_good"] if bad else move < spec["burst_loss"]["p_good_to_bad"]
        lost.append(u < spec["burst_loss"].get("loss_bad" if bad else "loss_good", 1.0 if bad else 0.0))
    return lost


losses = st.sampled_from(
    [
        {},
        {"drop_probability": 0.3},
        {"burst_loss": BURSTS},
        {"burst_loss": {"p_good_to_bad": 0.9, "p_bad_to_good": 0.8, "loss_good": 0.1, "loss_bad": 0.7}},
    ]
)


@settings(max_examples=40)
@given(losses, st.sampled_from(["fifo", "overtaking"]), st.lists(st.integers(1, 9), min_size=1, max_size=8), st.data())
def test_arrivals_equal_a_scalar_model_in_blocks_of_any_length(loss, ordering, blocks, data):
    spec = {"jitter": {"type": "uniform", "high_s": 0.009}, "ordering": ordering, **loss}
    lanes, first = 3, data.draw(st.sampled_from([0, 1]))
    link = channel(spec, latency=0.0015, seeds=[7, 8, 9])
    found = [[] for _ in range(lanes)]
    for block in blocks:
        # Each lane sends some of the messages of the block, from where it stands.
        counts = data.draw(st.none() | st.lists(st.integers(0, block), min_size=lanes, max_size=lanes))
        own = [block] * lanes if counts is None else counts
        draws = np.array(
            [first + len(f) + np.minimum(np.arange(block), max(0, n - 1)) for f, n in zip(found, own, strict=True)]
        )
        arrivals = link.arrivals(2 * draws, draws, None if counts is None else np.array(counts))
        for lane, n in enumerate(own):
            found[lane] += arrivals[lane, :n].tolist()
    for lane, seed in enumerate([7, 8, 9]):
        count = len(found[lane])
        delays = [
            math.ceil(Fraction(0.009 * u) * 1000 + Fraction(3, 2)) for u in jitter_draws(seed, count, first).tolist()
        ]
        words = uniforms(stream_key(seed, "link", "dropout"), 2 * first, 2 * count).reshape(-1, 2).tolist()
        lost = scalar_losses(loss, words) if loss else [False] * count
        sent = range(2 * first, 2 * (first + count), 2)
        assert found[lane] == scalar_arrivals(sent, delays, lost, ordering)
        arrived = [tick for tick in found[lane] if tick != LOST]
        assert ordering == "overtaking" or arrived == sorted(arrived)


def test_single_losses_come_as_often_as_asked_and_with_a_good_link_of_bursts():
    messages = numbered(2_000)
    lost = channel({"drop_probability": 0.07}, seeds=range(20)).fates(messages)[1]
    assert stats.binomtest(int(lost.sum()), lost.size, 0.07).pvalue > 0.01
    never_bad = {"p_good_to_bad": 0.0, "p_bad_to_good": 1.0, "loss_good": 0.07}
    assert np.array_equal(channel({"burst_loss": never_bad}, seeds=range(20)).fates(messages)[1], lost)


@pytest.mark.parametrize(("p_bad", "p_good"), [(0.02, 0.2), (0.3, 0.1), (0.8, 0.7)])
def test_bursts_are_as_frequent_and_as_long_as_the_chain_says(p_bad, p_good):
    lanes, messages = 300, 400
    bursts = {"p_good_to_bad": p_bad, "p_bad_to_good": p_good}
    lost = channel({"burst_loss": bursts}, seeds=range(lanes)).fates(numbered(messages))[1]
    # From a good link the k-th message finds a bad one with pi (1 - r^k), r = 1 - p_bad - p_good; the variance of the
    # mean of a correlated chain is pi (1 - pi) (1 + r) / (1 - r) / n.
    pi, r = p_bad / (p_bad + p_good), 1 - p_bad - p_good
    expected = pi * np.mean(1 - r ** np.arange(1, messages + 1))
    deviation = math.sqrt(pi * (1 - pi) * (1 + r) / (1 - r) / lost.size)
    assert abs(lost.mean() - expected) < 3 * deviation
    # Bursts that began in the first half last 1 / p_good on average, with the variance of a geometric distribution.
    lengths = [
        int(np.argmin(row[start:]))
        for row in lost
        for start in (np.flatnonzero(np.diff(np.append(False, row[: messages // 2]).astype(int)) == 1)).tolist()
    ]
    assert min(lengths) >= 1
    deviation = math.sqrt((1 - p_good) / p_good**2 / len(lengths))
    assert abs(np.mean(lengths) - 1 / p_good) < 3 * deviation


def test_a_lane_is_lost_and_late_by_itself():
    specs = [{"jitter": {**UNIFORM, "high_s": high}, "drop_probability": p}
             for high, p in ((0.0, 0.0), (0.02, 0.5), (0.007, 0.1))]  # fmt: skip
    together = channel(*specs, latency=0.002, seeds=[5, 5, 6])
    sent = numbered(200)
    arrivals = together.arrivals(sent, sent)
    for lane, (spec, seed) in enumerate(zip(specs, [5, 5, 6], strict=True)):
        alone = channel(spec, latency=0.002, seeds=[seed])
        assert np.array_equal(alone.arrivals(sent, sent)[0], arrivals[lane])
        assert alone.receipts(0, 1, 200) == together.receipts(lane, 1, 200)
    assert (arrivals[0] == sent[0] + 2).all()


# The queue


@st.composite
def journeys(draw):
    """Per lane: the tick and the arrival of each sample; every lane's samples at its own ticks."""
    horizon, longest = draw(st.integers(1, 30)), draw(st.integers(0, 12))
    overtaking, lossy = draw(st.booleans()), draw(st.booleans())
    lanes = []
    for _ in range(draw(st.integers(1, 3))):
        ticks = sorted(draw(st.sets(st.integers(0, horizon - 1))))
        arrivals = [t + d for t, d in ((t, draw(st.integers(0, longest))) for t in ticks)]
        if not overtaking:
            arrivals = np.maximum.accumulate(np.array(arrivals, np.int64)).tolist()
        lanes.append((ticks, [draw(st.sampled_from([a, a, LOST])) if lossy else a for a in arrivals]))
    return horizon, longest, overtaking, lanes


@settings(max_examples=60)
@given(journeys(), st.lists(st.integers(1, 7), min_size=30, max_size=30))
def test_the_queue_shows_the_last_arrival_of_those_at_once_the_newest(journey, blocks):
    horizon, in_flight, overtaking, lanes = journey
    queue = SampleQueue(len(lanes), 1, in_flight, overtaking=overtaking)
    rows, filled = np.full((len(lanes), horizon, 4), math.nan), np.zeros(len(lanes), np.int64)
    start = 0
    for block in blocks:
        stop = min(start + block, horizon)
        own = [[n for n, t in enumerate(ticks) if start <= t < stop] for ticks, _ in lanes]
        widest = max(map(len, own))
        if widest:
            number, tick, arrival = np.full((3, len(lanes), widest), LOST)
            for lane, chosen in enumerate(own):
                number[lane, : len(chosen)] = chosen
                tick[lane, : len(chosen)] = [lanes[lane][0][n] for n in chosen]
                arrival[lane, : len(chosen)] = [lanes[lane][1][n] for n in chosen]
            delays = np.where(arrival == LOST, LOST, arrival - tick)
            counts = np.array(list(map(len, own)))
            queue.push(number[..., None] * 0.5, tick, delays, number, counts, journal=(rows, filled))
        now = stop - 1
        shown = queue.visible(np.full(len(lanes), now))
        for lane, (ticks, arrivals) in enumerate(lanes):
            pushed = [(a, n) for n, (t, a) in enumerate(zip(ticks, arrivals, strict=True)) if t <= now and a != LOST]
            there = [entry for entry in pushed if entry[0] <= now]
            late = [(a, n) for a, n in pushed if a > now]
            assert bool(shown.valid[lane]) == bool(there)
            arrival, n = max(there, default=(LOST, LOST))
            assert (int(shown.delivered_tick[lane]), int(shown.index[lane])) == (arrival, n)
            assert bits([shown.values[lane, 0]]) == bits([n * 0.5 if there else math.nan])
            assert queue.waiting(lane, now) == (len(late), sum(a - ticks[n] for a, n in late))
        start = stop
        if start == horizon:
            break
    for lane, (ticks, arrivals) in enumerate(lanes):
        sent = [[n, t, a, n * 0.5] for n, (t, a) in enumerate(zip(ticks, arrivals, strict=True)) if t < start]
        assert rows[lane, : filled[lane]].tolist() == sent


# Whole devices


def bench(**fields):
    """An encoder on a cart that nobody drives."""
    document = cart(controllers={}, runtime={"timestep_s": 0.001, "duration_s": 0.12})
    del document["components"]["drive"]
    document["components"]["enc"].update(fields)
    return document


def table_of(plan, seed=3, max_block=None):
    instance = SimulationInstance(plan, seed, max_block=max_block)
    instance.run()
    return instance, instance._batch.parts.devices["enc"].event_table(0)


@settings(max_examples=12)
@given(
    losses,
    st.sampled_from([None, {"type": "uniform", "high_s": 0.02}, {"type": "discrete", "values_s": [0.0, 0.011]}]),
    st.sampled_from(["fifo", "overtaking"]),
    st.booleans(),
    st.lists(st.integers(1, 12), min_size=1, max_size=12),
    st.sampled_from([None, 2]),
)
def test_what_is_visible_equals_a_scalar_model_whatever_the_blocks(loss, jitter, ordering, initial, pieces, max_block):
    document = bench(
        period_s=0.0015, latency_s=0.0025, jitter=jitter, ordering=ordering, initial_acquisition=initial, **loss
    )
    instance = SimulationInstance(plan_of(document), 11, max_block=max_block)
    first, total = (0 if initial else 1), sum(pieces)
    ticks = ([0] if initial else []) + [math.ceil(k * 1.5) for k in range(1, total)]
    drawn = jitter_draws(11, len(ticks), first, "enc").tolist()
    if jitter is None:
        jitters = [Fraction(0)] * len(ticks)
    elif jitter["type"] == "uniform":
        jitters = [Fraction(0.02 * u) for u in drawn]
    else:
        jitters = [Fraction(0) if u < 0.5 else 11 * MILLI for u in drawn]
    words = uniforms(stream_key(11, "enc", "dropout"), 2 * first, 2 * len(ticks)).reshape(-1, 2).tolist()
    lost = scalar_losses(loss, words) if loss else [False] * len(ticks)
    delays = [math.ceil((Fraction(5, 2) * MILLI + j) / MILLI) for j in jitters]
    arrivals = scalar_arrivals(ticks, delays, lost, ordering)
    for piece in pieces:
        instance.advance(piece)
        now = instance.tick - 1
        there = [(a, n) for n, a in enumerate(arrivals) if LOST != a <= now and ticks[n] <= now]
        shown = instance.output("enc")
        assert shown.valid == bool(there)
        arrival, n = max(there, default=(-1, -1 - first))
        assert (shown.delivered_tick, shown.index) == (arrival, n + first)
        assert shown.acquired_tick == (ticks[n] if there else -1)
        again = instance.output("enc")  # reading advances nothing
        assert (again.index, again.delivered_tick) == (shown.index, shown.delivered_tick)


IMPERFECT = [
    {"jitter": UNIFORM},
    {"jitter": {"type": "lognormal", "median_s": 0.004, "sigma": 0.7, "high_s": 0.03}, "ordering": "overtaking"},
    {"drop_probability": 0.2},
    {"burst_loss": BURSTS, "jitter": {"type": "truncated_normal", "mean_s": 0.004, "std_s": 0.002, "high_s": 0.01}},
    {"enabled": False},
    {"clock_offset_s": -0.2, "clock_skew_ppm": 40.0},
]


@pytest.mark.parametrize("fields", IMPERFECT, ids=str)
def test_transport_leaves_the_noise_and_the_acquisitions_alone(fields):
    plain, before = table_of(plan_of(bench()))
    travelled, after = table_of(plan_of(bench(**fields)))
    for column in ("index", "acquired_tick", "nominal_acquisition_s", "actual_acquisition_s", "values"):
        assert before[column].tobytes() == after[column].tobytes()
    assert plain.stream_receipts["enc/white"] == travelled.stream_receipts["enc/white"]
    used = set(plan_of(bench(**fields)).manifest.components["enc"].transport_streams)
    assert {f"enc/{name}" for name in used} == set(travelled.stream_receipts) - set(plain.stream_receipts)
    for name in used:
        assert travelled.stream_receipts[f"enc/{name}"].count == len(after["index"])


@pytest.mark.parametrize("fields", IMPERFECT, ids=str)
def test_a_neighbours_transport_changes_nobodys_bits(fields):
    def document(**more):
        parts = bench(**fields)
        parts["components"]["other"] = {**bench()["components"]["enc"], **more}
        return parts

    alone = SimulationInstance(plan_of(document()), 3)
    beside = SimulationInstance(plan_of(document(jitter=UNIFORM, drop_probability=0.5)), 3)
    for instance in (alone, beside):
        instance.advance(100)
    digests = [i._batch.parts.devices["enc"].digest(0) for i in (alone, beside)]
    assert digests[0] == digests[1]


def cells_of(fields):
    """The same imperfections, weaker and stronger, at other rates."""
    stronger = {
        "jitter": lambda j: {**j, "high_s": 2 * j["high_s"]},
        "drop_probability": lambda p: 0.0,
        "burst_loss": lambda b: {**b, "p_good_to_bad": 0.5},
        "clock_offset_s": lambda s: 1.0,
        "enabled": lambda e: True,
    }
    other = {name: stronger[name](value) if name in stronger else value for name, value in fields.items()}
    return [bench(**fields), bench(**other), bench(**fields, latency_s=0.0), bench(**other, period_s=0.0025)]


@pytest.mark.parametrize("fields", IMPERFECT, ids=str)
def test_one_record_whatever_the_blocks_and_the_neighbours(fields):
    plans = [plan_of(document) for document in cells_of(fields)]
    assert len({plan.layout for plan in plans}) == 1
    alone = [InstanceBatch([plan], [9]).run()[0] for plan in plans]
    for chosen, max_block in ((plans[:3], None), (plans, None), (plans, 1), (plans, 3), (plans, 7), (plans[:1], 7)):
        assert InstanceBatch(chosen, [9] * len(chosen), max_block).run() == alone[: len(chosen)]


@pytest.mark.parametrize("fields", IMPERFECT[1:4], ids=str)
def test_lanes_that_end_inside_a_block_leave_the_others_alone(fields):
    document = bench(**fields)
    document["components"]["fall"] = {"type": "limit_exceeded", "joints": ["hinge"], "limit": 0.12}
    plans = [plan_of(document, {"model.initial.hinge": angle}) for angle in (0.05, 0.118, 0.1)]
    alone = [InstanceBatch([plan], [4]).run()[0] for plan in plans]
    assert 0 < alone[1].outcome.tick < alone[0].outcome.tick
    for max_block in (None, 1, 7):
        assert InstanceBatch(plans, [4] * 3, max_block).run() == alone


@pytest.mark.parametrize("fields", IMPERFECT, ids=str)
def test_events_and_summary_tell_the_same_story(fields):
    instance, table = table_of(plan_of(bench(**fields)))
    spec = instance.plan.manifest.components["enc"]
    summaries = instance._batch.record(0).summaries
    arrived = (table["delivered_tick"] != LOST) & (table["delivered_tick"] < instance.tick)
    assert summaries["enc/acquired"] == len(table["index"])
    assert summaries["enc/delivered"] == arrived.sum()
    assert summaries.get("enc/lost") == (None if spec.lossless else (table["delivered_tick"] == LOST).sum())
    if arrived.any():
        delays = (table["delivered_tick"] - table["acquired_tick"])[arrived].tolist()
        assert summaries["enc/latency_actual_s"] == float(Fraction(sum(delays), len(delays)) * MILLI)
    else:
        assert "enc/latency_actual_s" not in summaries
    kept = table["delivered_tick"] != LOST
    assert np.isnan(table["actual_delivery_s"][~kept]).all()
    assert (table["actual_delivery_s"] >= table["requested_delivery_s"])[kept].all()
    assert (table["requested_delivery_s"] >= table["actual_acquisition_s"] + 0.0019).all()
    assert ("lost" in table) == (not spec.lossless)
    assert "lost" not in table or np.array_equal(table["lost"], ~kept)


def test_events_are_the_table_as_plain_values():
    instance, table = table_of(plan_of(bench(**IMPERFECT[3], **IMPERFECT[5])))
    events = [event for event in instance.events() if event.kind == "sample"]
    assert len(events) == len(table["index"]) > 0
    for row, event in enumerate(events):
        assert (event.component, event.episode_index) == ("enc", 0)
        assert event.tick == event.data["acquired_tick"] == table["acquired_tick"][row]
        assert event.data["values"] == tuple(table["values"][row].tolist())
        assert list(event.data) == list(table)
        assert all(isinstance(x, int | float | tuple) for x in event.data.values())
        assert event.data["lost"] is (event.data["delivered_tick"] == -1)


def test_the_devices_clock_stamps_the_acquisition():
    document = bench(clock_offset_s="-20 ms", clock_skew_ppm=500, drop_probability=0.5)
    instance, table = table_of(plan_of(document))
    stamps = [float(n * MILLI * Fraction(10005, 10000) - 20 * MILLI) for n in table["acquired_tick"].tolist()]
    assert bits(table["stamp_s"]) == bits(stamps)
    shown = instance.output("enc")
    assert shown.stamp_s == float(shown.acquired_tick * MILLI * Fraction(10005, 10000) - 20 * MILLI)
    plans = [plan_of(document), plan_of(bench(drop_probability=0.0)), plan_of(bench(drop_probability=1.0))]
    batch = InstanceBatch(plans, [3, 3, 3])
    batch.advance(100)
    output = batch.outputs()["enc"]
    expected = [(1.0005, -0.02), (1.0, 0.0), (math.nan, math.nan)]
    for lane, (rate, offset) in enumerate(expected):
        assert output.stamp_s[lane] == pytest.approx(output.acquired_tick[lane] * 1e-3 * rate + offset, nan_ok=True)
    assert math.isnan(output.lane(2).stamp_s)


def test_a_device_with_a_right_clock_stamps_true_time():
    instance, table = table_of(plan_of(bench()))
    assert "stamp_s" not in table
    assert instance.output("enc").stamp_s == instance.plan.grid.time_s(instance.output("enc").acquired_tick)


def test_nothing_of_a_disabled_device_is_ever_visible_or_under_way():
    plan = plan_of(bench(enabled=False, latency_s=0.05))
    instance = SimulationInstance(plan, 1)
    for _ in range(10):
        instance.advance(7)
        assert not instance.output("enc").valid
    instance.reset()
    assert not [event for event in instance.events() if event.kind == "cancelled"]


def test_an_episode_after_a_lossy_one_equals_a_fresh_one():
    plan = plan_of(bench(**IMPERFECT[3]))
    instance = SimulationInstance(plan, 1)
    instance.advance(77)
    instance.reset(2)
    instance.advance(100)
    fresh = SimulationInstance(plan, 2)
    fresh.advance(100)
    assert instance.trace_digest == fresh.trace_digest
    assert instance.stream_receipts == fresh.stream_receipts


def test_a_document_with_every_field_is_its_own_document():
    document = bench(**IMPERFECT[3], **IMPERFECT[5])
    manifest = load_manifest(document)
    assert load_manifest(manifest.document()) == manifest


@pytest.mark.parametrize("late", [{"latency_s": 1e9}, {"jitter": {"type": "uniform", "high_s": 1e9}}])
def test_a_latency_beyond_any_episode_costs_no_memory(late):
    document = cart()
    document["components"]["enc"] |= late
    document["components"]["drive"]["command_latency_s"] = 1e9
    instance = plan_of(document).instantiate()
    instance.advance(50)
    assert not instance.output("enc").valid
    assert len(samples(instance, "enc")) == 16
