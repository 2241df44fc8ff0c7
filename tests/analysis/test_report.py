"""The report: one file that answers first, withholds what the comparison withholds, and copes with every poor case."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import compare, report
from sweep.errors import InvalidInputError
from sweep.results import MetricInfo
from tests.analysis.synthetic import (
    METRICS,
    build,
    cell,
    effects,
    faulted,
    fell,
    latencies,
    recompute,
    record,
    run_row,
)

pytestmark = pytest.mark.slow

TWO = latencies(0.002, 0.005)
METRIC = "tracking_error_rms"
ROOT = Path(__file__).parents[2]


def hits_hard_seeds(place, seed):
    """The seeds that are hardest at the baseline fall in the other cell."""
    hard = effects(place.values, seed)[METRIC] > 0.055
    return record(place, seed, outcome=fell()) if place.ordinal and hard else record(place, seed)


def pieces(path: Path) -> tuple[str, list[dict]]:
    """A report's own HTML without plotly and styles, and its figures."""
    text = path.read_text(encoding="utf-8")
    figures = re.findall(r'<script type="application/json">(.*?)</script>', text, re.S)
    own = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.S)
    return own, [json.loads(figure) for figure in figures]


def words(path: Path) -> str:
    own, _ = pieces(path)
    plain = html.unescape(re.sub(r"<[^>]+>", " ", own))
    return " ".join(plain.split())


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> Path:
    folder = build(tmp_path_factory.mktemp("two"), TWO)
    return report(folder, recompute=recompute)


@pytest.fixture(scope="module")
def hard(tmp_path_factory) -> Path:
    return report(build(tmp_path_factory.mktemp("hard"), TWO, make=hits_hard_seeds), recompute=recompute)


def test_it_is_one_small_file_beside_the_ledger(two):
    assert two.name == "report.html"
    assert (two.parent / "ledger.sqlite").is_file()
    assert two.stat().st_size < 6e6
    own, figures = pieces(two)
    assert not re.search(r'(src|href)="(?!data:)', own)
    assert len(figures) == len(METRICS)


def test_it_answers_first_and_then_shows_what_the_answer_rests_on(two):
    said = words(two)
    headline = compare(two.parent, recompute=recompute).headline
    order = [headline, "all 32 runs completed", "Cells", "seed by seed", "What pairing was worth", "Where the numbers"]
    places = [said.index(part) for part in order]
    assert places == sorted(places)
    for part in (
        "latency [ms]",
        "[mrad]",
        "lower is better",
        "▲ worse",
        "c0de",
        "python -m sweep +latency=0.002,0.005",
    ):
        assert part in said
    for place in TWO:
        assert f"replay {run_row(place, 0)[0][:8]} --dir" in two.read_text()


def test_every_figure_says_n_and_outcomes_and_has_its_numbers(two, hard):
    for path in (two, hard):
        own, figures = pieces(path)
        captions = re.findall(r"<figcaption>(.*?)</figcaption>", own, re.S)
        assert len(captions) == len(figures) == own.count("<details") == own.count('role="img" aria-label="')
        for caption in captions:
            assert re.search(r"\d+ runs", caption)
            assert "pairs" in caption or "per cell" in caption


def test_failures_of_the_hard_seeds_do_not_flatter(hard):
    """The survivors' mean is lower than the baseline's; nothing in the report may say that latency helps."""
    comparison = compare(hard.parent)
    base, other = comparison.cells
    assert other.means[METRIC].estimate < base.means[METRIC].estimate
    said = words(hard)
    for part in ("7 of 16 completed, 16 of 16 at the baseline", "percent withheld: outcomes differ", "n = 7 of 16",
                 "7 of 16 pairs", "by ranks, failures last: worse"):  # fmt: skip
        assert part in said
    assert said.index("How the runs ended") < said.index("Cells") < said.index("seed by seed")
    assert "better</span>" not in hard.read_text()
    _, figures = pieces(hard)
    drawn = next(f for f in figures if "tracking_error_rms" in json.dumps(f["layout"]))["data"]
    means = [trace["y"][0] for trace in drawn if trace.get("marker", {}).get("symbol") == "diamond"]
    assert means[0] < means[1]
    crosses = next(trace for trace in drawn if trace.get("marker", {}).get("symbol") == "x-thin")
    assert len(crosses["y"]) == 9


def test_survivors_that_look_better_are_not_believed(tmp_path):
    """Where latency makes most runs fall and the rest seem better, no difference is given at all."""
    seems = lambda s, v: {name: 0.9 * value for name, value in effects(v, s).items()}  # noqa: E731
    make = lambda c, s: (  # noqa: E731
        record(c, s)
        if not c.ordinal
        else record(c, s, outcome=fell())
        if s < 12
        else record(c, s, metrics=seems(s, TWO[0].values))
    )
    path = report(build(tmp_path, TWO, make=make), recompute=recompute)
    _, figures = pieces(path)
    said = words(path)
    assert compare(tmp_path).cells[1].contrast.metrics[METRIC].misleads
    assert "Δ withheld" in said
    assert "better" not in said.replace("is better", "").replace("“better” and “worse”", "")
    drawn = [trace for figure in figures for trace in figure["data"]]
    assert not [trace for trace in drawn if "diamond" in str(trace.get("marker", {}).get("symbol"))]


WANTED = {
    "one cell": (TWO[:1], range(16), record, {}, "sweep an axis"),
    "one replicate": (TWO, range(1), record, {}, "One pair only"),
    "all faulted": (TWO, range(4), lambda c, s: record(c, s, outcome=faulted()), {}, "8 faulted: diverged"),
    "one cell faulted": (
        TWO, range(4), lambda c, s: record(c, s, outcome=faulted()) if c.ordinal else record(c, s), {},
        "0 of 4 completed"),
    "constant": (
        latencies(0.001, 0.002, 0.005), range(4), lambda c, s: record(c, s, metrics=dict.fromkeys(METRICS, 0.5)), {},
        "(all equal)"),
    "nothing ran": (TWO, range(4), lambda c, s: None, {}, "8 no record yet"),
    "no cells": ([], range(0), record, {}, "Nothing to compare"),
    "all fell at once": (
        latencies(0.001, 0.002, 0.005), range(4), lambda c, s: record(c, s, outcome=fell()), {}, "0 % "),
    "no metrics": (TWO, range(4), lambda c, s: record(c, s, metrics={}), {"metrics": {}}, "all 8 runs completed"),
    "names": (
        [cell(i, gain=v) for i, v in enumerate((1, "off", "</script><b>"))], range(4), record, {},
        "</script><b>"),
    "no complete grid": (
        [cell(i, latency=0.001 * i, mass_scale=1 + (i * 7 % 9)) for i in range(9)], range(4), record, {},
        "against each axis"),
    "a grid": (
        [cell(i, latency=0.001 * (i // 3), mass_scale=1 + i % 3) for i in range(9)], range(4), record, {}, "over"),
    "a grid that falls": (
        [cell(i, latency=0.001 * (i // 3), mass_scale=1 + i % 3) for i in range(9)], range(4),
        lambda c, s: record(c, s, outcome=fell()) if c.ordinal > 6 and s else record(c, s), {},
        "How many runs succeeded"),
    "three axes": (
        [cell(i, latency=0.001 * (i // 4), mass_scale=1 + i // 2 % 2, gain=i % 2) for i in range(8)], range(4), record,
        {}, "main effects"),
    "three axes, faults": (
        [cell(i, latency=0.001 * (i // 4), mass_scale=1 + i // 2 % 2, gain=i % 2) for i in range(8)], range(1),
        lambda c, s: record(c, s, outcome=faulted()) if c.ordinal == 3 else record(c, s), {}, "in all cells"),
    "many metrics": (
        TWO, range(4), lambda c, s: record(c, s, metrics={f"m{i}": s + i + 1.0 for i in range(12)}),
        {"metrics": {f"m{i}": MetricInfo(unit="", better="lower", window="horizon") for i in range(12)}}, "m11"),
}  # fmt: skip


@pytest.mark.parametrize("case", WANTED)
def test_poor_cases_are_served(tmp_path, case):
    cells, seeds, make, changes, expected = WANTED[case]
    path = report(build(tmp_path, cells, seeds, make, **changes))
    own, figures = pieces(path)
    assert expected in words(path)
    assert not re.search(r"\b(nan|inf|None)\b", words(path))
    assert "<b>" not in own
    assert all(figure["data"] for figure in figures)


def test_many_cells_are_drawn_and_told_in_part(tmp_path):
    cells = [cell(i, latency=1e-4 * (i // 50), mass_scale=1 + 0.01 * (i % 50)) for i in range(2500)]
    path = report(build(tmp_path, cells, range(2)))
    assert path.stat().st_size < 6e6
    said = words(path)
    assert re.search(r"199 of 2.500 rows: the baseline, and the lowest and highest means", said)
    assert path.read_text().count("data-copy=") <= 200
    assert "2300 more rows are not listed here" in said


def test_two_sweeps(tmp_path):
    faster = lambda c, s: record(c, s, metrics={k: 0.9 * v for k, v in effects(c.values, s).items()})  # noqa: E731
    a = build(tmp_path / "a", TWO)
    b = build(tmp_path / "b", TWO, range(8, 24), faster, name="arm-new")
    path = report(a, b, recompute=recompute)
    assert path == b / "report-against-arm-1a2b3c4d.html"
    said = words(path)
    assert compare(a, b, recompute=recompute).headline in said
    for part in ("arm-new against arm-1a2b3c4d", "8 of 8 pairs", "8 seeds are only in arm-new", "▼ better"):
        assert part in said


def test_two_sweeps_without_a_common_seed_are_not_paired(tmp_path):
    a, b = build(tmp_path / "a", TWO[:1]), build(tmp_path / "b", TWO[:1], range(50, 60), name="arm-new")
    said = words(report(a, b))
    assert "Nothing is paired" in said
    assert "run by run" in said
    assert "seed by seed" not in said


def test_where_it_goes_and_what_it_is_compared_with(tmp_path):
    folder = build(tmp_path / "s", TWO, range(4))
    path = report(folder / "ledger.sqlite", baseline="latency=0.005", to=tmp_path / "x.html")
    assert path == tmp_path / "x.html"
    assert "baseline, latency 5 ms" in words(path)
    with pytest.raises(InvalidInputError, match="cannot be written"):
        report(folder, to=tmp_path / "nowhere" / "x.html")


def test_importing_analysis_loads_no_drawing():
    code = "import sys, analysis; print([m for m in ('plotly', 'jinja2', 'analysis.figures') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
