"""Interrupted, resumed, refused: what a person does with a sweep that did not run through, in a terminal of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from sweep.results import Ledger
from sweep.results.attempts import Ending
from tests.end_to_end.conftest import ROOT

pytestmark = pytest.mark.slow

SCENE = """# @package _global_
pause: null
limit: null
manifest:
  schema: "3.3"
  model: {file: pole.xml}
  runtime: {duration_s: 0.05}
  components:
    enc: {type: encoder, joints: hinge, measures: [position], period_s: 0.007, white_std: 0.001}
    drive: {type: torque, actuators: motor, timeout_s: 0.1}
  controllers:
    hand:
      class: my_hand:Hand
      period_s: 0.01
      inputs: enc
      outputs: drive
      parameters: {pause: "${axis:pause, 0.2}", limit: "${axis:limit, 100.0}"}
  metrics:
    a: {type: rms, joint: hinge, unit: rad, window: until_end}
"""
MODEL = """<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody><body>
<joint name="hinge" type="hinge" axis="0 1 0"/><geom size=".1" mass="1" pos="0 0 .5"/></body></worldbody>
<actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""
HAND = """
import time


class Hand:
    def __init__(self, setup):
        time.sleep(float(setup.parameters["pause"].max()))
        limits = setup.parameters["limit"][:, 0]
        if (limits < 10).any():
            raise ValueError(f"{limits[0]:g} is too low")

    def compute(self, step):
        return 0 * step.inputs["enc"].values
"""
WORDS = ("scene=mine", "tracking=none", "canary=false")
ONE_BY_ONE = ("executor=inline", "executor.shard_s=0.0001")
HERE = (*WORDS, "executor=inline", "executor.shard_s=0.05")


@pytest.fixture
def mine(tmp_path):
    """A scene whose controllers take their time, and fail where ``limit`` is low."""
    (tmp_path / "conf" / "scene").mkdir(parents=True)
    (tmp_path / "conf/scene/mine.yaml").write_text(SCENE)
    (tmp_path / "conf/scene/pole.xml").write_text(MODEL)
    (tmp_path / "my_hand.py").write_text(HAND)
    return tmp_path


@pytest.fixture
def terminal(mine):
    """Starts a command in a terminal of its own; what is typed there, Ctrl-C too, reaches all of its processes."""
    started = []

    def call(*words, kind="dumb"):
        started.append(Terminal(mine, words, kind))
        return started[-1]

    yield call
    for one in started:
        one.end()


class Terminal:
    def __init__(self, folder, words, kind):
        self._screen, inside = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "RAY_ADDRESS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sweep", *words],
            cwd=folder,
            env={**env, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "TERM": kind},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            preexec_fn=self._take,
        )
        os.close(inside)
        self.text = ""

    @staticmethod
    def _take():
        """Make the terminal the one that controls this process."""
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read_until(self, pattern, timeout_s=90):
        """Read the screen until a pattern is on it, or the program has ended."""
        deadline = time.monotonic() + timeout_s
        while not (pattern and re.search(pattern, self.text)):
            assert time.monotonic() < deadline, self.text
            try:
                self.text += os.read(self._screen, 4096).decode(errors="replace")
            except OSError:  # the other end is closed
                assert pattern is None, self.text
                break
        return self.text

    def type(self, keys):
        os.write(self._screen, keys)

    def wait(self):
        self.read_until(None)
        return self.process.wait(60)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._screen)


def ledger_of(folder):
    (path,) = (folder / "sweeps").glob("*/ledger.sqlite")
    return path


def wait_for_records(folder, count, timeout_s=90):
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        for path in (folder / "sweeps").glob("*/ledger.sqlite"):
            with Ledger.open(path, read_only=True) as ledger:
                if len(ledger.statuses()) >= count:
                    return path
        time.sleep(0.05)
    raise AssertionError("no records came")


def test_a_terminal_shows_the_table_so_far(terminal):
    screen = terminal("+pause=0.05,0.06", *WORDS, *ONE_BY_ONE, "seeds=30", kind="xterm")
    assert screen.wait() == 0, screen.text
    assert "waiting" in screen.text, "a word of tables that are not complete yet"
    assert "60 runs in" in screen.text


@pytest.mark.parametrize("executor", ["inline", pytest.param("ray", marks=pytest.mark.soak)])
def test_ctrl_c_once_finishes_what_runs_and_says_how_to_go_on(terminal, sweep, mine, executor):
    words = (*WORDS, f"executor={executor}", "executor.shard_s=0.05", "seeds=100")
    screen = terminal("+pause=0.3,0.31", *words)
    path = wait_for_records(mine, 3)
    screen.type(b"\x03")
    code = screen.wait()
    assert code == 130, screen.text
    assert "stopping: what runs may finish for 10 s; Ctrl-C again stops at once" in screen.text
    (left, folder) = re.search(r"(\d+) runs to go: python -m sweep resume (\S+)", screen.text).groups()
    assert "Traceback" not in screen.text
    with Ledger.open(path, read_only=True) as ledger:
        done = len(ledger.statuses())
        assert ledger.state == "interrupted"
        endings = {a.ending for h in ledger.leases.histories().values() for a in h.attempts}
    assert int(left) == 200 - done > 0
    assert endings == {Ending.ANSWERED}, "what ran has finished"
    with Ledger.open(path, read_only=True) as ledger:
        before = ledger.records()
    after = sweep("resume", folder, "executor=inline", "executor.shard_s=5")
    assert after.code == 0, after.err
    assert re.search(rf"{done} of 200 runs are reused; {left} to run: {left} new, about \d+ (s|min)", after.err)
    with Ledger.open(path, read_only=True) as ledger:
        assert len(ledger.statuses()) == 200
        assert ledger.superseded() == []
        kept = {r.run_id: r for r in ledger.records()}
        assert all(kept[r.run_id] == r for r in before)


def test_ctrl_c_twice_stops_now_and_loses_only_what_was_in_hand(terminal, sweep, mine):
    screen = terminal("+pause=0.2,60", *HERE, "seeds=1")
    path = wait_for_records(mine, 1)
    screen.type(b"\x03")
    screen.read_until("Ctrl-C again stops at once")
    started = time.monotonic()
    screen.type(b"\x03")
    assert screen.wait() == 130, screen.text
    assert time.monotonic() - started < 8, "nobody waited for the grace to end"
    assert "1 run to go" in screen.text
    with Ledger.open(path, read_only=True) as ledger:
        assert [a.ending for h in ledger.leases.histories(unanswered=True).values() for a in h.attempts] == [
            Ending.CANCELLED
        ]
        assert ledger.state == "interrupted"
    again = terminal("resume", str(path.parent), *("executor=inline",))
    again.read_until("1 of 2 runs are reused; 1 to run: 1 stopped before")
    assert again.process.poll() is None


def test_a_scheduler_that_asks_politely_is_obeyed(terminal, mine):
    screen = terminal("+pause=0.2", *HERE, "seeds=300")
    wait_for_records(mine, 1)
    screen.process.send_signal(signal.SIGTERM)
    assert screen.wait() == 130, screen.text
    assert "runs to go: python -m sweep resume" in screen.text


def test_a_second_driver_is_refused_and_the_death_of_the_first_lets_it_in(terminal, sweep, mine):
    words = ("+pause=0.2,600", *HERE, "seeds=1")
    screen = terminal(*words)
    path = wait_for_records(mine, 1)
    for again in (words, ("resume", str(path.parent))):
        second = sweep(*again)
        assert second.code == 2
        assert f"process {screen.process.pid} on " in second.err
        assert re.search(r", since 2\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d.* is writing the sweep in", second.err)
    screen.process.kill()
    screen.process.wait()
    third = terminal("resume", str(path.parent))
    third.read_until("1 of 2 runs are reused; 1 to run: 1 in hand when the driver died")
    assert third.process.poll() is None


def test_resume_needs_the_folder_alone_and_runs_all_that_was_asked(sweep, mine, tmp_path_factory):
    assert sweep("+pause=0,0.001", *HERE, "seeds=2").code == 0
    assert sweep("+pause=0.002", *HERE, "seeds=[7]").code == 0
    folder = ledger_of(mine).parent
    moved = folder.rename(tmp_path_factory.mktemp("elsewhere") / "another_name")
    with Ledger.open(moved) as ledger:
        gone = ledger.runs()[1].run_id
        ledger._database._connection.execute("DELETE FROM records WHERE run_id = ?", (gone,))
    answer = sweep("resume", str(moved), cwd=tmp_path_factory.mktemp("far_away"))
    assert answer.code == 0, answer.err
    assert "4 of 5 runs are reused; 1 to run" in answer.err
    assert "another_name: 3 cells" in answer.err
    again = sweep("resume", str(moved), "--quiet")
    assert (again.code, again.err) == (0, "")


def test_what_changed_is_told_and_what_to_type_instead(sweep, mine):
    assert sweep("+pause=0,0.001", *HERE, "seeds=1").code == 0
    folder = ledger_of(mine).parent
    scene, hand, model = mine / "conf/scene/mine.yaml", mine / "my_hand.py", mine / "conf/scene/pole.xml"
    scene.write_text(SCENE.replace("white_std: 0.001", "white_std: 0.002"))
    hand.write_text(HAND + "\n# another thought\n")
    model.write_text(MODEL.replace('mass="1"', 'mass="2"'))
    answer = sweep("resume", str(folder))
    assert answer.code == 2
    lines = answer.err.splitlines()
    assert lines[0] == f"{folder} cannot be resumed, for what it was made from has changed:"
    assert lines[1:4] == [
        "  components.enc.white_std: 0.001 -> 0.002",
        "  pole.xml changed",
        "  my_hand.py changed",
    ]
    words = re.fullmatch(r"A new folder for what is there now: python -m sweep (.*)", lines[4]).group(1)
    another = sweep(*words.split())
    assert another.code == 0
    told = f"a new folder, for it is another sweep than {folder.relative_to(mine)}:"
    assert another.err.splitlines()[1:5] == [told, *lines[1:4]]
    assert len(list((mine / "sweeps").glob("mine-*"))) == 2


def test_a_folder_of_configuration_that_is_gone_is_named(sweep, mine):
    (mine / "conf").rename(mine / "mine_conf")
    assert sweep("+pause=0", "--config-dir", "mine_conf", *HERE, "seeds=1").code == 0
    folder = ledger_of(mine).parent
    assert sweep("resume", str(folder)).code == 0
    (mine / "mine_conf").rename(mine / "away")
    answer = sweep("resume", str(folder))
    assert answer.code == 2
    for said in (f"{folder} cannot be resumed", f"--config-dir {mine}/mine_conf: there is no such folder", "+pause=0"):
        assert said in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "failed", "pending"),
    [([], 3, 0), (["on_failure=stop_after=2"], 2, 2)],
)
def test_failures_are_told_by_cause_and_the_policy_is_obeyed(sweep, mine, words, failed, pending):
    answer = sweep("+limit=50,1,2,51,3", "pause=0", *WORDS, *ONE_BY_ONE, "seeds=1", *words)
    assert answer.code == 1, answer.err
    assert f"{failed} runs failed:" in answer.err
    assert re.search(rf"  {failed} × faulted: .*ValueError: 1 is too low", answer.err)
    command = re.search(r"      python -m sweep (replay \w+ --dir \S+)", answer.err).group(1)
    assert answer.err.count("is too low") == 2, "told when it happens, once for its cause, and listed at the end"
    replayed = sweep(*command.split())
    assert "ValueError: 1 is too low" in replayed.out + replayed.err
    status = json.loads(sweep("status", str(ledger_of(mine).parent), "--json").out)
    assert (status["runs"], status["recorded"]) == (5, 5 - pending)
    if pending:
        assert f"stopping at {failed} failures, as on_failure asks" in answer.err
        assert f"{pending} runs to go: python -m sweep resume" in answer.err
