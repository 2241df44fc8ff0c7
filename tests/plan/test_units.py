import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import GridError, InvalidInputError
from sweep.plan.units import UNITS, decimal_seconds, exact_seconds, quantity, simplest_rational, unit_of

finite_floats = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (3, Fraction(3)),
        (np.int64(3), Fraction(3)),
        (Fraction(1, 240), Fraction(1, 240)),
        (Decimal("0.002"), Fraction(1, 500)),
        (0.1 + 0.2, Fraction(3, 10)),
        (1 / 60, Fraction(1, 60)),
        (np.float64(1 / 240), Fraction(1, 240)),
        (-0.002, Fraction(-1, 500)),
        (0.0, Fraction(0)),
        ("1/240", Fraction(1, 240)),
        (" 1 / 240 s ", Fraction(1, 240)),
        ("0.002", Fraction(1, 500)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("7 ms", Fraction(7, 1000)),
        ("2ms", Fraction(1, 500)),
        ("5 us", Fraction(5, 10**6)),
        ("5 µs", Fraction(5, 10**6)),
        ("5 ns", Fraction(5, 10**9)),
        ("1e-3", Fraction(1, 1000)),
        ("1E3s", Fraction(1000)),
        ("1.5 s", Fraction(3, 2)),
        ("2 min", Fraction(120)),
        ("-3 ms", Fraction(-3, 1000)),
        ("0.30000000000000004", Fraction(30000000000000004, 10**17)),  # a text is taken at its word
    ],
)
def test_durations_are_read_exactly(value, seconds):
    assert exact_seconds(value) == seconds


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.True_,
        math.nan,
        math.inf,
        -math.inf,
        Decimal("NaN"),
        Decimal("inf"),
        None,
        [1],
        b"1",
        1j,
        "",
        "x",
        "nan",
        "inf",
        "1/0",
        "1/",
        "--1",
        "1 2",
        "1_000",
        "0x10",
        "5 m",
        "5 S",
        "7 msec",
        "1e999999999",
        "9" * 500,
    ],
)
def test_what_is_not_a_duration_is_an_error_that_shows_it_and_what_is_allowed(value):
    with pytest.raises(GridError) as caught:
        exact_seconds(value)
    assert repr(value) in str(caught.value)
    assert '"7 ms"' in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_float_is_the_simplest_rational_even_where_floats_are_sparse_or_subnormal():
    for value in (5e-324, 2.0**-1040, sys.float_info.max, 2.0**52 + 1, 2.0**53 + 2, 1e22):
        assert float(simplest_rational(value)) == value
    assert exact_seconds(sys.float_info.max) == int(sys.float_info.max)


@given(finite_floats)
def test_a_float_is_read_within_one_ulp_and_keeps_its_sign(value):
    read = simplest_rational(value)
    assert abs(read - Fraction(value)) <= Fraction(math.ulp(value))
    assert (read > 0, read < 0) == (value > 0, value < 0)


@given(st.integers(0, 10**7), st.integers(1, 10**6))
def test_every_quotient_of_small_integers_is_read_as_itself(top, bottom):
    if top // bottom < 1000:
        assert simplest_rational(top / bottom) == Fraction(top, bottom)


@given(
    st.floats(1e-6, 100) | st.builds(lambda top, digits: top / 10**digits, st.integers(1, 10**9), st.integers(0, 12))
)
def test_no_smaller_denominator_lies_within_one_ulp(value):
    read, ulp = simplest_rational(value), Fraction(math.ulp(value))
    exact = Fraction(value)
    # Every rational with a smaller denominator is either further away, or there is none: its best approximation is.
    best = read.denominator and exact.limit_denominator(max(read.denominator - 1, 1))
    assert read.denominator == 1 or abs(best - exact) > ulp


@given(st.decimals(-(10**6), 10**6, places=9))
def test_numeric_text_is_an_exact_decimal(value):
    assert exact_seconds(str(value)) == Fraction(value)
    assert exact_seconds(f"{value} ms") == Fraction(value) / 1000
    assert exact_seconds(value) == Fraction(value)


@pytest.mark.parametrize(
    ("value", "unit", "si"),
    [
        ("5 mm", "m", 0.005),
        ("5 nm", "m", 5e-9),
        ("3 deg", "rad", math.radians(3)),
        ("180°", "rad", math.pi),
        ("1 rev", "rad", 2 * math.pi),
        ("5%", "", 0.05),
        ("20 ppm", "", 2e-5),
        ("2ms", "s", 0.002),
        ("250 g", "kg", 0.25),
        ("3 N", "n", 3.0),
        ("3 kN", "N", 3000.0),
        ("5 N m", "nm", 5.0),
        ("5 Nm", "N m", 5.0),
        ("5 nm", "nm", 5.0),
        ("2 kHz", "hz", 2000.0),
        ("90 deg/s", "rad/s", math.pi / 2),
        ("60 rpm", "rad/s", 2 * math.pi),
        ("3.6 km/h", "m/s", 1.0),
        ("4 N m/rad", "N m/rad", 4.0),
        (0.1 + 0.2, "s", 0.1 + 0.2),  # a number already is the SI float
        (3, "kg", 3.0),
        ("1/3", "", 1 / 3),
    ],
)
def test_quantities_are_read_in_si(value, unit, si):
    assert quantity(value, unit) == si


@pytest.mark.parametrize(
    ("value", "unit", "named"),
    [
        ("5 kg", "n", "kN"),
        ("5 s", "", "%"),
        ("5 m", "s", "ms"),
        ("x", "rad", "deg"),
        (True, "s", "us"),
        ("5 A", "V", "V"),
        (math.nan, "m", "mm"),
        (math.inf, "m", "mm"),
        (10**400, "m", "mm"),
        (None, "hz", "kHz"),
    ],
)
def test_a_wrong_unit_is_an_error_that_names_the_allowed_ones(value, unit, named):
    with pytest.raises(InvalidInputError, match=r"not a") as caught:
        quantity(value, unit)
    assert named in str(caught.value).split("allowed are")[1]


@given(st.sampled_from(sorted(UNITS)), st.data())
def test_every_spelling_is_read_with_and_without_a_space(unit, data):
    for spelling, factor in UNITS[unit].items():
        number = data.draw(st.integers(-1000, 1000))
        assert quantity(f"{number}{spelling}", unit) == quantity(f"{number} {spelling}", unit) == float(number * factor)


@pytest.mark.parametrize(
    ("field", "unit"),
    [
        ("latency_s", "s"),
        ("limit_rad", "rad"),
        ("white_std_rad_per_s", "rad/s"),
        ("scale", ""),
        ("lever_arm_m", "m"),
        ("mass_kg", "kg"),
        ("force_limit_n", "N"),
        ("torque_limit_nm", "N m"),
        ("bandwidth_hz", "Hz"),
        ("speed_m_per_s", "m/s"),
        ("slew_nm_per_s", "N m/s"),
        ("accel_m_per_s2", "m/s^2"),
        ("density_rad_per_s_per_sqrt_hz", "rad/s/sqrt(Hz)"),
        ("damping_nm_s_per_rad", "N m s/rad"),
        ("samples_per_s", "1/s"),
        ("s", ""),
        ("drop_probability", ""),
        ("frames_per_batch", ""),
    ],
)
def test_a_field_name_says_its_unit(field, unit):
    assert unit_of(field) == unit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (Fraction(1, 200), "0.005 s"),
        (Fraction(0), "0 s"),
        (Fraction(12), "12 s"),
        (Fraction(-5, 2), "-2.5 s"),
        (Fraction(1, 10**7), "0.0000001 s"),
        (Fraction(1, 240), "0.004166666666666667 s (1/240)"),
    ],
)
def test_durations_are_shown_in_decimal_seconds(seconds, text):
    assert decimal_seconds(seconds) == text


@given(st.integers(-(10**9), 10**9), st.integers(0, 12))
def test_a_shown_duration_is_read_back(top, digits):
    seconds = Fraction(top, 10**digits)
    assert exact_seconds(decimal_seconds(seconds)) == seconds
