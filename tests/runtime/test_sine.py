"""Portable sines and cosines."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.runtime.numerics import sine
from sweep.runtime.numerics.sine import TURNS_PER_RAD, cosines_of, sines_and_cosines_of, sines_of

TWO_PI = Decimal("6.28318530717958647692528676655900576839433879875021")


def exact(turns: float, first: int) -> Decimal:
    """The sine (first power 1) or cosine (0) of a number of turns, by its power series in fifty digits."""
    with localcontext() as context:
        context.prec = 50
        x = TWO_PI * Decimal(turns - round(turns))
        total = term = x if first else Decimal(1)
        for power in range(first + 2, first + 60, 2):
            term *= -x * x / (power * (power - 1))
            total += term
        return total


@given(st.floats(-1e6, 1e6))
def test_both_are_within_a_unit_of_the_last_place_of_one(turns):
    sines, cosines = sines_and_cosines_of(np.array([turns]))
    assert abs(Decimal(float(sines[0])) - exact(turns, 1)) < Decimal("2e-16")
    assert abs(Decimal(float(cosines[0])) - exact(turns, 0)) < Decimal("2e-16")


def test_they_are_those_of_the_library():
    turns = np.linspace(-0.5, 0.5, 5001)
    assert np.abs(sines_of(turns) - np.sin(2 * np.pi * turns)).max() < 5e-16
    assert np.abs(cosines_of(turns) - np.cos(2 * np.pi * turns)).max() < 5e-16
    assert cosines_of(np.array([1.0]) * TURNS_PER_RAD)[0] == pytest.approx(math.cos(1.0), abs=4e-16)


def test_quarters_are_exact_however_many_turns_there_were():
    whole = np.array([0.0, 1.0, -7.0, 2.0**30, -(2.0**50)])
    for quarter, (sin, cos) in enumerate([(0, 1), (1, 0), (0, -1), (-1, 0)]):
        assert (sines_of(whole + quarter / 4) == sin).all()
        assert (cosines_of(whole + quarter / 4) == cos).all()


@settings(max_examples=30)
@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=9))
def test_a_number_has_the_same_bits_in_any_company(numbers):
    together = sines_of(np.array(numbers))
    assert together.tolist() == [float(sines_of(np.array([number]))[0]) for number in numbers]


@pytest.mark.parametrize(("coefficients", "first"), [(sine._SINE, 1), (sine._COSINE, 0)])
def test_coefficients_are_the_nearest_floats(coefficients, first):
    with localcontext() as context:
        context.prec = 50
        terms = [
            (-1) ** n * TWO_PI ** (2 * n + first) / math.factorial(2 * n + first) for n in range(len(coefficients))
        ]
        assert coefficients == tuple(map(float, reversed(terms)))
        assert float(1 / TWO_PI) == TURNS_PER_RAD
