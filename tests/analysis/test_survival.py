"""Runs over time, against SciPy's Kaplan-Meier and statsmodels' cumulative incidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.duration.survfunc import CumIncidenceRight

from analysis.source import read
from analysis.survival import survival
from sweep.results import Outcome, Status
from tests.analysis.synthetic import build, latencies, record

KINDS = np.random.default_rng(4).choice(["", "fell", "faulted"], 40).tolist()
TIMES = (np.random.default_rng(5).exponential(2.0, 40).round(1) + 0.1).tolist()
KINDS[int(np.argmax(TIMES))] = ""  # the others divide by 0 where nothing runs any more


def outcome(kind: str, time: float) -> Outcome:
    if kind == "fell":
        return Outcome(status=Status.ENDED, time_s=time, reason="fell", success=False)
    if kind == "faulted":
        return Outcome(status=Status.FAULTED, time_s=time, kind="diverged")
    return Outcome(status=Status.COMPLETED, time_s=time)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    def make(place, seed):
        if seed >= 40:
            return record(place, seed, outcome=Outcome(status=(Status.LOST, Status.TIMED_OUT)[seed - 40]))
        return record(place, seed, outcome=outcome(KINDS[seed], TIMES[seed]))

    (only,) = survival(read(build(tmp_path_factory.mktemp("s") / "s", latencies(0.002), range(42), make)))
    return only


def test_everything_is_counted(found):
    assert (found.n, found.excluded) == (40, 2)
    assert found.events == {kind: KINDS.count(kind) for kind in ("faulted", "fell")}
    assert found.censored == KINDS.count("")


def test_the_share_that_runs_is_scipys(found):
    kinds, times = np.array(KINDS), np.array(TIMES)
    data = stats.CensoredData(uncensored=times[kinds != ""], right=times[kinds == ""])
    curve = stats.ecdf(data).sf
    limits = curve.confidence_interval(0.95, method="log-log")
    assert found.running == pytest.approx(curve.evaluate(found.times))
    inside = found.running > 0
    assert found.low[inside] == pytest.approx(limits.low.evaluate(found.times)[inside])
    assert found.high[inside] == pytest.approx(limits.high.evaluate(found.times)[inside])


def test_the_incidence_is_statsmodels(found):
    codes = [["", "faulted", "fell"].index(kind) for kind in KINDS]
    expected = CumIncidenceRight(np.array(TIMES), np.array(codes))
    for i, kind in enumerate(("faulted", "fell")):
        at = np.searchsorted(expected.times, found.times, side="right") - 1
        assert found.incidence[kind] == pytest.approx(expected.cinc[i][at])
    assert found.running + found.incidence["fell"] + found.incidence["faulted"] == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["", "faulted"])
def test_all_alike(tmp_path, kind):
    make = lambda c, s: record(c, s, outcome=outcome(kind, 5.0))  # noqa: E731
    (only,) = survival(read(build(tmp_path / "s", latencies(0.002), range(4), make)))
    assert only.running.tolist() == ([0.0] if kind else [])
    assert survival(read(build(tmp_path / "none", latencies(0.002), [])))[0].n == 0
