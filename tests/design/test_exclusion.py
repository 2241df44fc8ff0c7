"""Conditions: what they say, that they never run anything, and what is told about those that cannot be read."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.design.exclusion import condition
from sweep.errors import InvalidInputError

UNITS = {"latency": "s", "gain": "", "mode": "", "is_on": "", "offset": "m", "manifest.a.points.1": "m"}
NOMINAL = {"latency": 0.0, "gain": 1.0, "mode": "fast", "is_on": True, "offset": (0.0, 0.5), "manifest.a.points.1": 2.0}


def holds(text, **values):
    return condition(text, UNITS, NOMINAL)({**NOMINAL, **values})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("latency > 10ms", False),
        ("latency == 2 ms", True),
        ("2000us == latency", True),
        ("1ms < latency <= 2ms", True),
        ("1ms < latency < 2ms", False),
        ("2 * latency > 3ms", True),
        ("latency / 2 == 1ms and latency + 1ms == 3ms", True),
        ("latency > 1/1000", True),
        ("latency > '1 ms'", True),
        ("latency in [1ms, 2ms]", True),
        ("latency not in (1ms, 2ms)", False),
        ("gain > 150%", True),
        ("not gain > 150%", False),
        ("gain < 1 or latency < 1 or gain / 0 > 1", True),
        ("not (gain < 1 or -gain < -1.5)", False),
        ("mode == 'fast'", True),
        ('mode in ["slow", "slower"]', False),
        ("mode != 'fast'", False),
        ("is_on", True),
        ("not is_on and gain == 2", False),
        ("is_on == false", False),
        ("offset == [0, 50 cm]", True),
        ("manifest.a.points.1 >= 2", True),
        ("manifest.a.points.1 > 2100 mm", False),
        ("gain == null", False),
    ],
)
def test_what_conditions_say(text, expected):
    assert holds(text, latency=0.002, gain=2.0) is expected


leaves = st.sampled_from(["latency", "gain", "0.5", "2", "3e-1"])
sums = st.recursive(
    leaves, lambda part: st.tuples(part, st.sampled_from("+-*"), part).map(lambda p: f"({p[0]}{p[1]}{p[2]})")
)
comparisons = st.tuples(sums, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), sums).map(" ".join)
conditions = st.recursive(
    comparisons,
    lambda part: st.tuples(part, st.sampled_from(["and", "or"]), part).map(lambda p: f"({p[0]} {p[1]} not {p[2]})"),
    max_leaves=6,
)


@settings(max_examples=50)
@given(text=conditions, latency=st.floats(-1, 1), gain=st.floats(-3, 3))
def test_conditions_mean_what_they_mean_in_python(text, latency, gain):
    assert holds(text, latency=latency, gain=gain) == eval(text, {"latency": latency, "gain": gain})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latncy > 3", "unknown name 'latncy'; did you mean 'latency'? There is: latency, gain"),
        ("manifest.a.point.1 > 3", "unknown name 'manifest.a.point.1'; did you mean 'manifest.a.points.1'"),
        ("latency > 10 kg", "'10 kg' is not a quantity in s (its unit is 'kg'); allowed are"),
        ("latency > '1 cow'", "'1 cow' is not a quantity in s"),
        ("latency * gain > 3 ms", None),
        ("latency * latency > 3 ms", "'3 ms' is not a plain number"),
        ("latency = 3", "cannot be read at '= 3'; write '==' for '='"),
        ("gain > 1 && gain < 2", "write 'and' for '&&'"),
        ("gain > 1 | gain < 2", "'1 | gain' is not allowed; write 'or' for '|'"),
        ("gain > 1 || gain < 2", "write 'or' for '||'"),
        ("gain", "cannot be worked out (1 is neither true nor false) for latency=0, gain=1"),
        ("gain + 1", "'gain + 1' is no condition; allowed are comparisons, and, or, not"),
        ("gain > 1 and 3", "'3' is no condition"),
        ("gain ** 2 > 3", "'gain ** 2' is not allowed"),
        ("mode > 3", "cannot be worked out ('>' not supported between instances of 'str' and 'int') for latency=0"),
        ("gain / 0 > 1", "cannot be worked out (float division by zero)"),
        ("gain >", "cannot be read"),
        ("gain >= 3 cows", "cannot be read at 'cows'; allowed are"),
        ("(gain > 1", "cannot be read"),
        ("latency > 3 milliseconds", "cannot be read at 'milliseconds'"),
        ("gain is None", "'gain is None' is no condition"),
        ("__import__('os').getcwd()", "is no condition"),
        ("gain > abs(latency)", "'abs(latency)' is not allowed"),
        ("gain > (lambda: 3)()", "is not allowed"),
        ("gain > [x for x in mode]", "is not allowed"),
        ("gain.__class__ == 3", "unknown name 'gain.__class__'"),
        ("mode[0] == 'f'", "'mode[0]' is not allowed"),
        ("gain > 1 if gain else 2", "is no condition"),
        ("(x := 3) > 1", "is not allowed"),
        ("gain > 1; gain", "cannot be read at '; gain'"),
        ("gain > 3j", "'3j' is not allowed"),
        ("(" * 3000 + "gain > 1" + ")" * 3000, "cannot be read"),
        ("not " * 5000 + "gain > 1", "cannot be read"),
    ],
)
def test_what_is_told_of_conditions_that_are_none(text, said):
    if said is None:
        assert holds(text) is False
        return
    with pytest.raises(InvalidInputError) as caught:
        holds(text)
    assert f"exclude={text}: " in str(caught.value)
    assert said in str(caught.value)


def test_every_problem_of_a_condition_is_told():
    with pytest.raises(InvalidInputError) as caught:
        holds("latncy > 3kg and gian < 2 or 4 and gain ** 2 > 1")
    assert len(caught.value.problems) == 5


def test_a_cell_that_a_condition_does_not_fit_is_named():
    test = condition("1 / gain > 1", UNITS, NOMINAL)
    with pytest.raises(InvalidInputError, match=r"float division by zero\) for latency=0, gain=0"):
        test({**NOMINAL, "gain": 0.0})
    assert operator.truth(test({**NOMINAL, "gain": 0.5}))
