"""Names, tags and URIs: what MLflow can show, and where it is."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import TrackingError
from sweep.tracking.names import LONGEST, SUFFIX, metric_bases, shorten, unique
from sweep.tracking.process import artifact_root, child_environment, resolve_uri
from sweep.tracking.rows import LONGEST_TAG, seeds_tag, streams_tag
from tests.analysis.synthetic import cell, receipt, record

ALLOWED = re.compile(r"[0-9A-Za-z_./ ]+")


@given(st.lists(st.text(max_size=80), max_size=12, unique=True))
def test_names_are_allowed_short_and_different(names):
    found = unique(names)
    assert sorted(found) == sorted(names)
    assert len(set(found.values())) == len(names)
    assert all(len(n) <= LONGEST and ALLOWED.fullmatch(n) and "-" not in n for n in found.values())


def test_good_names_stay_and_bad_ones_are_told_apart():
    assert unique(["encoders/delivered", "latency"]) == {n: n for n in ("encoders/delivered", "latency")}
    assert unique(["peak_force", "peak-force"])["peak_force"] == "peak_force"
    assert shorten("xs[0]") == "xs_0_"
    assert shorten("components.wrist_force_torque_sensor.bandwidth_hz").startswith("components.wrist_force")


def test_metric_bases_leave_room():
    found = metric_bases(["tracking_error_rms", "a_rather_long_name_of_a_metric", "outcomes", "a/b"])
    assert found["tracking_error_rms"] == "tracking_error_rms"
    assert all(len(base + SUFFIX) <= LONGEST and "/" not in base for base in found.values())
    assert found["outcomes"] != "outcomes"


def test_seeds_and_streams_fit_a_tag():
    assert seeds_tag(range(16)) == "0-15"
    assert seeds_tag([9, 1, 5, 10]) == "1,5,9-10"
    assert len(seeds_tag(range(0, 10**6, 7))) < LONGEST_TAG
    few = json.loads(streams_tag([record(cell(), s) for s in range(2)]))
    assert few["encoders/noise"]["0"].startswith("k" + receipt(0).key[:8] + ":0+1000x7:")
    many = streams_tag([record(cell(), s) for s in range(500)])
    assert json.loads(many)["encoders/noise"].startswith("500 runs:")
    assert len(many) <= LONGEST_TAG


def test_uri_is_explicit(tmp_path):
    assert resolve_uri(None, None, tmp_path) == f"sqlite:///{tmp_path}/mlflow.db"
    assert resolve_uri(None, "http://host:5000", tmp_path) == "http://host:5000"
    assert resolve_uri("sqlite:////x.db", "http://host:5000", tmp_path) == "sqlite:////x.db"
    assert artifact_root(f"sqlite:///{tmp_path}/mlflow.db", tmp_path) == f"file://{tmp_path}/mlartifacts"
    assert artifact_root(f"sqlite:///{tmp_path}/mlflow.db") == f"file://{tmp_path}/mlartifacts"
    assert artifact_root("http://host:5000", tmp_path) is None
    assert artifact_root("postgresql://host/db") is None
    for store in ("./mlruns", "file:///tmp/mlruns"):
        with pytest.raises(TrackingError, match="no longer takes a folder"):
            resolve_uri(store, None, tmp_path)


def test_child_environment():
    child = child_environment({"PYTHONDONTWRITEBYTECODE": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "60"})
    assert "PYTHONDONTWRITEBYTECODE" not in child
    assert child["MLFLOW_HTTP_REQUEST_TIMEOUT"] == "60"
    assert child["MLFLOW_DISABLE_TELEMETRY"] == "true"
