"""``compare`` and ``export``, typed: both programs, every form, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

from analysis import load
from analysis.__main__ import main as analysis_main
from analysis.tables import CONTRAST_COLUMNS
from sweep.cli import main as sweep_main
from sweep.results import Status
from tests.analysis.synthetic import build, cell, faulted, latencies, record

ROOT = Path(__file__).parents[2]
MAINS = {"python -m sweep": sweep_main, "python -m analysis": analysis_main}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    fails = lambda c, s: record(c, s, outcome=faulted()) if (c.ordinal, s) == (2, 3) else record(c, s)  # noqa: E731
    return build(tmp_path_factory.mktemp("typed") / "s", latencies(0.002, 0.005, 0.010), range(6), fails)


@pytest.fixture(params=MAINS)
def typed(request, capsys):
    def run(*words) -> tuple[int, str, str]:
        code = MAINS[request.param]([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def test_a_table(typed, folder):
    code, out, _ = typed("compare", folder)
    assert code == 0
    assert out.startswith("+8 ms latency: 5 of 6 completed")
    rules = [line for line in out.splitlines() if "───" in line]
    assert rules
    assert all(len(rule) <= 80 for rule in rules)
    assert "\x1b" not in out


def test_json_has_a_version_and_both_programs_say_the_same(folder, capsys):
    said = []
    for main in MAINS.values():
        assert main(["compare", str(folder), "--json", "--quantile", "0.5", "--bootstrap"]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1]
    assert said[0]["schema"] == "comparison/1"
    assert said[0]["quantile"] == 0.5
    assert set(said[0]["cells"][1]["quantiles"]["effort_rms"]) == {"estimate", "low", "high", "n"}


def test_csv_is_a_row_per_cell(typed, folder):
    code, out, _ = typed("compare", folder, "--csv", "--baseline", "latency=5ms")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["latency"] for row in rows] == ["0.002", "0.005", "0.01"]
    assert rows[1]["effort_rms/delta"] == ""
    assert float(rows[0]["effort_rms/delta"]) < 0
    assert rows[2]["effort_rms/percent"] == ""  # withheld, not 0


def test_export_writes_what_the_page_says(typed, folder, tmp_path):
    code, out, _ = typed("export", folder, "--to", tmp_path / "new" / "tables")
    assert code == 0
    written = {Path(line).name for line in out.splitlines()}
    assert written == {f"{table}.{kind}" for table in ("runs", "cells", "contrasts") for kind in ("csv", "parquet")}
    there = tmp_path / "new" / "tables"
    runs, contrasts = (pandas.read_parquet(there / f"{name}.parquet") for name in ("runs", "contrasts"))
    assert runs.drop(columns="sweep").equals(load(folder))
    assert tuple(contrasts.columns) == CONTRAST_COLUMNS
    assert len(contrasts) == 2 * 2
    for name in ("runs", "cells", "contrasts"):
        read = pandas.read_csv(there / f"{name}.csv")
        kept = pandas.read_parquet(there / f"{name}.parquet")
        assert list(read.columns) == list(kept.columns)
        for column in kept.select_dtypes("number"):
            assert read[column].to_numpy() == pytest.approx(kept[column].to_numpy(), rel=1e-14, nan_ok=True), column


def test_tables_of_two_sweeps_leave_those_of_each_alone(folder, tmp_path):
    other = build(tmp_path / "b", latencies(0.002, 0.005), range(2), name="arm-b")
    assert analysis_main(["export", str(other)]) == 0
    before = (other / "tables" / "cells.csv").read_bytes()
    assert analysis_main(["export", str(folder), str(other)]) == 0
    assert (other / "tables" / "cells.csv").read_bytes() == before
    assert len(pandas.read_csv(other / "tables-against-arm-1a2b3c4d" / "cells.csv")) == 4


def test_every_status_is_counted_in_whole_numbers(folder, capsys):
    assert analysis_main(["compare", str(folder), "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    statuses = [f"outcomes/{status}" for status in Status]
    assert [[row[name] for name in statuses] for row in rows] == [["6", *"00000"], ["6", *"00000"], ["5", *"01000"]]
    names = list(rows[0])
    assert names[names.index("n") + 1 :][: len(statuses)] == statuses


def test_every_column_is_documented():
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    table = page.partition("## contrasts")[2].partition("## JSON")[0]
    named = re.findall(
        r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    )
    assert tuple(sorted(named)) == tuple(sorted(CONTRAST_COLUMNS))


def test_columns_have_one_type_whatever_they_hold(tmp_path):
    mixed = [cell(0, gains=[1.0, 2.0], name="a"), cell(1, gains="auto", name="b"), cell(2, gains=None, name="b")]
    folder = build(tmp_path / "s", mixed, range(2), lambda c, s: record(c, s, outcome=faulted()))
    assert analysis_main(["export", str(folder)]) == 0
    cells = pandas.read_parquet(folder / "tables" / "cells.parquet")
    assert cells["gains"].tolist() == ["1, 2", "auto", "none"]
    assert cells["effort_rms/mean"].dtype == float


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["compare", "{}", "{}"], "is the first sweep again"),
        (["compare", "{}", ".", "--baseline", "latency=5ms"], "goes with one sweep"),
        (["compare", "{}", "--quantile", "95"], "'95' is no probability between 0 and 1, for example 0.95"),
        (["compare", "{}", "--baseline", "latency=5"], "no cell is called 'latency=5'"),
        (["compare", "nowhere"], "There is no ledger at nowhere"),
        (["export", "nowhere"], "There is no ledger at nowhere"),
        (["export", "{}", "--to", "/dev/null/x"], "/dev/null/x: cannot be written"),
    ],
)
def test_what_was_asked_wrong_is_said(typed, folder, words, said):
    code, out, error = typed(*(word.format(folder) for word in words))
    assert code == 2
    assert said in error
    assert "Traceback" not in error
    assert out == ""


@pytest.mark.slow
def test_analysis_needs_neither_mujoco_nor_ray_nor_hydra(folder):
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('mujoco', 'ray', 'hydra', 'mlflow', 'omegaconf')))\n"
        "from analysis.__main__ import main; sys.exit(main(['compare', sys.argv[1]]))"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "of 6 completed" in done.stdout
