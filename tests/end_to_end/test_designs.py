"""Designs from the command line: planned, run, extended, and told about."""

from __future__ import annotations

import json
import re

import pytest

from analysis import load
from tests.end_to_end.conftest import QUICK

pytestmark = pytest.mark.slow

HYPERCUBE = (
    "+latency=tag(log,interval(1ms,20ms))",
    "+mass_scale=interval(0.8,1.2)",
    "design=lhs",
    "design.n=4",
    "seeds=2",
)


def folder_of(answer) -> str:
    return re.search(r"results: (\S+)", answer.err).group(1)


def test_a_hypercube_is_planned_run_and_known_again(sweep, tmp_path):
    planned = json.loads(sweep("plan", "--json", *HYPERCUBE, *QUICK).out)
    assert not list(tmp_path.iterdir()), "plan writes nothing"
    first = sweep(*HYPERCUBE, *QUICK)
    assert first.code == 0, first.err
    frame = load(tmp_path / folder_of(first))
    assert len(frame) == 8
    assert set(frame.cell_id) == {cell["cell_id"] for cell in planned["cells"]}
    assert set(frame.latency) == {cell["values"]["latency"] for cell in planned["cells"]}
    again = sweep(*HYPERCUBE, *QUICK)
    assert "0 runs in" in again.err
    assert again.out == first.out
    assert "done already: 8, nothing is left to run" in sweep("plan", *HYPERCUBE, *QUICK).out


def test_more_of_sobols_points_extend_a_sweep(sweep):
    words = ("+latency=interval(0,10ms)", "design=sobol", "design.center=true", "seeds=1", *QUICK)
    few = sweep(*words, "design.n=2")
    more = sweep(*words, "design.n=4")
    assert "3 runs in" in few.err
    assert "2 runs in" in more.err
    assert folder_of(few) == folder_of(more)


def test_a_table_and_a_condition(sweep, tmp_path):
    (tmp_path / "points.csv").write_text("latency,mass_scale\n2ms,1\n5ms,1.2\n5ms,120%\n20ms,1\n")
    words = ("design=list", "design.file=points.csv", "exclude=latency > 10ms", "seeds=1", *QUICK)
    planned = sweep("plan", *words)
    ran = sweep(*words)
    for text in (planned.out, ran.err):
        assert "1 point left out by exclude=latency > 10ms" in text
        assert "1 point left out: an earlier one says the same" in text
    assert sorted(load(tmp_path / folder_of(ran)).latency) == [0.002, 0.005]


def test_a_star_is_compared_with_its_center(sweep):
    ran = sweep("+latency=0,10ms", "+mass_scale=1.2", "design=star", "seeds=2", *QUICK)
    assert ran.code == 0, ran.err
    assert "3 cells × 2 seeds" in ran.err
    assert "6 runs in" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["+latency=interval(0,0.01)"], "design=lhs design.n=16, or divide it with design.levels=5"),
        (["design=zip", "+latency=1,2", "+mass_scale=1,2,3"], "latency has 2, mass_scale has 3"),
        (["+latency=0,1", "exclude=latency >= 0"], "leaves nothing of the design: all 2 points meet it"),
        (["+latency=0,1", "exclude=latncy > 0"], "unknown name 'latncy'; did you mean 'latency'"),
        (["design=list", "design.file=none.csv"], "design.file=none.csv: cannot be read: No such file"),
        (["design=sbol"], "unknown design 'sbol'; did you mean 'sobol'"),
    ],
)
def test_what_cannot_be_a_design_is_told(sweep, tmp_path, words, said):
    answer = sweep(*words, *QUICK)
    assert answer.code == 2
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert not list(tmp_path.iterdir())


def test_help_says_how_axes_are_swept(sweep):
    answer = sweep("--help")
    assert "tag(log,interval(1ms,1s))" in answer.out
    assert re.search(r"design= +grid, lhs, list, random, sobol, star, zip", answer.out)
