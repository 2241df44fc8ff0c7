"""Cells, their ids and labels; runs and their order; the baseline."""

import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.design import Axis, SweepSpec, baseline_cell, distinct_runs, expand, order_runs, replicates, run_id
from sweep.errors import InvalidInputError

LATENCY = Axis(name="latency", nominal=0.0, unit="s", bindings=("a.latency_s", "b.latency_s"))
GAIN = Axis(name="gain", nominal=1.0, unit="", bindings=("c.gain",))
MANIFEST = {"a": {"latency_s": 0.0}, "b": {"latency_s": 0.0, "points": [1.0, 2.0]}, "c": {"gain": 1.0}}


@dataclass(frozen=True)
class FakePlan:
    plan_id: str


def spec(swept=None, seeds=(0, 1), axes=(LATENCY, GAIN), baseline=None):
    return SweepSpec(scene="s", manifest=MANIFEST, axes=axes, swept=swept or {}, seeds=seeds, baseline=baseline)


def test_nothing_swept_is_the_one_nominal_cell():
    (cell,) = expand(spec()).cells
    assert (cell.label, cell.is_nominal, cell.ordinal) == ("nominal", True, 0)
    assert cell.values == {"latency": 0.0, "gain": 1.0}
    assert cell.parameters == {}


def test_last_axis_varies_fastest():
    cells = expand(spec({"latency": (0.002, 0.005), "gain": (1.0, 1.2)})).cells
    assert [cell.label for cell in cells] == [
        "latency=0.002 gain=1",
        "latency=0.002 gain=1.2",
        "latency=0.005 gain=1",
        "latency=0.005 gain=1.2",
    ]
    assert [cell.ordinal for cell in cells] == [0, 1, 2, 3]


def test_an_axis_sets_all_its_bindings():
    (cell,) = expand(spec({"latency": (0.002,)})).cells
    assert cell.parameters == {"a.latency_s": 0.002, "b.latency_s": 0.002}
    assert not cell.is_nominal


def test_a_full_path_is_a_value_of_its_own():
    cells = expand(spec({"manifest.b.points.1": (2.0, 3.0), "manifest.c.new": (4,)})).cells
    assert [cell.parameters for cell in cells] == [{"b.points.1": 2.0, "c.new": 4}, {"b.points.1": 3.0, "c.new": 4}]
    assert cells[0].values["manifest.b.points.1"] == 2.0
    assert [cell.is_nominal for cell in expand(spec({"manifest.b.points": ((1, 2), (1, 3))})).cells] == [True, False]


def test_repeated_points_are_left_out_and_counted():
    design = expand(spec({"gain": (1, 1.0, 2)}))
    assert [cell.label for cell in design.cells] == ["gain=1", "gain=2"]
    assert design.duplicates == 1


def test_cell_ids_stay_what_they_are():
    # Results of older sweeps are found by these ids; a change here orphans them.
    (cell,) = expand(spec({"latency": (0.002,)})).cells
    assert cell.cell_id == expand(spec({"latency": (2e-3,)})).cells[0].cell_id == GOLDEN_CELL
    assert run_id("0123456789abcdef", 7) == GOLDEN_RUN


GOLDEN_CELL = "09a238499bc39945"
GOLDEN_RUN = "f042085b7d2f9b1e"

numbers = st.floats(0, 100) | st.integers(0, 100)
distinct = st.lists(numbers, min_size=1, max_size=4, unique_by=float)


@given(latency=distinct, gain=distinct, seeds=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3, unique=True))
def test_a_grid_has_every_combination_once(latency, gain, seeds):
    design = expand(spec({"latency": tuple(latency), "gain": tuple(gain)}, seeds=tuple(seeds)))
    assert len({cell.cell_id for cell in design.cells}) == len(latency) * len(gain)
    assert len(set(replicates(design))) == len(latency) * len(gain) * len(seeds)
    assert design.duplicates == 0


@given(latency=distinct, gain=distinct)
def test_ids_do_not_depend_on_the_order_of_axes(latency, gain):
    one = expand(spec({"latency": tuple(latency), "gain": tuple(gain)}))
    other = expand(spec({"gain": tuple(gain), "latency": tuple(latency)}, axes=(GAIN, LATENCY)))
    assert {cell.cell_id for cell in one.cells} == {cell.cell_id for cell in other.cells}


@given(latency=distinct)
def test_ids_do_not_depend_on_what_is_swept(latency):
    alone = expand(spec({"latency": tuple(latency)}))
    with_nominal = expand(spec({"latency": tuple(latency), "gain": (1.0,)}))
    assert [cell.cell_id for cell in alone.cells] == [cell.cell_id for cell in with_nominal.cells]


@given(value=st.integers(-(2**53), 2**53))
def test_an_integer_and_its_float_are_one_value(value):
    assert expand(spec({"gain": (value,)})).cells[0].cell_id == expand(spec({"gain": (float(value),)})).cells[0].cell_id
    assert expand(spec({"gain": (0.0,)})).cells[0].cell_id == expand(spec({"gain": (-0.0,)})).cells[0].cell_id


def test_true_is_not_one():
    assert len(expand(spec({"gain": (True, 1, "1")})).cells) == 3


def test_runs_go_seed_major():
    design = expand(spec({"latency": (0.0, 0.1)}, seeds=(5, 3)))
    plans = {cell.cell_id: FakePlan(f"plan{cell.ordinal}") for cell in design.cells}
    runs = order_runs(design, plans)
    assert [(run.seed, run.plan.plan_id) for run in runs] == [(5, "plan0"), (5, "plan1"), (3, "plan0"), (3, "plan1")]
    assert len({run.run_id for run in runs}) == 4
    assert runs[0].run_id == run_id("plan0", 5)


def test_two_cells_of_one_plan_are_run_once():
    design = expand(spec({"latency": (0.0, 0.1)}, seeds=(0, 1)))
    runs = order_runs(design, dict.fromkeys((cell.cell_id for cell in design.cells), FakePlan("p")))
    assert distinct_runs(runs) == (runs[0], runs[2])


@pytest.mark.parametrize(
    ("swept", "baseline", "label"),
    [
        ({"latency": (0.1, 0.0)}, None, "latency=0"),
        ({"latency": (0.1, 0.2)}, None, "latency=0.1"),
        ({"latency": (0.1, 0.2)}, {"latency": 0.2}, "latency=0.2"),
        ({"latency": (0.1, 0.2), "gain": (2.0, 1)}, {"latency": 0.2}, "latency=0.2 gain=1"),
        ({"latency": (0.1, 0.2), "gain": (2.0, 3.0)}, {"latency": 0.2}, "latency=0.2 gain=2"),
        ({"latency": (0.1, 0.2)}, {"gain": 1}, "latency=0.1"),
    ],
)
def test_baseline(swept, baseline, label):
    asked = spec(swept, baseline=baseline)
    design = expand(asked)
    assert {cell.cell_id: cell.label for cell in design.cells}[baseline_cell(design, asked)] == label


def test_a_baseline_without_a_cell_names_the_cells():
    asked = spec({"latency": (0.1, 0.2)}, baseline={"latency": 0.3})
    with pytest.raises(InvalidInputError, match=r"baseline=\{latency:0.3\}: no cell .*latency=0.1; latency=0.2"):
        baseline_cell(expand(asked), asked)


@pytest.mark.slow
def test_ten_thousand_cells_expand_in_a_moment():
    swept = {"latency": tuple(i / 1000 for i in range(100)), "gain": tuple(float(i) for i in range(100))}
    start = time.perf_counter()
    assert len(expand(spec(swept)).cells) == 10_000
    assert time.perf_counter() - start < 2
