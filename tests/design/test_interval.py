"""Values of an interval: within its ends, by their share, readable, and whole where only whole numbers count."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.design import Interval

shares = st.floats(0, 1, exclude_max=True)
ends = st.tuples(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6)).filter(lambda pair: pair[0] < pair[1]).map(
    lambda pair: {"low": pair[0], "high": pair[1]}
)  # fmt: skip
whole_ends = st.tuples(st.integers(1, 50), st.integers(1, 50)).map(
    lambda pair: {"low": pair[0], "high": pair[0] + pair[1], "is_integer": True}
)
digits = st.none() | st.integers(1, 17)


@given(ends=ends | whole_ends, is_log=st.booleans(), shares=st.lists(shares, min_size=2, max_size=5), digits=digits)
def test_values_lie_between_the_ends_and_keep_the_order_of_their_shares(ends, is_log, shares, digits):
    interval = Interval(**ends, is_log=is_log)
    values = [interval.at(share, digits) for share in sorted(shares)]
    assert values == sorted(values)
    assert all(interval.low <= value <= interval.high for value in values)
    assert {type(value) for value in values} == {int if interval.is_integer else float}


@given(ends=ends, share=shares)
def test_a_share_is_that_of_the_width_or_of_the_ratio(ends, share):
    low, high = ends["low"], ends["high"]
    assert Interval(**ends).at(share, None) == pytest.approx(low + share * (high - low))
    assert Interval(**ends, is_log=True).at(share, None) == pytest.approx(low * (high / low) ** share)


@given(ends=ends, share=shares, digits=st.integers(1, 12))
def test_rounding_moves_a_value_by_less_than_its_last_digit(ends, share, digits):
    width = ends["high"] - ends["low"]
    flat, log = Interval(**ends), Interval(**ends, is_log=True)
    assert abs(flat.at(share, digits) - flat.at(share, None)) <= width * 10.0 ** (1 - digits)
    assert log.at(share, digits) == pytest.approx(log.at(share, None), rel=10.0 ** (1 - digits))


@pytest.mark.parametrize(
    ("interval", "share", "digits", "text"),
    [
        (Interval(low=0.0, high=0.01), 1 / 3, 6, "0.0033333"),
        (Interval(low=1000.001, high=1000.002), 1 / 3, 3, "1000.001333"),  # of the width: the values do not coincide
        (Interval(low=0.001, high=1.0, is_log=True), 1 / 7, 6, "0.0026827"),
        (Interval(low=0.0, high=1e9), 1 / 7, 3, "140000000.0"),
    ],
)
def test_values_are_short_enough_to_be_read(interval, share, digits, text):
    assert repr(interval.at(share, digits)) == text


@given(low=st.integers(-20, 20), count=st.integers(2, 12))
def test_all_whole_numbers_are_equally_likely_ends_too(low, count):
    interval = Interval(low=low, high=low + count - 1, is_integer=True)
    values = [interval.at((index + 0.5) / (3 * count), None) for index in range(3 * count)]
    assert values == [value for value in range(low, low + count) for _ in range(3)]


def test_on_a_log_scale_a_whole_number_stands_for_what_rounds_to_it():
    interval = Interval(low=1, high=4, is_log=True, is_integer=True)
    values = [interval.at(index / 100_000, None) for index in range(0, 100_000, 10)]
    for number in range(1, 5):
        expected = math.log((number + 0.5) / (number - 0.5)) / math.log(4.5 / 0.5)
        assert values.count(number) / len(values) == pytest.approx(expected, abs=1e-3)


def test_levels_are_equally_spaced_from_end_to_end():
    assert list(Interval(low=0.0, high=0.3).levels(4, 6)) == [0.0, 0.1, 0.2, 0.3]
    assert list(Interval(low=0.001, high=1.0, is_log=True).levels(4, 6)) == [0.001, 0.01, 0.1, 1.0]
    assert list(Interval(low=1, high=4, is_integer=True).levels(3, 6)) == [1, 3, 4]
    assert list(Interval(low=1 / 3, high=2 / 3).levels(2, 1)) == [1 / 3, 2 / 3]


def test_an_interval_is_written_as_it_is_typed():
    assert str(Interval(low=0.0, high=0.01)) == "interval(0,0.01)"
    assert str(Interval(low=1, high=100, is_log=True, is_integer=True)) == "tag(log,int(interval(1,100)))"
