"""Pairs are proved, not assumed; what pairing was worth is a number."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from analysis.estimate import paired_moments
from analysis.pairing import PairingReceipt, check_streams, pairing_receipts
from tests.analysis.synthetic import receipt, recompute


def pair(seed: int, left: object, right: object):
    return seed, text(left), text(right)


def text(receipt) -> str:
    return json.dumps({} if receipt is None else {"encoders/noise": asdict(receipt)})


def pairing_receipt(base, other):
    return pairing_receipts(paired_moments(base, other))[0]


def test_equal_receipts_are_identical_noise():
    check = check_streams([pair(s, receipt(s), receipt(s)) for s in range(4)])
    assert check.identical
    assert check.words == "identical noise"
    assert (check.pairs, check.streams) == (4, 1)


def test_other_draws_are_named_with_their_seeds():
    wrong = receipt(2)
    tampered = type(wrong)(key=wrong.key, first=0, count=wrong.count, width=wrong.width, digest="0" * 32)
    check = check_streams([pair(1, receipt(1), receipt(1)), pair(2, receipt(2), tampered)])
    assert not check.identical
    assert check.out_of_step == {"encoders/noise": (2,)}
    assert "encoders/noise out of step in 1 of 2 pairs" in check.words


@pytest.mark.parametrize("change", [{"key": "f" * 32}, {"width": 6}])
def test_other_keys_or_widths_are_out_of_step(change):
    check = check_streams([pair(0, receipt(0), receipt(0, **change))], recompute)
    assert list(check.out_of_step) == ["encoders/noise"]


def test_a_shorter_run_is_proved_only_by_recomputing():
    pairs = [pair(0, receipt(0, count=1000), receipt(0, count=300))]
    assert check_streams(pairs).words == "same noise keys"
    assert not check_streams(pairs).identical
    assert check_streams(pairs, recompute).identical
    assert check_streams(pairs, lambda *_: "0" * 32).out_of_step


def test_a_stream_of_one_side_only_has_nothing_to_disagree_on():
    assert check_streams([pair(0, receipt(0), None)]).words == "no noise"
    assert check_streams([pair(0, receipt(0), receipt(0, count=0))]).identical
    assert check_streams([]).words == "no pairs"


def test_what_pairing_was_worth():
    rng = np.random.default_rng(3)
    shared = rng.normal(size=400)
    x, y = shared + 0.1 * rng.normal(size=400), shared + 0.1 * rng.normal(size=400)
    found = pairing_receipt(list(x), list(y))
    assert found.correlation == pytest.approx(1 / 1.01, abs=0.003)
    assert found.variance_ratio == pytest.approx(1 / (1 - found.correlation), rel=0.05)
    assert found.worth == round(400 * found.variance_ratio)
    assert found.words == "400 pairs were worth 39 090 independent runs"


def test_beyond_the_most_that_is_counted_only_more_is_said():
    found = PairingReceipt(pairs=8, correlation=1.0, variance_ratio=1e9)
    assert found.words == "8 pairs were worth more than 100 000 independent runs"
    assert found.at_least == "8 pairs were worth at least 100 000 independent runs"


def test_pairing_that_hurts_says_so():
    x = [1.0, 2.0, 3.0, 4.0]
    found = pairing_receipt(x, x[::-1])
    assert found.hurts
    assert found.correlation == pytest.approx(-1)
    assert found.words == "pairing did not help: 4 pairs were worth 2 independent runs"


@pytest.mark.parametrize("values", [([1.0], [2.0]), ([1.0] * 5, [1.0] * 5), ([0.1, 0.2, 0.3], [1.1, 1.2, 1.3])])
def test_nothing_is_claimed_of_too_little_or_of_constants(values):
    assert pairing_receipt(*values).words == ""
