"""The syncer as a process: it follows a driver, outlives it, and may itself be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sweep.results import Ledger
from sweep.tracking.__main__ import NICENESS
from sweep.tracking.destination import Destination
from sweep.tracking.process import UNREACHABLE, start_syncer
from tests.analysis.synthetic import build, fill, header, latencies
from tests.tracking.stores import Store, count, said, until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
TWO = latencies(0.002, 0.005)


def test_the_syncer_follows_a_driver(store, tmp_path):
    folder = tmp_path / "s"
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        ledger.add_cells(TWO)
        syncer = start_syncer(folder, store.destination)
        fill(ledger, TWO[:1], range(4))
        until(lambda: TWO[0].cell_id in store.runs()[1])
        assert syncer.poll() is None
        assert store.runs()[0].info.status == "RUNNING"
        fill(ledger, TWO, range(4))
        ledger.finish()
        assert syncer.wait(150) == 0
    assert syncer.describe() == f"MLflow is up to date: {store.destination.uri}"
    assert syncer.trouble == ""
    assert store.states() == ["FINISHED"] * 3


def test_physics_comes_before_the_syncer(store, tmp_path):
    """Linux shares cores out among sessions first, where it is told to: there its own niceness is not enough."""
    folder = tmp_path / "s"
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        syncer = start_syncer(folder, store.destination)
        until(lambda: os.getpriority(os.PRIO_PROCESS, syncer.pid) == NICENESS)
        group = Path(f"/proc/{syncer.pid}/autogroup")
        if group.exists():
            until(lambda: group.read_text().endswith(f"nice {NICENESS}\n"))
        syncer.stop()


def test_the_syncer_ends_after_a_driver_that_was_killed(store, tmp_path):
    """A driver without ``finish()``, as a kill leaves it; nothing is written where the syncer stands."""
    code = (
        "import os, signal, sys; sys.path.insert(0, {root!r})\n"
        "from tests.analysis.synthetic import *\n"
        "from sweep.tracking.destination import Destination\n"
        "from sweep.tracking.process import start_syncer\n"
        "ledger = Ledger.create({folder!r} + '/ledger.sqlite', header())\n"
        "ledger.begin({{}})\n"
        "fill(ledger, latencies(0.002, 0.005), range(4), lambda c, s: record(c, s) if s < 3 else None)\n"
        "syncer = start_syncer({folder!r}, Destination.of_sweep({output!r}, 'arm', environment={{}}))\n"
        "print(syncer.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    stand = tmp_path / "stand"
    stand.mkdir()
    code = code.format(root=str(Path(__file__).parents[2]), folder=str(tmp_path / "s"), output=str(tmp_path))
    driver = subprocess.run([sys.executable, "-c", code], cwd=stand, capture_output=True, text=True, check=False)
    assert driver.returncode == -signal.SIGKILL
    pid = int(driver.stdout)
    until(lambda: not Path(f"/proc/{pid}").exists())
    assert store.states() == ["KILLED"] * 3
    assert not list(stand.iterdir())


@pytest.mark.soak
def test_a_syncer_leaves_the_driver_that_follows_to_the_syncer_of_that(store, tmp_path):
    """A driver that is killed and started again at once never seems to be gone; `sync` in between changes nothing."""
    folder = tmp_path / "s"
    elsewhere = Store(tmp_path, experiment="elsewhere")
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        ledger.add_cells(TWO)
        other = start_syncer(folder, elsewhere.destination)
        first = start_syncer(folder, store.destination)
        fill(ledger, TWO[:1], range(4))
        assert start_syncer(folder, store.destination, once=True).wait(150) == 0
        assert first.poll() is None
        ledger.begin({})
        second = start_syncer(folder, store.destination)
        assert first.wait(150) == 0
        assert second.poll() is None
        fill(ledger, TWO, range(4))
        ledger.finish()
        assert (second.wait(150), other.wait(150)) == (0, 0)
    assert store.states() == elsewhere.states() == ["FINISHED"] * 3


def test_after_a_kill_of_the_syncer_a_sync_leaves_nothing_running_and_nothing_twice(store, tmp_path):
    cells = latencies(*(0.001 * i for i in range(12)))
    folder = build(tmp_path / "s", cells, range(2))
    syncer = start_syncer(folder, store.destination)
    until(lambda: count(tmp_path / "mlflow.db", "SELECT count(*) FROM runs") >= 5)
    os.kill(syncer.pid, signal.SIGKILL)
    assert syncer.wait(10) == -signal.SIGKILL
    assert "ended with code -9" in syncer.describe()
    assert "RUNNING" in store.states()
    store.sync(folder)
    assert store.states() == ["FINISHED"] * 13
    assert len(store.runs()[1]) == 12
    mended = said(store)
    for run in store.all_runs():
        store.client.delete_run(run.info.run_id)
    store.sync(folder)
    assert said(store) == mended


@pytest.mark.soak
def test_two_syncers_at_once_make_one_database_and_each_run_once(tmp_path):
    """One sweep followed twice, another one beside it, and no database yet."""
    one = build(tmp_path / "s", TWO, range(2))
    other = build(tmp_path / "t", TWO, range(2), name="another")
    destination = Destination.of_sweep(tmp_path, "arm", environment={})
    syncers = [start_syncer(folder, destination) for folder in (one, one, other)]
    assert [syncer.wait(120) for syncer in syncers] == [0, 0, 0], [syncer.describe() for syncer in syncers]
    store = Store(tmp_path)
    assert store.states() == ["FINISHED"] * 6
    assert len({(run.data.tags["sweep.name"], run.info.run_name) for run in store.all_runs()}) == 6


def test_a_folder_that_may_not_be_written_is_mirrored_all_the_same(store, tmp_path):
    folder = build(tmp_path / "s", TWO, range(2))
    if os.getuid() == 0:
        pytest.skip("root may write everything")
    folder.chmod(0o555)
    assert start_syncer(folder, store.destination, once=True).wait(150) == 0
    assert store.states() == ["FINISHED"] * 3


def test_what_is_no_sweep_and_what_is_no_database(tmp_path):
    destination = Destination.of_sweep(tmp_path, "arm", environment={})
    syncer = start_syncer(tmp_path, destination)
    assert syncer.wait(150) == 2
    assert "There is no ledger at" in syncer.trouble
    folder = build(tmp_path / "s", TWO, range(2))
    (tmp_path / "mlflow.db").write_bytes(b"not a database, but long enough to look like one" * 100)
    syncer = start_syncer(folder, destination)
    assert syncer.wait(150) == UNREACHABLE
    assert syncer.trouble.endswith("the file is no database, or a damaged one.")


def test_telemetry_is_off(store):
    from mlflow.telemetry.client import get_telemetry_client

    assert get_telemetry_client() is None
