"""The columns that comparisons are computed from say what the records say."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from analysis.source import read
from sweep.results import Ledger, Outcome, Status
from tests.analysis.synthetic import METRICS, build, cell, faulted, fell, fill, header, latencies, record, run_row

CELLS = latencies(0.002, 0.005, 0.010)
OUTCOMES = {
    (0, 1): fell(),
    (1, 2): faulted(),
    (1, 3): Outcome(status=Status.LOST),
    (2, 0): Outcome(status=Status.ENDED, time_s=0.5, reason="arrived", success=True),
}


def make(place, seed):
    if (place.ordinal, seed) == (2, 2):
        return None
    outcome = OUTCOMES.get((place.ordinal, seed))
    return record(place, seed, outcome=outcome) if outcome else record(place, seed)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    return read(build(tmp_path_factory.mktemp("runs") / "s", CELLS, (3, 0, 2, 1), make))


def test_columns_are_the_records(sweep):
    runs = sweep.runs
    for i, place in enumerate(sweep.cells):
        span, records = runs.spans[i], sweep.records[place.cell_id]
        assert list(runs.seed[span]) == list(records) == sorted(records)
        assert [record.outcome.status for record in records.values()] == list(runs.status[span])
        assert [record.outcome.reason for record in records.values()] == list(runs.reason[span])
        assert [json.loads(text) for text in runs.receipts[span]] == [
            {name: asdict(receipt) for name, receipt in record.receipts.items()} for record in records.values()
        ]
        for metric in METRICS:
            expected = [float("nan") if (v := r.metrics[metric]) is None else v for r in records.values()]
            assert np.array_equal(runs.values[metric][span], expected, equal_nan=True)  # to the last bit
    assert sweep.seeds[CELLS[2].cell_id] == (0, 1, 2, 3)


def test_who_ended_well(sweep):
    at = {(int(c), s): i for i, (c, s) in enumerate(zip(sweep.runs.cell, sweep.runs.seed, strict=True))}
    found = {place: sweep.runs.success[i] for place, i in at.items()}
    assert (found[0, 1], found[1, 2], found[1, 3], found[2, 0], found[0, 0]) == (False, False, None, True, True)


def test_ages_are_those_of_runs_that_were_answered(sweep):
    ages = sweep.runs.ages["tracker"]
    answered = [status in (Status.COMPLETED, Status.ENDED) for status in sweep.runs.status]
    assert list(~np.isnan(ages)) == answered


def test_some_cells_and_seeds(sweep):
    some = sweep.only({CELLS[2].cell_id, CELLS[0].cell_id}, {1, 2})
    assert [place.label for place in some.cells] == ["latency=0.002", "latency=0.01"]
    assert some.runs.cell.tolist() == [0, 0, 1]
    assert list(some.records[CELLS[2].cell_id]) == [1]
    assert some.seeds[CELLS[0].cell_id] == (1, 2)
    assert sweep.only(None, None).runs is sweep.runs


def test_a_matrix_has_the_seeds_that_every_cell_was_planned_with(tmp_path):
    with Ledger.create(tmp_path / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        fill(ledger, CELLS[:2], range(4), make)
        ledger.add_runs([run_row(CELLS[0], 9)])
        ledger.append([record(CELLS[0], 9)])
    seeds, values = read(tmp_path).matrix("effort_rms")
    assert seeds == (0, 1, 2, 3)
    assert np.isnan(values).tolist() == [[False, True, False, False], [False, False, True, True]]


def test_cells_of_one_plan_share_their_runs(tmp_path):
    twins = [cell(0, latency=0.002), cell(1, latency=0.0020001)]
    run = record(twins[0], 0)
    with Ledger.create(tmp_path / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        ledger.add_cells(twins)
        ledger.add_runs((run.run_id, twin.cell_id, twins[0].plan_id, 0) for twin in twins)
        ledger.append([run])
    found = read(tmp_path)
    assert found.records[twins[0].cell_id] == found.records[twins[1].cell_id] == {0: run}
    assert set(found.commits) == {twin.cell_id for twin in twins}


def test_a_grid_that_was_extended_is_read_in_the_order_of_its_values(tmp_path):
    grid = [(0.0, 1.0), (0.02, 1.0), (0.0, 1.2), (0.02, 1.2), (0.04, 1.0), (0.002, 1.0), (0.04, 1.2), (0.002, 1.2)]
    cells = [cell(i, latency=latency, mass_scale=mass) for i, (latency, mass) in enumerate(grid)]
    found = read(build(tmp_path / "grid", cells, range(2)))
    assert [(c.values["mass_scale"], c.values["latency"]) for c in found.cells] == sorted(
        (mass, latency) for latency, mass in grid
    )
    assert all(set(found.records[c.cell_id]) == {0, 1} for c in found.cells)
    star = read(build(tmp_path / "star", cells[3:], range(1)))
    assert [c.cell_id for c in star.cells] == [c.cell_id for c in cells[3:]]
    listed = build(tmp_path / "list", cells, range(1), provenance={"command": ["python", "design=list"]})
    assert [c.ordinal for c in read(listed).cells] == list(range(8))
