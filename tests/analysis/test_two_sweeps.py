"""Before and after: paired where possible, said where not, refused where it would mean nothing."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from analysis import compare, render
from analysis.format import bracketed
from sweep.errors import InvalidInputError
from sweep.results import AxisInfo
from tests.analysis.synthetic import AXES, build, cell, effects, faulted, header, latencies, recompute, record

METRIC = "tracking_error_rms"


def test_nothing_in_common_is_refused_with_both_sides_named(tmp_path):
    a = build(tmp_path / "a", latencies(0.002))
    b = build(tmp_path / "b", latencies(0.005), name="other")
    with pytest.raises(InvalidInputError, match=r"(?s)share no cell.*latency=0\.002.*other has latency=0\.005"):
        compare(a, b)


def test_other_axes_are_named_as_the_reason(tmp_path):
    a = build(tmp_path / "a", latencies(0.002))
    b = build(tmp_path / "b", latencies(0.005), name="other", axes={"latency": AXES["latency"]})
    with pytest.raises(InvalidInputError, match=r"Only arm-1a2b3c4d declares mass_scale"):
        compare(a, b)


def test_no_seed_in_common_is_welch_and_says_so(tmp_path):
    a = build(tmp_path / "a", latencies(0.002), range(16))
    b = build(tmp_path / "b", latencies(0.002), range(100, 120), name="new")
    found = compare(a, b)
    contrast = found.cells[1].contrast
    assert not contrast.is_paired
    assert contrast.metrics[METRIC].percent is None
    assert contrast.metrics[METRIC].difference.n == 16
    assert contrast.metrics[METRIC].pairs_total == 0
    assert "unpaired (no seed in common, Welch's t interval)" in found.headline
    assert any("nothing is paired there" in note for note in found.notes)


def test_no_seed_in_common_and_failures_give_no_difference(tmp_path):
    a = build(tmp_path / "a", latencies(0.002), range(8))
    fails = lambda c, s: record(c, s, outcome=faulted()) if s == 101 else record(c, s)  # noqa: E731
    found = compare(a, build(tmp_path / "b", latencies(0.002), range(100, 108), fails, name="new"))
    assert all(metric.difference is None for metric in found.cells[1].contrast.metrics.values())
    assert found.cells[1].outcomes == {"completed": 7, "faulted": 1}


def test_what_was_changed_is_said(tmp_path):
    manifest = {**header().manifest, "components": {"encoders": {"latency_s": 0.004}}}
    changes = {
        "name": "new",
        "model_id": "n" * 16,
        "files": {"arm.xml": "2"},
        "code_id": "d" * 16,
        "code": {"mujoco": "4.1"},
        "manifest": manifest,
    }
    a = build(tmp_path / "a", latencies(0.002), range(4), files={"arm.xml": "1"}, code={"mujoco": "4.0"})
    b = build(tmp_path / "b", latencies(0.002), range(4), **changes)
    notes = " | ".join(compare(a, b).notes)
    assert "the models differ (mmmmmmmm in arm-1a2b3c4d, nnnnnnnn in new): arm.xml" in notes
    assert "the configurations differ: components.encoders.latency_s 0.002 → 0.004" in notes
    assert "the code differs: mujoco 4.0 → 4.1" in notes
    assert compare(a, b).cells[1].contrast.is_paired


def test_the_same_made_twice_says_so(tmp_path):
    a, b = (build(tmp_path / name, latencies(0.002), range(4)) for name in "ab")
    found = compare(a, b)
    assert "the two are made from the same model, configuration and code" in found.notes
    assert found.headline == "The two sweeps give the same results, bit for bit, over these seeds."
    assert [cell.sweep for cell in found.cells] == ["A arm-1a2b3c4d", "B arm-1a2b3c4d"]


def test_a_partial_overlap_pairs_what_it_can(tmp_path):
    after = lambda c, s: record(c, s, metrics={k: 0.9 * v for k, v in effects(c.values, s).items()})  # noqa: E731
    a = build(tmp_path / "a", latencies(0.002), range(16))
    found = compare(a, build(tmp_path / "b", latencies(0.002), range(12, 30), after, name="new"))
    assert found.cells[1].contrast.metrics[METRIC].pairs_total == 4
    assert "12 seeds are only in arm-1a2b3c4d" in found.notes


def test_another_nominal_value_pairs_cells_by_all_others_and_is_named(tmp_path):
    """The base configuration was changed: every cell_id is another one, and still all but one axis is equal."""
    slow = {**AXES, "mass_scale": AxisInfo(nominal=1.2, unit="kg", bindings=AXES["mass_scale"].bindings)}
    fast = {**AXES, "mass_scale": AxisInfo(nominal=1.0, unit="kg", bindings=AXES["mass_scale"].bindings)}
    a = build(tmp_path / "a", latencies(0.002, 0.005), range(8), axes=fast)
    heavy = [cell(i, latency=x, mass_scale=1.2) for i, x in enumerate((0.005, 0.010, 0.002))]
    found = compare(a, build(tmp_path / "b", heavy, range(8), name="new", axes=slow), recompute=recompute)
    assert [row.values["latency"] for row in found.cells] == [0.002, 0.002, 0.005, 0.005]
    assert found.headline.startswith("new instead of arm-1a2b3c4d (mass_scale 1 → 1.2 kg) at latency=0.0")
    assert "8 of 8 pairs, identical noise" in found.headline
    assert "cells are compared across a changed nominal value: mass_scale 1 → 1.2 kg" in found.notes
    assert "1 of 3 cells are only in new: latency=0.01, mass_scale=1.2" in found.notes


@pytest.mark.parametrize("nominal", [1.0, 1.2])
def test_values_that_are_not_nominal_in_all_cells_are_never_paired(tmp_path, nominal):
    """Swept, or set for this sweep alone: what the cell is about is then not the same."""
    axes = {**AXES, "mass_scale": AxisInfo(nominal=nominal, unit="kg", bindings=AXES["mass_scale"].bindings)}
    a = build(tmp_path / "a", latencies(0.002, 0.005), range(2), axes=axes)
    b = build(tmp_path / "b", [cell(0, latency=0.002, mass_scale=1.2)], range(2), name="new", axes=axes)
    with pytest.raises(InvalidInputError, match=r"mass_scale is 1 kg in arm-1a2b3c4d and 1\.2 kg in new\."):
        compare(a, b)


def test_differences_of_independent_runs_stand_in_the_table(tmp_path):
    cells = latencies(0.002, 0.005, 0.008, 0.010)
    a = build(tmp_path / "a", cells, range(8))
    found = compare(a, build(tmp_path / "b", cells, range(100, 108), name="new"))
    out = StringIO()
    Console(file=out, width=80, color_system=None).print(render(found, width=80))
    assert "withheld" not in out.getvalue()
    assert "Δ %" not in out.getvalue()
    assert bracketed(found.cells[1].contrast.metrics[METRIC].difference, 0.001) in out.getvalue()


def test_cells_that_disagree_are_counted_in_the_headline(tmp_path):
    def after(place, seed):
        sign = 1 if place.ordinal < 1 else -1
        values = effects(place.values, seed)
        return record(place, seed, metrics={k: (1 + 0.1 * sign * (1 + place.ordinal)) * v for k, v in values.items()})

    cells = latencies(0.002, 0.005, 0.008)
    found = compare(build(tmp_path / "a", cells, range(8)), build(tmp_path / "b", cells, range(8), after, name="new"))
    assert found.headline.startswith(
        "tracking_error_rms is mixed, 1 up and 2 down of 3 cells; the largest: new instead of arm-1a2b3c4d at "
        "latency=0.008 lowers tracking_error_rms by 30"
    )


def test_a_cell_that_fails_in_both_sweeps_is_not_passed_over(tmp_path):
    """The headline is about another cell, where every run completed."""
    cells = latencies(0.002, 0.005, 0.080)

    def make(factor):
        def one(place, seed):
            values = {name: factor * value for name, value in effects(place.values, seed).items()}
            return record(place, seed, outcome=faulted()) if place.ordinal == 2 else record(place, seed, metrics=values)

        return one

    a, b = (build(tmp_path / name, cells, range(4), make(f), name=name) for name, f in (("old", 1.0), ("new", 0.9)))
    assert compare(a, b).headline.startswith(
        "Runs failed in 1 of 3 cells, the same seeds on both sides. new instead of old at latency=0.0"
    )
