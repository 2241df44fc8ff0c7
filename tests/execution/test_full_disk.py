"""A disk that fills up, and a folder that cannot be written: a clear stop, and nothing of what was there is harmed."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sweep.design import ExecutorSpec
from sweep.errors import LedgerError, StoppedError
from sweep.execution import capsules
from sweep.execution.collect import collect
from sweep.execution.executor import InlineExecutor
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import plan_sweep
from sweep.results import Ledger
from sweep.results.attempts import Ending, State
from sweep.results.traces import trace_place
from tests.analysis.synthetic import cell, header, record, run_row

PAGE = 4096
ROOT = Path(__file__).parents[2]


class SmallDisk:
    """A file system of its own, of 4 MB."""

    def __init__(self, path):
        self.path = path
        self._ballast = path / "ballast"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")

    @property
    def free(self):
        """Bytes that still fit."""
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def leave(self, size):
        """Fill it up to some bytes; None empties it again."""
        self._ballast.unlink(missing_ok=True)
        if size is not None:
            self._ballast.write_bytes(bytes(max(0, self.free - size)))

    def remount(self, mode):
        subprocess.run(["mount", "-o", f"remount,{mode}", str(self.path)], check=True)


@pytest.fixture
def disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    path = tmp_path / "disk"
    path.mkdir()
    made = SmallDisk(path)
    yield made
    subprocess.run(["umount", "-l", str(path)], check=True)


def check(path):
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize("pages", [0, 1, 2, 3, 5, 8, 13, 21])
def test_a_ledger_on_a_full_disk_keeps_what_it_has_and_goes_on_later(disk, pages):
    place, path = cell(), disk.path / "sweep" / "ledger.sqlite"
    ids = [run_row(place, seed)[0] for seed in range(400)]
    with Ledger.create(path, header()) as ledger:
        ledger.add_cells([place])
        ledger.add_runs(run_row(place, seed) for seed in range(400))
        ledger.begin({})
        disk.leave(pages * PAGE)
        told = []

        def work():
            for first in range(0, 400, 20):
                ledger.leases.lease(ids[first : first + 20])
                told.extend(ledger.append(record(place, seed) for seed in range(first, first + 20)))

        with pytest.raises(LedgerError, match=r"The disk is full|the disk failed, is full|cannot be written"):
            work()
        assert ledger.records() == told
        with Ledger.open(path, read_only=True) as reader:
            assert reader.records() == told
    with Ledger.open(path, read_only=True) as reader:
        assert reader.records() == told
    disk.leave(None)
    check(path)
    with Ledger.open(path) as ledger:
        histories = ledger.leases.histories(unanswered=True).values()
        assert all(a.ending is Ending.CANCELLED for h in histories for a in h.attempts), "no run is to blame"
        ledger.append(record(place, seed) for seed in range(400))
        assert len(ledger.records()) == 400
        assert {h.state for h in ledger.leases.histories().values()} <= {State.DONE}


@pytest.mark.parametrize("free", [0, 2 * PAGE])
def test_a_sweep_that_cannot_begin_says_so_and_leaves_nothing_half_made(disk, scene, free):
    scene.output = disk.path / "sweeps"
    spec = scene.spec()
    planned = plan_sweep(spec)
    disk.leave(free)
    with pytest.raises(LedgerError, match=r"(cannot be written|cannot be made|disk is full|No space left)") as caught:
        SweepFolder.prepare(planned, spec)
    assert str(disk.path) in str(caught.value)
    assert not SweepFolder.of(planned, spec).ledger.exists()
    disk.leave(None)
    folder = SweepFolder.prepare(planned, spec)
    assert collect(planned, folder, spec).ran == 6


class OneByOne(InlineExecutor):
    def execute(self, queue, files=None):
        queue._lanes = 1
        return super().execute(queue, files)


@pytest.mark.parametrize("trace", ["summary", "events"])
@pytest.mark.parametrize("pages", [9, 24])
def test_a_sweep_stops_clearly_and_the_same_command_finishes_it(disk, scene, trace, pages):
    scene.output = disk.path / "sweeps"
    manifest = scene.document(duration_s=0.3)
    manifest["runtime"]["trace"] = trace
    spec = scene.spec(manifest=manifest, seeds=range(30), executor=ExecutorSpec(kind="inline"))
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    disk.leave(None)
    events = []
    with Ledger.open(folder.ledger) as ledger:
        ledger.add_cells(planned.cells)
        ledger.add_runs((r.run_id, r.cell_id, r.plan.plan_id, r.seed) for r in planned.runs)
    disk.leave(pages * PAGE)
    with pytest.raises(StoppedError, match=r"of 60 runs are committed; the same command runs the others"):
        collect(planned, folder, spec, events.append, executor=OneByOne(1))
    disk.leave(None)
    check(folder.ledger)
    assert not list(folder.path.rglob("*.draft"))
    with Ledger.open(folder.path, read_only=True) as ledger:
        kept = ledger.records()
        assert ledger.state == "interrupted"
    assert len(kept) == events[-1].done
    report = collect(planned, folder, spec)
    assert (report.reused, report.ran, report.pending) == (len(kept), 60 - len(kept), 0)
    with Ledger.open(folder.path, read_only=True) as ledger:
        after = {r.run_id: r for r in ledger.records()}
        assert all(after[r.run_id] == r for r in kept)
        assert ledger.superseded() == []
    if trace == "events":
        assert all((folder.path / trace_place(run.run_id)).is_file() for run in planned.runs)


RAISING_CTL = """
class Raising:
    def __init__(self, setup): raise ValueError("no")
    def compute(self, step): ...
"""


def test_capsules_that_do_not_fit_stop_nothing(disk, scene):
    scene.output = disk.path / "sweeps"
    (scene.folder / "full_disk_ctl.py").write_text(RAISING_CTL)
    document = scene.document("full_disk_ctl:Raising")
    spec = scene.spec(manifest=document, executor=ExecutorSpec(kind="inline"), canary=False)
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)

    write = capsules.write_capsule

    def cramped(capsule, path):
        disk.leave(0)
        try:
            return write(capsule, path)
        finally:
            disk.leave(None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capsules, "write_capsule", cramped)
        report = collect(planned, folder, spec, executor=OneByOne(1))
    assert report.statuses == {"faulted": 6}
    assert "6 runs that faulted have no capsule" in report.remark
    assert not list(folder.path.rglob("*.capsule*"))


def test_a_file_system_that_became_read_only(disk, scene):
    scene.output = disk.path / "sweeps"
    spec = scene.spec(executor=ExecutorSpec(kind="inline"))
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    collect(planned, folder, spec)
    more = scene.spec(seeds=range(9), executor=ExecutorSpec(kind="inline"))
    disk.remount("ro")
    with Ledger.open(folder.path, read_only=True) as ledger:
        assert len(ledger.records()) == 6
        assert ledger.state == "finished"
    with pytest.raises(LedgerError, match=r"cannot be written: Read-only file system"):
        collect(plan_sweep(more), SweepFolder.prepare(plan_sweep(more), more), more)
    disk.remount("rw")
    assert collect(plan_sweep(more), folder, more).ran == 12


@pytest.mark.slow
def test_the_command_stops_with_advice_and_the_same_command_goes_on(disk, tmp_path):
    words = ("scene=cartpole", "manifest.runtime.duration_s=0.2", "tracking=none", "executor=inline", "canary=false")

    def sweep():
        return subprocess.run(
            [sys.executable, "-m", "sweep", *words, "+latency=0,0.01", "seeds=60", f"output={disk.path}/sweeps"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    disk.leave(200 * 1024)
    stopped = sweep()
    assert stopped.returncode == 1, stopped.stderr
    assert "Traceback" not in stopped.stderr
    last = stopped.stderr.splitlines()[-1]
    assert re.search(
        r"free some space and start again\. \d+ of 120 runs are committed; the same command runs the", last
    )
    disk.leave(None)
    finished = sweep()
    assert finished.returncode == 0, finished.stderr
    assert re.search(r"\d+ of 120 runs are reused; \d+ to run: .*stopped before", finished.stderr)
