"""Places: of a sweep, of none (what was typed is named, and what was probably meant), and of a report."""

import pytest

from analysis.__main__ import main as analysis_main
from sweep.cli import main as sweep_main
from tests.analysis.synthetic import build, latencies, record


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("places")
    for name in ("arm-3abef604", "arm-77", "cart"):
        build(place / "sweeps" / name, latencies(0.002), range(1), record)
    (place / "README.md").write_text("not a sweep\n")
    (place / "empty").mkdir()
    return place


@pytest.mark.parametrize("main", [sweep_main, analysis_main], ids=["sweep", "analysis"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare", "README.md"], "README.md is not a readable ledger"),
        (["report", "README.md"], "README.md is not a readable ledger"),
        (["export", "sweeps/arm"], "at sweeps/arm; did you mean sweeps/arm-3abef604, sweeps/arm-77?"),
        (["export", "sweeps/carrt"], "at sweeps/carrt; did you mean sweeps/cart?"),
        (["compare", "sweeps"], "a folder of sweeps; name one of them: sweeps/arm-3abef604, sweeps/arm-77"),
        (["compare", "empty"], "There is no ledger at empty; is this the folder of a sweep?"),
        (["report", "sweeps/cart", "latency=3"], "latency=3: does not exist; a second word is another sweep's folder"),
        (["report", "sweeps/cart", "latency=3"], "(a cell is --baseline latency=3)"),
        (["compare", "sweeps/cart", "5"], "5: does not exist; a second word is another sweep's folder"),
    ],
)
def test_what_was_probably_meant_is_said(main, words, said, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_one_is_not_counted_as_several(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert sweep_main(["status", "sweeps/cart"]) == 0
    assert "1 of 1 run in 1 cell: 1 completed" in capsys.readouterr().out


@pytest.mark.parametrize(("to", "file"), [("out", "out.html"), ("empty", "empty/report.html"), ("a.htm", "a.htm")])
def test_a_report_is_a_page_wherever_it_goes(to, file, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert sweep_main(["report", "sweeps/cart", "--to", to]) == 0
    assert capsys.readouterr().out == f"report: {file}\n"
    assert (place / file).read_text().startswith("<!doctype html>")
