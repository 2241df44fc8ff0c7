"""Before and after: paired where possible, said where not, refused where it would mean nothing."""

from __future__ import annotations

import pytest

from analysis import compare
from sweep.errors import InvalidInputError
from tests.analysis.synthetic import AXES, build, effects, faulted, header, latencies, record

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
    assert "to the last bit" in found.headline
    assert [cell.sweep for cell in found.cells] == ["A arm-1a2b3c4d", "B arm-1a2b3c4d"]


def test_a_partial_overlap_pairs_what_it_can(tmp_path):
    after = lambda c, s: record(c, s, metrics={k: 0.9 * v for k, v in effects(c.values, s).items()})  # noqa: E731
    a = build(tmp_path / "a", latencies(0.002), range(16))
    found = compare(a, build(tmp_path / "b", latencies(0.002), range(12, 30), after, name="new"))
    assert found.cells[1].contrast.metrics[METRIC].pairs_total == 4
    assert "12 seeds are only in arm-1a2b3c4d" in found.notes
