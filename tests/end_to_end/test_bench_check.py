"""What ``python -m tests.bench --check`` refuses, and that ``--accept`` and the command line keep to what is said."""

from __future__ import annotations

import json

import pytest

from tests.bench import __main__ as command
from tests.bench import baseline
from tests.bench.measures import Measure, UnmeasuredError, ratio

SPEED_UP = Measure(what="speed-up", value=8.0, is_ratio=True, more_is_better=True)


def test_a_ratio_may_worsen_by_a_quarter():
    accepted = {"lanes": {"cart": 1.0}}
    assert not list(baseline.complaints({"lanes": [ratio("cart", 1.24)]}, accepted))
    (told,) = baseline.complaints({"lanes": [ratio("cart", 1.26)]}, accepted)
    assert told == "lanes: cart: 1.26, baseline 1: 26% worse, 25% is allowed"


def test_where_more_is_better_less_is_worse():
    assert not list(baseline.complaints({"peers": [SPEED_UP]}, {"peers": {"speed-up": 9.9}}))
    (told,) = baseline.complaints({"peers": [SPEED_UP]}, {"peers": {"speed-up": 10.1}})
    assert "26% worse" in told
    assert not list(baseline.complaints({"peers": [SPEED_UP]}, {"peers": {"speed-up": 1.0}}))


def test_what_cannot_be_compared_is_told_and_seconds_are_not_compared():
    measured = {"lanes": [ratio("new", 1.0), Measure(what="time", value=9.0, unit="s")]}
    told = list(baseline.complaints(measured, {"lanes": {"gone": 1.0, "time": 1.0}, "other": {"unasked": 1.0}}))
    assert len(told) == 3
    assert told[0].startswith("lanes: new: no baseline")
    assert {line.split(": ")[1] for line in told[1:]} == {"gone", "time"}
    assert all("in the baseline, but not measured" in line for line in told[1:])


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A bench of two parts, whose baseline is a file of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(baseline, "FILE", tmp_path / "baseline.json")
    parts = {"lanes": [ratio("cart", 1.0, aim=0.5)], "ledger": [Measure(what="read", value=3.0, unit="us")]}
    monkeypatch.setattr(command, "PARTS", {name: lambda found=found: found for name, found in parts.items()})
    return parts


def test_what_is_accepted_is_what_is_checked(bench, capsys):
    assert command.main(["--check", "lanes"]) == 1
    assert "no baseline" in capsys.readouterr().err
    assert command.main(["--accept"]) == 0
    assert json.loads(baseline.FILE.read_text()) == {"lanes": {"cart": 1.0}}
    bench["lanes"][0] = ratio("cart", 1.2, aim=0.5)
    assert command.main(["--check"]) == 0
    assert "20% worse" in capsys.readouterr().out
    bench["lanes"][0] = ratio("cart", 1.3, aim=0.5)
    assert command.main(["--check"]) == 1
    assert "30% worse, 25% is allowed" in capsys.readouterr().err


def test_one_table_and_a_file_of_the_parts_asked_for(bench, tmp_path, capsys):
    assert command.main(["ledger", "lanes", "some.json"]) == 0
    found = json.loads((tmp_path / "some.json").read_text())
    assert list(found) == ["ledger", "lanes"]
    assert found["lanes"] == [{"what": "cart", "value": 1.0, "unit": "x", "ratio": True, "aim": 0.5}]
    assert "missed: <= 0.50" in capsys.readouterr().out


def test_a_part_that_cannot_be_measured_leaves_the_others(bench, monkeypatch, capsys):
    def fail():
        raise UnmeasuredError("no network")

    monkeypatch.setattr(command, "PARTS", {"peers": fail, **command.PARTS})
    assert command.main([]) == 1
    shown = capsys.readouterr()
    assert "peers: not measured: no network" in shown.err
    assert "cart" in shown.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ledgr"], "no part 'ledgr'; did you mean 'ledger'"),
        (["--chek"], "no option '--chek'; did you mean '--check'"),
        (["--check", "--accept"], "2 options were given"),
        (["a.json", "b.json"], "2 files were given"),
        (["nowhere/a.json"], "there is no folder nowhere"),
        (["--help"], "Parts: lanes, ledger"),
    ],
)
def test_mistakes_are_answered_before_anything_is_measured(bench, words, told):
    with pytest.raises(SystemExit, match=told):
        command.main(words)
