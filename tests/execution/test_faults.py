"""Whatever dies, hangs or is killed for real: every run is accounted for once, and the healthy ones are as ever."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sweep.cli import main
from sweep.execution import ray_crew
from sweep.results import Ledger
from sweep.results.attempts import Ending

pytestmark = [
    pytest.mark.slow,
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROOT = Path(__file__).parents[2]
MEMORY = 64 * 2**20
SCENE = """# @package _global_
fault: null
pause: null
manifest:
  schema: "3.3"
  model: {file: pole.xml}
  runtime: {duration_s: 0.05}
  components:
    enc: {type: encoder, joints: hinge, measures: [position], period_s: 0.007, white_std: 0.001}
    drive: {type: torque, actuators: motor, timeout_s: 0.1}
  controllers:
    hand:
      class: faulty:Faulty
      period_s: 0.01
      inputs: enc
      outputs: drive
      parameters: {fault: "${axis:fault, 0.0}", pause: "${axis:pause, 0.0}"}
  metrics:
    a: {type: rms, joint: hinge, unit: rad, window: until_end}
"""
FAULTY = """
import ctypes, os, signal, time
import numpy as np

def hang():
    ctypes.PyDLL(None).pause()  # keeps the interpreter to itself: nothing but SIGKILL ends it

def segfault():
    ctypes.string_at(0)

def kill():
    os.kill(os.getpid(), signal.SIGKILL)

def memory():
    with open(GROUP, "w") as group:
        group.write(str(os.getpid()))
    hoard = []
    while True:
        hoard.append(np.ones(2**20))

FAULTS = {1: hang, 2: segfault, 3: kill, 4: memory}

class Faulty:
    def __init__(self, setup):
        self.faults = [FAULTS[f] for f in setup.parameters["fault"][:, 0] if f in FAULTS]
        self.pause = setup.parameters["pause"].max()
    def compute(self, step):
        for fault in self.faults:
            fault()
        time.sleep(self.pause)
        return -step.inputs["enc"].values
"""
HANG, SEGFAULT, KILL, HOARD = range(1, 5)
WORDS = ("scene=mine", "tracking=none", "canary=false")


@pytest.fixture(scope="module")
def group() -> Iterator[Path | None]:
    """The list of processes of a memory cgroup: who is on it is killed by the kernel if it takes too much."""
    for place, limit in (("memory", "memory.limit_in_bytes"), ("", "memory.max")):
        made = Path("/sys/fs/cgroup", place, f"sweep-test-{os.getpid()}")
        try:
            made.mkdir()
        except OSError:
            continue
        try:
            (made / limit).write_text(str(MEMORY))
            yield made / "cgroup.procs"
            return
        except OSError:
            continue
        finally:
            made.rmdir()
    yield None


@pytest.fixture(scope="module")
def mine(tmp_path_factory, group, make_document):
    """A folder with a scene whose controller does the worst, or takes its time."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "conf" / "scene").mkdir(parents=True)
    (folder / "conf/scene/mine.yaml").write_text(SCENE)
    (folder / "conf/scene/pole.xml").write_text(make_document()["model"]["xml"])
    (folder / "faulty.py").write_text(f"GROUP = {str(group)!r}\n{FAULTY}")
    return folder


@pytest.fixture
def here(mine, monkeypatch):
    monkeypatch.chdir(mine)
    monkeypatch.syspath_prepend(str(mine))
    return mine


def begin(folder, *words):
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "RAY_ADDRESS")}
    return subprocess.Popen(
        [sys.executable, "-m", "sweep", *words],
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command(folder, *words):
    with begin(folder, *words) as process:
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


class Seen:
    """What is in the ledger of the only sweep in a folder."""

    def __init__(self, output):
        (self.path,) = output.glob("*/ledger.sqlite")
        with Ledger.open(self.path, read_only=True) as ledger:
            self.records = {record.run_id: record for record in ledger.records()}
            self.histories = ledger.leases.histories()
            self.superseded = ledger.superseded()
            self.planned = [run.run_id for run in ledger.runs()]
            self.fault = {r.run_id: cell_fault(ledger, r.cell_id) for r in ledger.runs()}

    @property
    def statuses(self):
        return Counter(record.outcome.status.value for record in self.records.values())

    def of(self, fault):
        (found,) = (record for run_id, record in self.records.items() if self.fault[run_id] == fault)
        return found

    def endings(self, fault):
        return [attempt.ending for attempt in self.histories[self.of(fault).run_id].attempts]

    def deaths(self, fault):
        return self.histories[self.of(fault).run_id].deaths

    @property
    def has_death(self):
        return any(history.deaths for history in self.histories.values())


def cell_fault(ledger, cell_id):
    (values,) = (cell.values for cell in ledger.cells() if cell.cell_id == cell_id)
    return values.get("fault")


def undisturbed(folder, name, *words):
    """The records of runs that go wrong nowhere."""
    assert main([*WORDS, *words, "executor=inline", f"output={name}", "--quiet"]) == 0
    return Seen(folder / name).records


def test_every_death_and_hang_is_isolated_and_named_and_the_others_complete(here, group, monkeypatch, capfd):
    monkeypatch.setattr(ray_crew, "GRACE_S", 1.0)
    healthy = (0, 10, 11)
    deadly = (SEGFAULT, KILL if group is None else HOARD)
    # The first four run alone, so that the other worker has all the rest while one hangs.
    faults = ",".join(map(str, (0, HANG, deadly[0], 10, 11, deadly[1])))
    words = (*WORDS, f"fault={faults}", "seeds=1", "executor.timeout_s=8", "output=all")
    expected = undisturbed(here, "healthy", f"fault={','.join(map(str, healthy))}", "seeds=1")
    capfd.readouterr()
    assert main([*words, "executor=ray", "executor.workers=2"]) == 1
    first, (out, err) = Seen(here / "all"), capfd.readouterr()
    # Here, those that died would take this process along, and those that were late would be late again.
    assert main([*words, "executor=inline"]) == 1
    again, told = Seen(here / "all"), capfd.readouterr().err

    assert sorted(first.records) == sorted(first.planned)
    assert first.statuses == {"completed": len(healthy), "timed_out": 1, "lost": len(deadly)}
    assert first.superseded == []
    assert {run_id: first.records[run_id] for run_id in expected} == expected
    for fault in deadly:
        lost = first.of(fault)
        assert lost.outcome.status == "lost"
        assert first.deaths(fault) >= 3
        assert "died (its process ended: a crash, a kill, or no memory)" in lost.outcome.message
    late = first.of(HANG)
    assert "no answer within executor.timeout_s=8, so its worker was killed" in late.outcome.message
    assert late.wall_s > 8
    assert set(first.endings(HANG)) - {Ending.RETURNED} == {Ending.OVERDUE}
    assert "1 timed out" in out
    assert f"{1 + len(deadly)} runs failed:" in err
    assert re.search(r"python -m sweep resume \S+ executor\.timeout_s=\d+", err)

    assert f"{1 + len(healthy)} of {len(first.planned)} runs are reused; nothing is left to run" in told
    assert f"{len(deadly)} lost runs killed the process before" in told
    assert (again.records, again.superseded) == (first.records, [])


def test_a_run_that_kills_the_driver_is_lost_after_its_attempts_and_auto_takes_it_to_a_process_of_its_own(here):
    words = (*WORDS, f"fault=0,10,{SEGFAULT},11,12", "seeds=1", "output=crash")
    codes = []
    while not codes or codes[-1] == -signal.SIGSEGV:
        assert len(codes) < 6
        code, out, err = command(here, *words, "executor=inline")
        codes.append(code)
    assert codes == [-signal.SIGSEGV] * 3 + [1], err
    seen = Seen(here / "crash")
    assert seen.statuses == {"completed": 4, "lost": 1}
    assert seen.superseded == []
    lost = seen.of(SEGFAULT)
    assert seen.endings(SEGFAULT) == [Ending.ORPHANED] * 3
    assert "alone, by the driver: orphaned" in lost.outcome.message
    assert "1 lost" in out
    assert "1 lost run killed the process before and must not do so again here: executor=ray" in err
    expected = undisturbed(here, "alive", "fault=0,10,11,12", "seeds=1")
    assert {run_id: seen.records[run_id] for run_id in expected} == expected

    code, _, err = command(here, *words)
    assert code == 1, err
    assert "ray: 1 run may kill the process they run in" in err
    again = Seen(here / "crash")
    assert again.of(SEGFAULT).attempt == 4
    assert again.endings(SEGFAULT)[-1] is Ending.DIED
    assert {run_id: again.records[run_id] for run_id in expected} == expected


def test_a_limit_that_nothing_meets_is_told_and_a_longer_one_runs_them(here, capfd):
    words = (*WORDS, "pause=0,0.001", "seeds=2", "executor=inline", "output=late")
    assert main([*words, "executor.timeout_s=1e-6"]) == 1
    out, err = capfd.readouterr()
    late = Seen(here / "late")
    assert late.statuses == {"timed_out": 4}
    assert "2 timed out" in out
    assert "executor.timeout_s=1e-06 was over with 0.0" in err
    assert "executor.timeout_s=1e-06 is looked at between steps in this process; executor=ray also ends" in err
    assert main([*words, "executor.timeout_s=1e-6"]) == 1
    assert "4 of 4 runs are reused; nothing is left to run" in capfd.readouterr().err
    assert main([*words, "executor.timeout_s=null"]) == 0
    err = capfd.readouterr().err
    assert "4 to run: 4 out of time before" in err
    assert "looked at between steps" not in err
    seen = Seen(here / "late")
    assert seen.records == undisturbed(here, "prompt", "pause=0,0.001", "seeds=2")
    assert len(seen.superseded) == 4


def test_kill_9_of_a_worker_the_raylet_and_the_driver_costs_what_was_in_hand(here):
    runs, words = 60, (*WORDS, "pause=0.2,0.25", "seeds=30")
    ray = ("executor=ray", "executor.workers=2", "executor.shard_s=0.01", "output=killed")
    with begin(here, *words, *ray) as process:
        until(process, lambda: len(Seen(here / "killed").records) >= 2)
        (raylet,) = descendants(process.pid, "raylet/raylet")
        os.kill(descendants(raylet, "ray::ShardWorker.run")[0], signal.SIGKILL)
        until(process, lambda: Seen(here / "killed").has_death)
        os.kill(raylet, signal.SIGKILL)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 1, err
    first = Seen(here / "killed")
    done = len(first.records)
    assert "its raylet was killed or has crashed" in err
    assert f"{done} of {runs} runs are committed; the same command runs the others." in err
    assert "Traceback" not in err

    with begin(here, *words, *ray) as process:
        until(process, lambda: len(Seen(here / "killed").records) >= done + 2)
        process.kill()
    second = Seen(here / "killed")
    assert done + 2 <= len(second.records) < runs

    code, _, err = command(here, *words, "executor=inline", "output=killed")
    assert code == 0, err
    seen = Seen(here / "killed")
    assert seen.records == undisturbed(here, "peace", "pause=0.2,0.25", "seeds=30")
    assert sorted(seen.records) == sorted(seen.planned)
    assert seen.superseded == []
    assert all(seen.records[run_id] == record for run_id, record in {**first.records, **second.records}.items())


def until(process, condition):
    """Wait for what a sweep does; there is no ledger at first."""
    give_up = time.monotonic() + 200
    while True:
        with suppress(ValueError):
            if condition():
                return
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < give_up
        time.sleep(0.1)


def descendants(pid, name):
    """Processes below one whose command line has a name in it."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid:
                child = int(place.name)
                found += [child] if name in (place / "cmdline").read_text().replace("\0", " ") else []
                found += descendants(child, name)
    return found
