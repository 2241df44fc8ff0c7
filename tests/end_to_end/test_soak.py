"""What ``make soak`` judges by lets nothing pass, and its schedule is the seed's; the kills themselves take minutes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sweep.results import Ledger, Outcome, Status
from tests.analysis.synthetic import header, latencies, record, run_row
from tests.soak.judge import complaints, endings, lost_for_a_while, mirror_complaints
from tests.soak.schedule import LAST, Kind, drawn
from tests.tracking.stores import Store

CELLS = latencies(0.002, 0.005)
SEEDS = range(3)
DOCTORED = run_row(CELLS[1], 1)[0]


def swept(folder, doctor=lambda record: record, state="finished", **changes):
    """A sweep whose every run was in one worker's hand once; one of its records is doctored, or left out."""
    with Ledger.create(folder / "ledger.sqlite", header(**changes)) as ledger:
        ledger.add_cells(CELLS)
        ledger.add_runs(run_row(cell, seed) for seed in SEEDS for cell in CELLS)
        ledger.begin({})
        made = [record(cell, seed) for seed in SEEDS for cell in CELLS]
        ledger.leases.lease([r.run_id for r in made], "worker 1")
        kept = [doctor(r) if r.run_id == DOCTORED else r for r in made]
        ledger.append(r for r in kept if r is not None)
        if state:
            ledger.finish(state)
    return folder


@pytest.fixture
def good(tmp_path):
    return swept(tmp_path / "good")


def test_a_sweep_is_as_good_as_itself_whatever_happened_to_it(good, tmp_path):
    moved = swept(tmp_path / "moved", lambda r: replace(r, wall_s=9.0, node={"host": "elsewhere"}, attempt=4))
    with Ledger.open(moved) as ledger:
        ledger.begin({})
        ledger.finish()
    assert complaints(good, good) == complaints(moved, good) == []
    assert endings(moved) == {"answered": 6}
    assert lost_for_a_while(moved) == 0


@pytest.mark.parametrize(
    ("doctor", "what"),
    [
        (lambda r: None, f"1 runs without a record: {DOCTORED}"),
        (lambda r: replace(r, trace_digest="0" * 16), f"1 records that differ: {DOCTORED}"),
        (lambda r: replace(r, code_id="0" * 16), f"1 records that differ: {DOCTORED}"),
        (lambda r: replace(r, metrics={**r.metrics, "effort_rms": -0.0}), f"1 records that differ: {DOCTORED}"),
        (lambda r: replace(r, outcome=Outcome(status=Status.LOST)), f"1 records that differ: {DOCTORED}"),
    ],
)
def test_a_run_that_is_missing_or_differs_in_one_bit_is_named(good, tmp_path, doctor, what):
    assert what in complaints(swept(tmp_path / "bad", doctor), good)


def test_zero_differs_from_zero(tmp_path):
    zero, minus = (
        swept(tmp_path / name, lambda r, value=value: replace(r, metrics={**r.metrics, "effort_rms": value}))
        for name, value in (("zero", 0.0), ("minus", -0.0))
    )
    assert complaints(minus, zero) == [f"1 records that differ: {DOCTORED}"]


def test_a_run_that_counts_twice_or_is_still_in_hand_is_named(good, tmp_path):
    twice, by_other_code, open_ = (swept(tmp_path / name) for name in ("twice", "code", "open"))
    with Ledger.open(twice) as ledger:
        ledger.leases.lease([DOCTORED], "worker 2")
        ledger.append([record(CELLS[1], 1)])
    assert complaints(twice, good) == [f"1 runs that were not answered exactly once: {DOCTORED}"]
    with Ledger.open(by_other_code) as ledger:
        ledger.append([record(CELLS[1], 1, code_id="0" * 16)])
    assert f"1 final records that were replaced: {DOCTORED}" in complaints(by_other_code, good)
    with Ledger.open(open_) as ledger:
        ledger.leases.lease([DOCTORED], "worker 2")
        assert complaints(open_, good) == [f"1 runs in hand: {DOCTORED}"]


def test_a_sweep_that_is_not_over_or_another_one_is_told(good, tmp_path):
    assert complaints(swept(tmp_path / "cut", state="interrupted"), good) == ["the ledger says that it is interrupted"]
    assert "they are two sweeps" in complaints(swept(tmp_path / "other", code_id="0" * 16), good)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow_is_to_have_every_cell_once_with_the_same_numbers(good, tmp_path):
    bad = swept(tmp_path / "bad", lambda r: replace(r, metrics={**r.metrics, "effort_rms": 9.0}))
    right, wrong = (Store(tmp_path, experiment=name) for name in ("right", "wrong"))
    right.sync(good)
    wrong.sync(bad)
    assert mirror_complaints(right, right) == []
    cell = CELLS[1].cell_id
    told = [f"1 cells with other metrics, in MLflow: {cell}"]
    assert mirror_complaints(wrong, right) == told
    child = wrong.runs()[1][cell]
    wrong.client.set_terminated(child.info.run_id, "RUNNING")
    assert mirror_complaints(wrong, right) == [*told, f"1 cells with another state, in MLflow: {cell}"]
    wrong.client.create_run(child.info.experiment_id, tags=child.data.tags)
    assert mirror_complaints(wrong, right) == ["MLflow: 4 runs that are not a parent with one child for each cell"]


def test_the_schedule_is_the_seeds_and_has_enough_of_every_kind():
    schedule = drawn(7, 100, 2000)
    assert schedule == drawn(7, 100, 2000) != drawn(8, 100, 2000)
    counts = {kind: len(strikes) for kind, strikes in schedule.items()}
    assert sum(counts.values()) == 100
    assert counts[Kind.WORKER] >= 30
    assert min(counts.values()) >= 15
    for strikes in schedule.values():
        assert [strike.after for strike in strikes] == sorted(strike.after for strike in strikes)
        assert strikes[-1].after <= LAST * 2000
