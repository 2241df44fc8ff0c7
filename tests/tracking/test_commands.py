"""What a person sees of MLflow on the command line: sweeps under outages, Ctrl-C, ``sync`` and ``ui``."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from analysis import load
from sweep.cli import main
from sweep.results import Ledger
from sweep.results.ledger import LEDGER_NAME
from tests.analysis.synthetic import build, latencies
from tests.tracking.stores import Store, count, dump, free_port, said, until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).parents[2]
CART = ("scene=cartpole", "+latency=0,0.01", "executor=inline", "canary=false")
UNUSED = "could not be used"


class Command:
    """A command in a process of its own, in ``folder``."""

    def __init__(self, folder: Path, *words: str, **environment: str) -> None:
        left_out = ("PYTHONDONTWRITEBYTECODE", "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "RAY_ADDRESS")
        env = {k: v for k, v in os.environ.items() if k not in left_out}
        env |= {"PYTHONPATH": str(ROOT), "COLUMNS": "100", "PYTHONUNBUFFERED": "1", **environment}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sweep", *words],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # As in a shell in the foreground, wherever the tests run.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def done(self, seconds: float = 240.0) -> Command:
        self.out, self.err = self.process.communicate(timeout=seconds)
        self.code, self.took_s = self.process.returncode, time.monotonic() - self.started
        return self


@pytest.fixture
def command(tmp_path):
    running: list[Command] = []

    def start(*words: str, **environment: str) -> Command:
        running.append(Command(tmp_path, *words, **environment))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.wait()


def folder_of(answer: Command, tmp_path: Path) -> Path:
    return tmp_path / re.search(r"results: (\S+)", answer.err).group(1)


@pytest.mark.soak
def test_a_server_killed_under_a_sweep_and_down_at_the_start_of_the_next(server, command, store, tmp_path):
    database = Path(server.destination.uri.removeprefix("sqlite:///"))
    before = count(database, "SELECT count(*) FROM runs")
    long = command(*CART, "seeds=40", "manifest.runtime.duration_s=10", f"tracking.uri={server.url}")
    until(lambda: count(database, "SELECT count(*) FROM runs") > before, 120)
    assert long.process.poll() is None
    server.end(signal.SIGKILL)
    short = command(*CART, "seeds=4", "manifest.runtime.duration_s=0.5", MLFLOW_TRACKING_URI=server.url)
    folders = []
    for answer, seeds in ((short.done(), 4), (long.done(), 40)):
        assert answer.code == 0, answer.err
        assert len(re.findall(rf"{seeds} +{seeds} completed", answer.out)) == 2
        assert answer.err.count(UNUSED) == 1, "it is said once"
        folder = folder_of(answer, tmp_path)
        last = answer.err.splitlines()[-1]
        assert last.endswith(f"Nothing is lost, python -m sweep sync {folder.relative_to(tmp_path)} completes it.")
        assert len(load(folder)) == 2 * seeds
        folders.append(folder)
    assert short.took_s < 60
    server.start()
    server.wait_until_up()
    # Neither needs to be told where to: one was asked for by name, the other by an environment that is gone.
    answer = command("sync", str(folders[0])).done()
    assert (answer.code, answer.out) == (0, f"MLflow is up to date: {server.url}\n"), answer.err
    there, here = Store(tmp_path, server.url, "cartpole"), Store(tmp_path, None, "cartpole")
    there.sync(folders[1])
    for folder in folders:
        here.sync(folder)
    by_name = [{run.data.tags["sweep.name"] for run in place.all_runs()} for place in (there, here)]
    assert by_name[0] == by_name[1]
    assert there.states() == here.states() == ["FINISHED"] * 6
    assert said(there) == said(here)
    kept = database.parent / "mlartifacts"
    unchanged = dump(database, kept)
    assert [there.sync(folder).unchanged for folder in folders] == [3, 3]
    assert dump(database, kept) == unchanged


def test_ctrl_c_kills_the_runs_in_mlflow_too(command, store, tmp_path):
    (tmp_path / "sweeps").mkdir()
    shutil.move(tmp_path / "mlflow.db", tmp_path / "sweeps")
    answer = command(*CART, "seeds=4000", "manifest.runtime.duration_s=10")

    def has_begun():
        (ledger,) = (tmp_path / "sweeps").glob(f"*/{LEDGER_NAME}")
        with Ledger.open(ledger, read_only=True) as opened:
            return opened.records()

    until(has_begun, 120)
    answer.process.send_signal(signal.SIGINT)
    answer.done()
    assert answer.code == 130, answer.err
    assert "MLflow is" in answer.err
    assert "Traceback" not in answer.err
    there = Store(tmp_path / "sweeps", None, "cartpole")
    until(lambda: set(there.states()) == {"KILLED"}, 120)
    children = there.runs()[1]
    assert children
    assert all(child.data.metrics["outcomes/completed"] >= 1 for child in children.values())


def test_ui_serves_a_sweeps_database_until_ctrl_c(command, store, tmp_path):
    folder = build(tmp_path / "arm-1", latencies(0.002, 0.005), range(2))
    store.sync(folder)
    store.destination.keep(folder)
    before = sorted(tmp_path.iterdir())
    port = free_port()
    ui = command("ui", "arm-1", "--port", str(port))
    said_first, url = (ui.process.stdout.readline().strip() for _ in range(2))
    assert "Ctrl-C ends it" in said_first
    assert url == f"http://127.0.0.1:{port}"
    page = urllib.request.urlopen(url, timeout=10).read()
    assert b"MLflow" in page
    assert Store(tmp_path, url).states() == ["FINISHED"] * 3
    parent, _ = Store(tmp_path, url).runs()
    assert "comparison.txt" in Store(tmp_path, url).artifacts(parent)
    ui.process.send_signal(signal.SIGINT)
    ui.done(60)
    assert (ui.code, ui.out, ui.err) == (0, "", "")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert sorted(tmp_path.iterdir()) == before, "nothing is written where the user stands"


def test_ui_says_where_a_server_is_and_what_is_wrong(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert main(["ui", "--uri", "http://me:hunter2@host:5000"]) == 0
    assert capsys.readouterr().out == "MLflow is served there already: http://me:***@host:5000\n"
    (tmp_path / "mlflow.db").touch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for words, expected in (
            ([], "mlflow.db yet; a sweep makes it"),
            (["elsewhere"], "elsewhere: is no folder"),
            (["--port", "80000"], "1 to 65535"),
            ([".", "--port", str(taken.getsockname()[1])], "is in use"),
            (["--uri", "./mlruns"], "no longer takes a folder"),
            (["--uri", "sqlight:///x.db"], "did you mean 'sqlite'"),
        ):
            assert main(["ui", *words]) == 2
            assert expected in capsys.readouterr().err


def test_sync_says_what_is_wrong(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sync", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    build(tmp_path / "s", latencies(0.002), range(1))
    assert main(["sync", "s", "--uri", "./mlruns"]) == 2
    assert "no longer takes a folder" in capsys.readouterr().err
    assert main(["sync", "s", "--uri", f"http://127.0.0.1:{free_port()}"]) == 1
    told = capsys.readouterr()
    assert "nothing listens there" in told.err
    assert told.out == ""
