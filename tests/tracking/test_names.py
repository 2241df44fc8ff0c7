"""Names and tags: what MLflow can show."""

from __future__ import annotations

import json
import posixpath
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.results import MetricInfo
from sweep.tracking.names import GROUPS, LONGEST, SUFFIX, metric_bases, shorten, telling_name, unique
from sweep.tracking.tags import LONGEST_TAG, seeds_tag, streams_tag
from tests.analysis.synthetic import cell, receipt, record

ALLOWED = re.compile(r"[0-9A-Za-z_./ ]+")


@settings(max_examples=50)
@given(st.lists(st.text(max_size=80) | st.text("./- ab", max_size=80), max_size=12, unique=True))
def test_names_are_allowed_short_and_different(names):
    found = unique(names)
    assert sorted(found) == sorted(names)
    assert len(set(found.values())) == len(names)
    assert all(len(n) <= LONGEST and ALLOWED.fullmatch(n) and "-" not in n for n in found.values())
    assert all(posixpath.normpath(n) == n and n not in (".", "..") for n in found.values()), "MLflow takes no others"


def test_good_names_stay_and_bad_ones_are_told_apart():
    assert unique(["encoders/delivered", "latency"]) == {n: n for n in ("encoders/delivered", "latency")}
    assert unique(["peak_force", "peak-force"])["peak_force"] == "peak_force"
    assert shorten("xs[0]") == "xs_0_"
    assert shorten("arm/../x") == "arm/x"
    assert shorten("components.wrist_force_torque_sensor.bandwidth_hz").startswith("components.wrist_force")


def test_metric_bases_leave_room():
    found = metric_bases(["tracking_error_rms", "a_rather_long_name_of_a_metric", "outcomes", "a/b"])
    assert found["tracking_error_rms"] == "tracking_error_rms"
    assert all(len(base + SUFFIX) <= LONGEST and "/" not in base for base in found.values())
    assert not set(GROUPS) & set(metric_bases([*GROUPS, "a"]).values())


@pytest.mark.parametrize(
    ("name", "unit", "better", "found"),
    [
        ("angle_rms", "rad", "lower", "Lower_is_better/angle_rms_rad"),
        ("standing", "s", "higher", "Higher_is_better/standing_s"),
        ("jerk", "m/s^3", "lower", "Lower_is_better/jerk_m_per_s3"),
        ("peak-force/left", "N m", "lower", "Lower_is_better/peak_force_left_N_m"),
        ("wins", "", "higher", "Higher_is_better/wins"),
    ],
)
def test_a_name_tells_direction_and_unit(name, unit, better, found):
    assert telling_name(name, MetricInfo(unit=unit, better=better, window="horizon")) == found


def test_a_telling_name_sorts_before_all_others_and_fits():
    long = telling_name("a_name_that_is_much_too_long_for_plots", MetricInfo(unit="N", better="lower", window="at_end"))
    assert len(long) <= LONGEST
    assert all(long < other for other in ("angle_rms/mean", "arm/delivered", "outcomes/ended"))


def test_seeds_and_streams_fit_a_tag():
    assert seeds_tag(range(16)) == "0-15"
    assert seeds_tag([9, 1, 5, 10]) == "1,5,9-10"
    assert len(seeds_tag(range(0, 10**4, 2))) < LONGEST_TAG
    few = json.loads(streams_tag([record(cell(), s) for s in range(2)]))
    assert few["encoders/noise"]["0"].startswith("k" + receipt(0).key[:8] + ":0+1000x7:")
    many = streams_tag([record(cell(), s) for s in range(250)])
    assert json.loads(many)["encoders/noise"].startswith("250 runs:")
    assert len(many) <= LONGEST_TAG
