"""The points of each design: how many, which, in what order; what a design cannot be made of."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc

from sweep.design import Axis, DesignSpec, Interval, SweepSpec, baseline_cell, expand
from sweep.design.sampling import unit_points
from sweep.errors import InvalidInputError

LATENCY = Axis(name="latency", nominal=0.0, unit="s", bindings=("a.latency_s",))
GAIN = Axis(name="gain", nominal=1.0, unit="", bindings=("c.gain",))
MODE = Axis(name="mode", nominal="fast", unit="", bindings=("c.mode",))
MANIFEST = {"a": {"latency_s": 0.0, "width_m": 2.0}, "c": {"gain": 1.0, "mode": "fast"}}
DELAY = Interval(low=0.0, high=0.01)
RATIO = Interval(low=0.1, high=10.0, is_log=True)


def spec(swept, kind="grid", *, baseline=None, exclude=None, **design):
    design = DesignSpec(kind=kind, **design)
    return SweepSpec(
        scene="s",
        manifest=MANIFEST,
        axes=(LATENCY, GAIN, MODE),
        swept=swept,
        seeds=(0,),
        baseline=baseline,
        design=design,
        exclude=exclude,
    )


def labels(*args, **more):
    return [cell.label for cell in expand(spec(*args, **more)).cells]


def refusal(*args, **more):
    with pytest.raises(InvalidInputError) as caught:
        expand(spec(*args, **more))
    return str(caught.value)


numbers = st.lists(st.floats(0.1, 9), min_size=1, max_size=4, unique=True)


# What each design makes


def test_zip_goes_through_all_axes_at_once():
    swept = {"latency": (0.1, 0.2, 0.3), "gain": (1.0, 2.0, 1.0), "mode": ("slow",)}
    assert labels(swept, "zip") == [
        "latency=0.1 gain=1 mode=slow",
        "latency=0.2 gain=2 mode=slow",
        "latency=0.3 gain=1 mode=slow",
    ]
    assert labels(swept, "list") == labels(swept, "zip")
    assert labels({}, "zip") == labels({}, "star") == ["nominal"]


def test_a_star_varies_one_axis_at_a_time_around_the_nominal_cell():
    swept = {"latency": (0.0, 0.1), "gain": (2.0, 3.0)}
    design = expand(spec(swept, "star"))
    assert [cell.label for cell in design.cells] == ["nominal", "latency=0.1", "gain=2", "gain=3"]
    assert design.cells[0].is_nominal
    assert design.duplicates == 1  # latency=0 is the center
    assert design.cells[1].parameters == {"a.latency_s": 0.1}


def test_a_star_goes_around_the_baseline_that_was_asked_for():
    asked = spec({"latency": (0.1, 0.2)}, "star", baseline={"gain": 2.0, "latency": 0.2})
    design = expand(asked)
    assert [cell.label for cell in design.cells] == ["gain=2 latency=0.2", "gain=2 latency=0.1"]
    assert design.cells[0].parameters == {"c.gain": 2.0, "a.latency_s": 0.2}
    assert baseline_cell(design, asked) == design.cells[0].cell_id


def test_a_center_comes_first_in_any_design():
    assert labels({"latency": (0.1, 0.2)}, center=True) == ["nominal", "latency=0.1", "latency=0.2"]
    asked = spec({"latency": DELAY}, "random", n=2, center=True, baseline={"gain": 3.0})
    design = expand(asked)
    assert len(design.cells) == 3
    assert design.cells[0].label == "gain=3"
    assert baseline_cell(design, asked) == design.cells[0].cell_id


def test_levels_make_values_of_an_interval():
    assert labels({"latency": DELAY, "gain": (1.0, 2.0)}, levels=2) == [
        "latency=0 gain=1",
        "latency=0 gain=2",
        "latency=0.01 gain=1",
        "latency=0.01 gain=2",
    ]
    assert labels({"latency": DELAY, "gain": RATIO}, "zip", levels=3) == [
        "latency=0 gain=0.1",
        "latency=0.005 gain=1",
        "latency=0.01 gain=10",
    ]
    assert labels({"gain": RATIO}, "star", levels=3) == ["nominal", "gain=0.1", "gain=10"]


@given(
    latency=numbers, gain=numbers, kind=st.sampled_from(["grid", "star", "random", "lhs", "sobol"]), n=st.integers(1, 9)
)
@settings(max_examples=40, deadline=None)  # SciPy takes a second to be imported
def test_cells_are_distinct_and_duplicates_are_all_the_rest(latency, gain, kind, n):
    design = expand(spec({"latency": tuple(latency), "gain": (*gain, gain[0], 1.0), "mode": ("a", "b")}, kind, n=n))
    asked = {"grid": len(latency) * (len(gain) + 2) * 2, "star": 1 + len(latency) + len(gain) + 4}
    assert len({cell.cell_id for cell in design.cells}) == len(design.cells)
    assert len(design.cells) + design.duplicates == asked.get(kind, n)
    assert [cell.ordinal for cell in design.cells] == list(range(len(design.cells)))


@given(n=st.integers(1, 24), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=25, deadline=None)
def test_a_latin_hypercube_has_one_point_in_each_part_of_every_axis(n, seed):
    design = expand(spec({"latency": DELAY, "gain": RATIO}, "lhs", n=n, seed=seed, digits=None))
    for name, interval in (("latency", DELAY), ("gain", RATIO)):
        parts = [interval.at(index / n, None) for index in range(n)]
        values = sorted(cell.values[name] for cell in design.cells)
        assert all(low <= value for low, value in zip(parts, values, strict=True))
        assert all(value <= high for value, high in zip(values, [*parts[1:], interval.high], strict=True))


def test_sobols_points_are_scipys():
    expected = qmc.Sobol(3, rng=7).random_base2(4)
    assert (unit_points("sobol", 16, 3, 7) == expected).all()
    assert (unit_points("sobol", 11, 3, 7) == expected[:11]).all()
    design = expand(spec({"latency": DELAY, "gain": RATIO, "mode": ("a", "b", "c")}, "sobol", seed=7, digits=None))
    for cell, (delay, ratio, choice) in zip(design.cells, expected, strict=True):
        assert cell.values == {
            "latency": DELAY.at(delay, None),
            "gain": RATIO.at(ratio, None),
            "mode": "abc"[int(3 * choice)],
        }


def test_a_hypercube_of_points_is_scipys():
    assert (unit_points("lhs", 6, 2, 3) == qmc.LatinHypercube(2, rng=3).random(6)).all()


@pytest.mark.parametrize("kind", ["random", "lhs", "sobol"])
def test_a_seed_makes_the_points(kind):
    swept = {"latency": DELAY, "gain": RATIO}
    once = labels(swept, kind, n=8, seed=5)
    assert labels(swept, kind, n=8, seed=5) == once
    assert not set(labels(swept, kind, n=8, seed=6)) & set(once)
    kept = set(labels(swept, kind, n=16, seed=5)) >= set(once)
    assert kept == (kind != "lhs"), "more points extend a sweep, but for the hypercube"


@pytest.mark.parametrize("kind", ["lhs", "sobol"])
def test_values_without_an_interval_get_equal_shares(kind):
    cells = expand(spec({"latency": DELAY, "mode": ("a", "b")}, kind, n=16)).cells
    assert [cell.values["mode"] for cell in cells].count("a") == 8


def test_an_axis_with_one_value_keeps_it_and_is_no_dimension():
    with_one = expand(spec({"gain": (3.0,), "latency": DELAY}, "lhs", n=4, seed=2)).cells
    alone = expand(spec({"latency": DELAY}, "lhs", n=4, seed=2)).cells
    assert [cell.values["latency"] for cell in with_one] == [cell.values["latency"] for cell in alone]
    assert {cell.values["gain"] for cell in with_one} == {3.0}


def test_a_full_path_is_sampled_too():
    cells = expand(spec({"manifest.a.width_m": Interval(low=1, high=9, is_integer=True)}, "random", n=5)).cells
    assert all(cell.parameters == {"a.width_m": cell.values["manifest.a.width_m"]} for cell in cells)
    assert all(type(value) is int for cell in cells for value in cell.parameters.values())


# Exclusions


@given(latency=numbers, gain=numbers, limit=st.floats(0, 9))
@settings(max_examples=40)
def test_an_exclusion_is_a_filter(latency, gain, limit):
    swept = {"latency": tuple(latency), "gain": tuple(gain)}
    kept = [(a, b) for a, b in itertools.product(latency, gain) if not (a > limit and b + a / 2 >= 3)]
    condition = f"latency > {limit!r} and gain + latency/2 >= 3"
    if not kept:
        assert "leaves nothing" in refusal(swept, exclude=condition)
        return
    design = expand(spec(swept, exclude=condition))
    assert [(cell.values["latency"], cell.values["gain"]) for cell in design.cells] == kept
    assert design.excluded == len(latency) * len(gain) - len(kept)
    assert [cell.ordinal for cell in design.cells] == list(range(len(kept)))


def test_what_is_excluded_is_no_duplicate():
    design = expand(spec({"gain": (1.0, 1.0, 2.0, 2.0)}, exclude="gain > 1"))
    assert (len(design.cells), design.duplicates, design.excluded) == (1, 2, 1)


def test_axes_that_are_not_swept_have_their_nominal_value_in_a_condition():
    assert labels({"latency": (0.1, 0.2)}, exclude="latency > 150ms and mode == 'fast'") == ["latency=0.1"]
    assert labels({"manifest.a.width_m": (1.0, 3.0)}, exclude="manifest.a.width_m > 200 cm") == ["manifest.a.width_m=1"]


# What is refused, and what is remarked


@pytest.mark.parametrize(
    ("swept", "design", "said"),
    [
        ({"latency": (1.0, 2.0), "gain": (1.0, 2.0, 3.0)}, {"kind": "zip"}, "latency has 2, gain has 3; every"),
        ({"latency": DELAY}, {"kind": "grid"}, "latency=interval(0,0.01): an interval has no values of its own"),
        ({"latency": DELAY}, {"kind": "star"}, "design=lhs design.n=16, or divide it with design.levels=5"),
        ({"latency": DELAY, "gain": (1.0, 2.0)}, {"kind": "zip", "levels": 3}, "latency has 3, gain has 2"),
        ({"latency": DELAY}, {"kind": "list"}, "an interval has no values"),
        ({}, {"kind": "lhs"}, "design=lhs: nothing is swept; give an axis several values, or an interval"),
        ({"latency": (1.0,)}, {"kind": "sobol"}, "nothing is swept"),
        (
            {"latency": tuple(range(2000)), "gain": tuple(range(1000))},
            {"kind": "grid"},
            "2000 (latency) × 1000 (gain) are 2000000 points; at most 1000000",
        ),
    ],
)
def test_designs_that_cannot_be(swept, design, said):
    message = refusal(swept, **design)
    assert message.startswith("the sweep cannot be planned: 1 problem")
    assert said in message


def test_an_exclusion_of_everything_is_refused_with_an_example():
    message = refusal({"latency": (0.1, 0.2)}, exclude="gain == 1")
    assert "exclude=gain == 1: leaves nothing of the design: all 2 points meet it, latency=0.1 for example" in message


def test_sobols_points_like_powers_of_two():
    swept = {"latency": DELAY}
    (remark,) = expand(spec(swept, "sobol", n=100)).remarks
    assert "design.n=100 is none, 64 and 128 are" in remark
    assert expand(spec(swept, "sobol", n=64)).remarks == ()
    assert expand(spec(swept, "lhs", n=100)).remarks == ()


def test_a_baseline_that_is_no_point_can_be_made_one():
    asked = spec({"latency": DELAY}, "random", n=3, baseline={"latency": 0.0})
    with pytest.raises(InvalidInputError, match=r"no cell has these values; design\.center=true adds one"):
        baseline_cell(expand(asked), asked)
