"""The files of runs: whole or not at all, wherever they were computed, and there before the record is."""

from __future__ import annotations

import os
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sweep.errors import LedgerError
from sweep.execution.collect import collect
from sweep.execution.folder import SweepFolder
from sweep.execution.pending import pending_work
from sweep.execution.planning import plan_sweep
from sweep.execution.ray_executor import RayExecutor
from sweep.execution.run_files import Luggage, RunFiles
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard
from sweep.results import Ledger
from sweep.results.ledger import LEDGER_NAME
from sweep.results.traces import trace_place
from sweep.runtime.tracing.file import trace_metadata

RAISES = """
class Raises:
    def __init__(self, setup):
        raise ValueError("no such luck")
    def compute(self, step):
        pass
"""


@pytest.fixture
def prepared(scene):
    """``prepared("events") -> planned, folder``: a sweep whose runs ask for that level."""

    def prepare(level, manifest=None):
        manifest = manifest or scene.document()
        manifest["runtime"]["trace"] = level
        spec = scene.spec(manifest=manifest)
        planned = plan_sweep(spec)
        return planned, SweepFolder.prepare(planned, spec), spec

    return prepare


def traces(folder):
    return sorted(path.name for path in (folder.path / "traces").glob("*"))


def levels(planned, folder):
    found = [trace_metadata(folder.path / trace_place(run.run_id)) for run in planned.runs]
    return [None if metadata is None else metadata["trace"] for metadata in found]


@pytest.fixture
def files(tmp_path):
    """A folder with something in the place of a ledger."""
    (tmp_path / LEDGER_NAME).touch()
    return RunFiles.of(tmp_path)


def test_a_file_is_kept_whole_or_not_at_all(files):
    files.keep("traces/a.parquet", b"one")
    files.keep("traces/a.parquet", b"two")
    assert (files.folder / "traces" / "a.parquet").read_bytes() == b"two"
    (files.folder / "traces" / "b.parquet").mkdir()
    with pytest.raises(LedgerError, match=r"b\.parquet cannot be written"):
        files.keep("traces/b.parquet", b"one")
    assert sorted(path.name for path in (files.folder / "traces").iterdir()) == ["a.parquet", "b.parquet"]


def test_what_cannot_be_written_there_is_taken_home(files, tmp_path):
    here = Luggage(files)
    here.keep("traces/a.parquet", b"one")
    assert here.carried == {}
    (tmp_path / "traces" / "c.parquet").mkdir()
    for elsewhere, name in (
        (RunFiles(tmp_path / "not mounted", files.inode), "b"),
        (RunFiles(tmp_path, files.inode + 1), "b"),
        (files, "c"),
    ):
        luggage = Luggage(elsewhere)
        luggage.keep(f"traces/{name}.parquet", b"two")
        assert luggage.carried == {f"traces/{name}.parquet": b"two"}
    assert not (tmp_path / "traces" / "b.parquet").exists()


def test_a_shard_keeps_the_traces_that_are_asked_for(prepared):
    planned, _, _ = prepared("events")
    quiet, _, _ = prepared("summary")
    kept = {}
    records = execute_shard([*planned.runs, *quiet.runs[:1]], keep=kept.__setitem__)
    assert records[:-1] == execute_shard(planned.runs)
    assert set(kept) == {trace_place(run.run_id) for run in planned.runs}
    execute_shard(quiet.runs, keep=None)


def test_a_disk_that_is_full_is_no_fault_of_a_run(prepared):
    planned, _, _ = prepared("events")

    def full(place, content):
        raise LedgerError(f"{place} cannot be written: No space left on device.")

    with pytest.raises(LedgerError, match="No space left"):
        execute_shard(planned.runs, keep=full)


@pytest.mark.slow
def test_runs_are_run_again_for_a_trace_that_is_missing(prepared):
    planned, folder, spec = prepared("summary")
    collect(planned, folder, spec)
    assert levels(planned, folder) == [None] * 6
    for level, ran in (("events", 6), ("full", 6), ("events", 0), ("summary", 0)):
        planned, again, spec = prepared(level)
        assert again.path == folder.path
        report = collect(planned, folder, spec)
        assert (report.total, report.ran, report.reused, report.statuses) == (6, ran, 6 - ran, {"completed": 6})
    assert levels(planned, folder) == ["full"] * 6
    with Ledger.open(folder.path, read_only=True) as ledger:
        assert len(ledger.records()) == 6
        assert ledger.superseded() == []
    (folder.path / trace_place(planned.runs[0].run_id)).unlink()
    (folder.path / trace_place(planned.runs[1].run_id)).write_bytes(b"torn")
    planned, _, _ = prepared("full")
    with Ledger.open(folder.path, read_only=True) as ledger:
        assert [run.run_id for run in pending_work(planned, ledger).runs] == [run.run_id for run in planned.runs[:2]]


def test_what_never_began_has_no_trace_and_is_not_run_again_for_it(scene, prepared):
    (scene.folder / "raises_ctl.py").write_text(RAISES)
    manifest = scene.document("raises_ctl:Raises")
    planned, folder, spec = prepared("events", manifest)
    spec = replace(spec, canary=False)
    assert collect(planned, folder, spec).statuses == {"faulted": 6}
    assert not (folder.path / "traces").exists()
    assert collect(planned, folder, spec).ran == 0


def test_the_file_says_where_it_comes_from(prepared):
    planned, folder, spec = prepared("full")
    collect(planned, folder, spec)
    with Ledger.open(folder.path, read_only=True) as ledger:
        record = ledger.records()[0]
    metadata = trace_metadata(folder.path / trace_place(record.run_id))
    asked = ("run_id", "plan_id", "code_id", "seed", "mujoco", "numpy", "bit_class")
    said = {"run_id": record.run_id, "plan_id": record.plan_id, "code_id": record.code_id, "seed": str(record.seed),
            **record.node}  # fmt: skip
    assert {key: metadata[key] for key in asked} == {key: said[key] for key in asked}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("is_here", [True, False])
def test_ray_workers_leave_the_same_files(prepared, is_here):
    planned, folder, _ = prepared("full")
    files = RunFiles.of(folder.path)
    kept = {}
    execute_shard(planned.runs, keep=kept.__setitem__)
    with RayExecutor(2) as executor:
        seen = files if is_here else RunFiles(files.folder, files.inode + 1)
        for records in executor.execute(ShardQueue(planned.runs), seen):
            assert all(os.path.isfile(folder.path / trace_place(record.run_id)) for record in records)
    assert traces(folder) == sorted(os.path.basename(place) for place in kept)
    for place, content in kept.items():
        expected = pq.ParquetFile(pa.BufferReader(content)).read()
        assert pq.ParquetFile(folder.path / place).read().equals(expected)
