"""What the Manifest says of transport: what is read, what is refused, what lanes of one batch share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import InvalidInputError
from sweep.plan import load_manifest
from sweep.plan.instants import LaneInstants
from tests.runtime.scenes import cart, plan_of

JITTERS = {
    "uniform": {"type": "uniform", "low_s": "1 ms", "high_s": 0.002},
    "triangular": {"type": "triangular", "mode_s": "1/1000", "high_s": 0.004},
    "truncated_normal": {"type": "truncated_normal", "mean_s": 0.001, "std_s": "500 us", "high_s": 0.003},
    "lognormal": {"type": "lognormal", "median_s": 0.001, "sigma": 0.5, "high_s": 0.02},
    "discrete": {"type": "discrete", "values_s": [0, "2 ms", 0.005], "weights": [0.5, "30%", 0.2]},
}
BURSTS = {"p_good_to_bad": 0.01, "p_bad_to_good": "20%"}


def encoder(**fields):
    document = cart()
    document["components"]["enc"].update(fields)
    return document


def refused(**fields):
    with pytest.raises(InvalidInputError) as raised:
        load_manifest(encoder(**fields))
    return [str(problem) for problem in raised.value.problems]


@pytest.mark.parametrize("jitter", JITTERS.values(), ids=JITTERS)
def test_every_jitter_is_read_with_units_and_survives_its_document(jitter):
    manifest = load_manifest(encoder(jitter=jitter))
    spec = manifest.components["enc"]
    assert spec.transport_streams == ("latency",)
    assert load_manifest(manifest.document()) == manifest
    low, high = spec.jitter.bounds_s
    assert 0.0 <= low < high <= 0.02


def test_neutral_transport_draws_nothing():
    spec = load_manifest(cart()).components["enc"]
    assert (spec.jitter, spec.drop_probability, spec.burst_loss, spec.ordering) == (None, None, None, "fifo")
    assert spec.transport_streams == ()
    assert (spec.lossless, spec.true_clock) == (True, True)


@pytest.mark.parametrize(
    ("fields", "streams", "lossless"),
    [
        ({"drop_probability": 0.0}, ("dropout",), False),
        ({"burst_loss": BURSTS}, ("dropout",), False),
        ({"burst_loss": BURSTS, "jitter": JITTERS["uniform"]}, ("latency", "dropout"), False),
        ({"enabled": False}, (), False),
        ({"ordering": "overtaking"}, (), True),
    ],
)
def test_a_stream_exists_where_it_is_asked_for_whatever_the_numbers(fields, streams, lossless):
    spec = load_manifest(encoder(**fields)).components["enc"]
    assert (spec.transport_streams, spec.lossless) == (streams, lossless)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"drop_probability": 1.2}, "components.enc.drop_probability: input should be less than or equal to 1"),
        ({"drop_probability": 0.1, "burst_loss": BURSTS}, "components.enc: give either drop_probability or burst_loss"),
        ({"burst_loss": {"p_good_to_bad": 0.1}}, "components.enc.burst_loss.p_bad_to_good: is required"),
        ({"burst_loss": {**BURSTS, "loss": 1}}, "components.enc.burst_loss.loss: unknown key; did you mean 'loss_bad'"),
        ({"ordering": "fife"}, "components.enc.ordering: 'fife' is not allowed; did you mean 'fifo'?"),
        ({"jitter": {"high_s": 1}}, "components.enc.jitter: needs a type, for example 'type: uniform'"),
        ({"jitter": {"type": "unifrom"}}, "components.enc.jitter: unknown type 'unifrom'; did you mean 'uniform'?"),
        ({"jitter": {"type": "uniform", "high": 1}}, "components.enc.jitter.high_s: is required"),
        ({"jitter": {"type": "uniform", "high_s": "1 mm"}}, "components.enc.jitter.high_s: '1 mm' is not a duration"),
        ({"jitter": {"type": "uniform", "low_s": -1, "high_s": 1}}, "components.enc.jitter.low_s: input should be"),
        ({"jitter": {"type": "uniform", "low_s": 2, "high_s": 1}}, "components.enc.jitter: needs low_s <= high_s"),
        ({"jitter": {**JITTERS["triangular"], "mode_s": 1}}, "components.enc.jitter: needs low_s <= mode_s <= high_s"),
        (
            {"jitter": {**JITTERS["truncated_normal"], "mean_s": 0.004}},
            "components.enc.jitter: needs low_s <= mean_s <= high_s; found low_s = 0, mean_s = 0.004, high_s = 0.003",
        ),
        ({"jitter": {**JITTERS["lognormal"], "high_s": 1e-4}}, "components.enc.jitter: needs median_s <= high_s"),
        ({"jitter": {**JITTERS["discrete"], "weights": [1]}}, "components.enc.jitter: 1 weights for 3 values_s"),
        ({"jitter": {**JITTERS["discrete"], "weights": [0, 0, 0]}}, "components.enc.jitter: weights are at least 0"),
        ({"clock_skew_ppm": "1%"}, "components.enc.clock_skew_ppm: '1%' is not a quantity in ppm"),
        ({"clock_skew_ppm": -1e6}, "components.enc.clock_skew_ppm: input should be greater than -1000000"),
        ({"clock_offset_s": "late"}, "components.enc.clock_offset_s: 'late' is not a duration"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(fields, expected):
    problems = refused(**fields)
    assert any(problem.startswith(expected) for problem in problems), problems


def test_a_clock_takes_texts_with_units():
    spec = load_manifest(encoder(clock_skew_ppm="20 ppm", clock_offset_s="-7 ms")).components["enc"]
    assert (spec.clock_skew_ppm, spec.clock_offset_s, spec.true_clock) == (20.0, -0.007, False)
    assert spec.stamped(Fraction(1, 1000)) == (Fraction(100002, 10**8), Fraction(-7, 1000))


def layouts(*cells):
    return {plan_of(encoder(**cell)).layout for cell in cells}


def test_lanes_share_which_imperfections_there_are_not_how_strong_they_are():
    assert len(layouts({"drop_probability": 0.0}, {"drop_probability": 0.3})) == 1
    assert len(layouts({"burst_loss": BURSTS}, {"burst_loss": {**BURSTS, "loss_bad": 0.5}})) == 1
    uniform = JITTERS["uniform"]
    assert len(layouts({"jitter": uniform}, {"jitter": {**uniform, "high_s": 0.5}})) == 1
    assert len(layouts({"clock_skew_ppm": 5.0}, {"clock_offset_s": 1.0}, {"enabled": False}, {})) == 1
    given = [{}, {"drop_probability": 0.0}, {"burst_loss": BURSTS}, *({"jitter": j} for j in JITTERS.values()),
             {"jitter": {"type": "discrete", "values_s": [0.0]}}, {"ordering": "overtaking"}]  # fmt: skip
    assert len(layouts(*given)) == len(given)


def test_numbers_of_the_transport_are_sweep_axes():
    document = encoder(jitter=JITTERS["uniform"], burst_loss=BURSTS)
    plan = plan_of(document, {"components.enc.jitter.high_s": 0.01, "components.enc.burst_loss.p_bad_to_good": 0.5})
    spec = plan.manifest.components["enc"]
    assert (spec.jitter.high_s, spec.burst_loss.p_bad_to_good) == (0.01, 0.5)


@settings(max_examples=50)
@given(
    st.fractions(Fraction(1, 10**9), 100, max_denominator=10**9),
    st.fractions(-(10**6), 10**6, max_denominator=10**7),
    st.lists(st.integers(-10, 2**45), max_size=4),
)
def test_instants_are_the_nearest_floats(interval, offset, ks):
    instants = LaneInstants.of([(interval, offset)])
    found = instants.at(np.array(ks, np.int64)).tolist()
    assert found == [float(offset + k * interval) for k in ks]
    lanes = LaneInstants.of([(Fraction(7), Fraction(0)), (interval, offset)])
    for k in ks:
        assert lanes.at(np.array([k, k])).tolist() == [float(7 * k), float(offset + k * interval)]
        assert lanes.lane(1).at(np.array([k])).tolist() == [float(offset + k * interval)]
