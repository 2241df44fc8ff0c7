"""The steps that measurements go through: their arithmetic against scalar loops, their statistics against theory."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sweep.plan.imperfection import Imperfection, exp_of
from sweep.plan.streams import stream_key
from sweep.runtime.imperfection import Pipeline
from sweep.runtime.noise import LaneStream, normals
from sweep.runtime.sample_steps import Wrap
from tests.runtime.scenes import bits

GYRO = {"white_density": 3.394e-4, "random_walk": 3.88e-5}  # rad/s/sqrt(Hz), rad/s/sqrt(s)


class Source:
    """Stands for a device with one lane per seed."""

    def __init__(self, periods_s=(0.005,), seeds=(0,), scale=1.0, first_draw=1):
        self.periods_s, self.seeds, self.first_draw = list(periods_s), list(seeds), first_draw
        self.noise_scale = np.full((len(seeds), 1), scale)
        self.streams = {}

    def open(self, stream, width):
        self.streams[stream] = LaneStream([stream_key(seed, "imu", stream) for seed in self.seeds], width)
        return self.streams[stream]

    def open_episode(self, stream, width):
        return self.open(stream, width).span(0, 1)[:, 0]

    def draw(self, stream, draws):
        return self.streams[stream].rows(draws)


def shown(truth, *, cuts=(), source=None, width=3, **imperfection):
    """What a device shows of ``truth (lanes, samples, width)``, handed over in blocks that end at ``cuts``."""
    source = source or Source()
    parts = [Imperfection(**imperfection)] * len(source.seeds)
    pipeline, values = Pipeline("gyro", parts, width, source), np.array(truth, float)
    for start, stop in zip((0, *cuts), (*cuts, values.shape[1]), strict=True):
        if stop > start:
            pipeline(values[:, start:stop], np.arange(start, stop)[None] + source.first_draw)
    return values


def silence(samples, lanes=1, width=3):
    return np.zeros((lanes, samples, width))


def noise(stream, count, *, first=1, width=3, seed=0):
    """Draws of the fake device's stream, ``(count, width)``."""
    return normals(stream_key(seed, "imu", stream), first * width, count * width).reshape(count, width)


cuts_of_40 = st.lists(st.integers(0, 40), max_size=6).map(sorted)
numbers = st.floats(-1e3, 1e3)


# --- numbers of one sample ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("period_s", "white"), [(0.005, 4.79984e-3), (0.001, 1.073277e-2)])
def test_white_noise_of_a_sample_comes_from_its_density_and_the_period(period_s, white):
    assert Imperfection(**GYRO).white_std_at(period_s) == pytest.approx(white, rel=2e-6)
    assert Imperfection(white_std=0.25).white_std_at(period_s) == 0.25


def test_a_wandering_bias_steps_by_its_density_and_the_period():
    assert Imperfection(**GYRO).random_walk_at(0.005) == pytest.approx(2.743574e-6, rel=2e-7)
    # A driving density s reaches s sqrt(tau / 2) in the end.
    driven = Imperfection(bias_instability=3.88e-5 * math.sqrt(1000 / 2), correlation_time_s=1000)
    decay, step = driven.bias_instability_at(0.005)
    assert step == pytest.approx(2.743567e-6, rel=2e-7)
    assert decay == pytest.approx(math.exp(-5e-6), rel=1e-15)


@given(st.fractions(-50, 0, max_denominator=10**6))
def test_the_exponential_is_the_c_librarys_but_for_the_rounding_of_its_argument(exponent):
    assert float(exp_of(exponent)) == pytest.approx(math.exp(exponent), rel=2.0**-52 * (1 - float(exponent)))


def test_the_exponential_has_the_digits_of_e():
    assert str(exp_of(Fraction(1)))[:32] == "2.718281828459045235360287471352"
    assert float(exp_of(Fraction(-1, 2))).hex() == "0x1.368b2fc6f960ap-1"
    assert Imperfection(bandwidth_hz=50).low_pass_at(0.001) == pytest.approx(math.exp(-2 * math.pi * 0.05), rel=1e-15)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"white_std": 0.1, "white_density": 0.1}, "not both"),
        ({"bias_instability": 0.1}, "go together"),
        ({"correlation_time_s": 10}, "go together"),
        ({"range": {"low": 1, "high": 1}}, "low must be below high"),
        ({"scale_error": [0.1, 0.2]}, "each of three axes"),
        ({"bias": [1, 2]}, "each of three axes"),
        ({"resolution": 0}, "greater than 0"),
        ({"white_std": -1}, "greater than or equal to 0"),
        ({"misalignment": [[1, 0], [0, 1]]}, "misalignment"),
        ({"bandwidth_hz": "3 rad"}, "Hz"),
        ({"density": 1}, "density"),
    ],
)
def test_imperfections_that_make_no_sense_are_refused(document, words):
    with pytest.raises(ValidationError, match=words):
        Imperfection.model_validate(document)


# --- each step against the plainest loop ----------------------------------------------------------------------------


def test_nothing_given_changes_nothing_and_opens_no_stream():
    source, truth = Source(), np.linspace(-1, 1, 12).reshape(1, 4, 3)
    assert shown(truth, source=source).tolist() == truth.tolist()
    assert not source.streams


@given(cuts_of_40, st.sampled_from([0, 1]), st.booleans())
def test_a_wandering_bias_is_a_left_fold_wherever_blocks_end(cuts, first_draw, forgets):
    given_ = {"bias_instability": 0.2, "correlation_time_s": 0.1} if forgets else {"random_walk": 0.3}
    part, stream = Imperfection(**given_), "gyro_bias_instability" if forgets else "gyro_random_walk"
    decay, step = part.bias_instability_at(0.005) if forgets else (1.0, part.random_walk_at(0.005))
    steps = noise(stream, 40)
    expected, drift = [], np.zeros(3)
    for number in range(first_draw, 40 + first_draw):
        if number:  # an initial acquisition, number 0, comes before any drift
            drift = decay * drift + step * steps[number - 1]
        expected += drift.tolist()
    found = shown(silence(40), cuts=cuts, source=Source(first_draw=first_draw), **given_)
    assert bits(found.ravel()) == bits(np.array(expected) + 0.0)


def test_an_initial_acquisition_does_not_shift_the_drift_of_others():
    late, early = shown(silence(9), random_walk=1.0), shown(silence(10), source=Source(first_draw=0), random_walk=1.0)
    assert early[0, 0].tolist() == [0, 0, 0]
    assert bits(early[0, 1:].ravel()) == bits(late.ravel())


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=2), min_size=1, max_size=8))
def test_lanes_that_sample_at_their_own_rate_drift_alone(blocks):
    """Rows are padded with a lane's last number where another lane has more samples."""
    given_ = {"random_walk": 0.5, "bias_instability": 0.2, "correlation_time_s": 0.1, "bandwidth_hz": 30}
    source = Source(periods_s=(0.005, 0.002), seeds=(3, 4))
    together = Pipeline("gyro", [Imperfection(**given_)] * 2, 3, source)
    kept, counts = ([], []), np.zeros(2, int)
    for block in blocks:
        width = max(block)
        if not width:
            continue
        columns = np.minimum(np.arange(1, width + 1), np.array(block)[:, None])
        draws = counts[:, None] + columns
        values = np.repeat(np.sin(draws)[:, :, None], 3, axis=2)
        together(values, draws)
        counts += block
        for lane in range(2):
            kept[lane].extend(values[lane, : block[lane]].ravel())
    for lane, count in enumerate(counts.tolist()):
        truth = np.repeat(np.sin(np.arange(1, count + 1))[None, :, None], 3, axis=2)
        alone = Source(periods_s=[source.periods_s[lane]], seeds=[source.seeds[lane]])
        assert not count or bits(shown(truth, source=alone, **given_).ravel()) == bits(kept[lane])


@given(cuts_of_40, st.floats(0.1, 90))
def test_the_low_pass_begins_settled_and_forgets_like_an_exponential(cuts, bandwidth):
    decay = Imperfection(bandwidth_hz=bandwidth).low_pass_at(0.005)
    step = np.where(np.arange(40) < 5, 1.0, 3.0)
    expected, y = [], 1.0
    for x in step:
        y = decay * y + (1.0 - decay) * x
        expected.append(y)
    found = shown(np.repeat(step[None, :, None], 3, axis=2), cuts=cuts, bandwidth_hz=bandwidth)
    assert bits(found[0, :, 1]) == bits(expected)
    assert found[0, 4, 0] == pytest.approx(1.0, rel=1e-14)
    assert found[0, 39, 0] == pytest.approx(3 - 2 * decay**35, rel=1e-12)


@given(st.lists(numbers, min_size=9, max_size=9), st.lists(numbers, min_size=3, max_size=3), st.integers(1, 4))
def test_misalignment_multiplies_by_the_matrix_in_a_fixed_order(entries, vector, samples):
    matrix = np.array(entries).reshape(3, 3)
    expected = [(row[0] * vector[0] + row[1] * vector[1]) + row[2] * vector[2] for row in matrix.tolist()]
    found = shown([[vector] * samples], misalignment=matrix.tolist())
    assert bits(found[0, -1]) == bits(expected)


def test_scale_and_bias_are_for_all_axes_or_each():
    truth = [[[1.0, 2.0, 4.0]]]
    assert shown(truth, scale_error=0.5).tolist() == [[[1.5, 3, 6]]]
    assert shown(truth, scale_error=[0, 0.5, -0.5]).tolist() == [[[1, 3, 2]]]
    assert shown(truth, bias=2).tolist() == [[[3, 4, 6]]]
    assert shown(truth, bias=[1, 0, -1]).tolist() == [[[2, 2, 3]]]


def test_turn_on_bias_is_drawn_once_an_episode():
    found = shown(silence(5), bias_std=2.0, bias=1.0)
    expected = 1.0 + 2.0 * noise("gyro_bias", 1, first=0)[0]
    assert all(bits(row) == bits(expected) for row in found[0])


def test_noise_scale_is_a_factor_on_everything_random():
    given_ = {"white_std": 1, "bias_std": 1, "random_walk": 1, "bias_instability": 1, "correlation_time_s": 1}
    single, double = (shown(silence(20), source=Source(scale=scale), **given_) for scale in (1.0, 2.0))
    assert bits(double.ravel()) == bits(2 * single.ravel())
    assert not shown(silence(20), source=Source(scale=0.0), **given_).any()


@given(st.lists(numbers, min_size=3, max_size=3), st.sampled_from([0.1, 0.25, 7.0]), st.booleans())
def test_steps_are_taken_in_their_order(vector, resolution, wraps):
    low, high = -50.0, 90.0
    found = shown([[vector]], scale_error=0.5, bias=10.0, white_std=3.0, resolution=resolution, rounding="floor",
                  range={"low": low, "high": high, "mode": "wrap" if wraps else "clamp"})  # fmt: skip
    for axis, x in enumerate(vector):
        x = x * 1.5
        x += noise("gyro_white", 1)[0, axis] * 3.0 + 10.0
        x = x if wraps else min(max(x, low), high)
        x = math.floor(x / resolution) * resolution
        x = x - math.floor((x - low) / (high - low)) * (high - low) if wraps else x
        assert found[0, 0, axis] == (low if wraps and not low <= x < high else x)


def test_rounding_is_to_the_nearest_step_ties_to_even_or_down():
    truth = [[[0.25, 0.75, -0.25]], [[0.5, -0.1, 0.99]]]
    two = Source(periods_s=(1, 1), seeds=(0, 1))
    assert shown(truth, source=two, resolution=0.5).tolist() == [[[0, 1, 0]], [[0.5, 0, 1]]]
    assert shown(truth, source=two, resolution=0.5, rounding="floor").tolist() == [[[0, 0.5, -0.5]], [[0.5, -0.5, 0.5]]]


@given(st.floats(-1e6, 1e6), st.floats(-10, 10), st.floats(0.1, 100))
def test_wrapping_stays_within_and_takes_whole_spans_away(value, low, span):
    found, column = np.full((1, 1, 1), value), np.ones((1, 1, 1))
    Wrap(low * column, span * column)(found, np.ones((1, 1), int))
    assert low <= found[0, 0, 0] < low + span
    turns = (value - found[0, 0, 0]) / span
    assert turns == pytest.approx(round(turns), abs=1e-6 + 1e-14 * abs(value) / span)


def test_quantization_error_is_that_of_a_uniform_distribution():
    """LSB / sqrt(12), here over a ramp of many steps."""
    lsb = 0.01
    truth = np.linspace(-3, 3, 40_000) * math.sqrt(2)
    error = shown(truth.reshape(1, -1, 1), width=1, resolution=lsb)[0, :, 0] - truth
    assert error.std() == pytest.approx(lsb / math.sqrt(12), rel=0.01)
    assert np.abs(error).max() <= lsb / 2 + 1e-12


# --- statistics -----------------------------------------------------------------------------------------------------


def allan_deviation(values, samples):
    """Allan deviation over clusters of ``samples`` samples, pooled over all lanes and axes (IEEE Std 952, annex C)."""
    lanes, count, width = values.shape
    clusters = values[:, : count // samples * samples].reshape(lanes, -1, samples, width).mean(axis=2)
    return math.sqrt(0.5 * (np.diff(clusters, axis=1) ** 2).mean())


LANES = 16  # of three axes: 48 series.  Bounds are five standard errors, measured over twenty other sets of seeds.


def recording(rate_hz, samples, **imperfection):
    source = Source(periods_s=[1 / rate_hz] * LANES, seeds=range(LANES))
    return shown(silence(samples, LANES), source=source, **imperfection)


@pytest.mark.parametrize("rate", [200, 1000])
def test_white_noise_has_one_allan_deviation_at_two_rates(rate):
    """density / sqrt(tau): slope -1/2, whatever the rate.  Standard errors: 0.2, 0.9, 1.5 %, 0.004 of the slope."""
    density = 3.394e-4
    values = recording(rate, 2048, white_density=density)
    deviations = [allan_deviation(values, m) for m in (1, 8, 32)]
    for m, deviation, bound in zip((1, 8, 32), deviations, (0.011, 0.045, 0.075), strict=True):
        assert deviation == pytest.approx(density / math.sqrt(m / rate), rel=bound)
    assert math.log(deviations[2] / deviations[0]) / math.log(32) == pytest.approx(-0.5, abs=0.02)


def test_a_random_walk_has_an_allan_deviation_that_rises_with_the_square_root_of_time():
    """density sqrt(tau / 3) for long clusters: slope +1/2.  Standard errors: 0.6 and 1.2 %, and 0.005 of the slope."""
    density = 3.88e-5
    values = recording(200, 4096, random_walk=density)
    low, high = allan_deviation(values, 16), allan_deviation(values, 128)
    assert low == pytest.approx(density * math.sqrt(16 / 200 / 3), rel=0.03)
    assert high == pytest.approx(density * math.sqrt(128 / 200 / 3), rel=0.062)
    assert math.log(high / low) / math.log(8) == pytest.approx(0.5, abs=0.026)


def test_bias_instability_reaches_its_standard_deviation_and_forgets():
    """Once it is stationary: its deviation, and exp(-1) of it after tau.  Standard errors: 0.3 %, and 0.0043."""
    values = recording(100, 4096, bias_instability=0.3, correlation_time_s=0.1)[:, 50:]
    assert values.std() == pytest.approx(0.3, rel=0.016)
    later = (values[:, 10:] * values[:, :-10]).mean() / values.var()
    assert later == pytest.approx(math.exp(-1), abs=0.022)
