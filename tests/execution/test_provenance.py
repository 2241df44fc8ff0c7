"""Who asked, with what: enough to have the code again, in the header, the session and the table's last line."""

from __future__ import annotations

import os
import subprocess

import pytest
from rich.console import Console

from analysis import compare, render
from analysis.source import short_git
from sweep.execution import provenance as module
from sweep.execution.collect import collect
from sweep.execution.executor import InlineExecutor
from sweep.execution.folder import SweepFolder
from sweep.execution.node import node_fingerprint
from sweep.execution.planning import plan_sweep
from sweep.execution.provenance import git_state, provenance
from sweep.results import Ledger


def git(*words: str) -> str:
    who = ["-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(scene, monkeypatch):
    """A working directory with one commit."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(scene.folder.parent))
    git("init", "--quiet", "--initial-branch=main")
    (scene.folder / "gains.py").write_text("KP = 1.0\nKD = 0.1\n")
    git("add", "gains.py")
    git("commit", "--quiet", "-m", "first")
    return scene.folder


def test_a_clean_repository_is_its_commit(repository):
    (repository / "untracked.txt").write_text("is not asked for\n")
    state = git_state()
    assert state == {"commit": git("rev-parse", "HEAD").strip(), "branch": "main", "dirty": False}
    assert short_git(state) == state["commit"][:7]


def test_uncommitted_changes_are_kept_so_that_they_can_be_had_again(repository):
    changed = "KP = 2.0  # größer\nKD = 0.1\n"
    (repository / "gains.py").write_text(changed)
    state = git_state()
    assert state["dirty"]
    assert short_git(state) == f"{state['commit'][:7]}+dirty"
    git("checkout", "--quiet", "--", "gains.py")
    subprocess.run(["git", "apply"], input=state["diff"] + "\n", text=True, check=True)
    assert (repository / "gains.py").read_text() == changed


def test_of_many_changes_the_digest_alone_is_kept(repository, monkeypatch):
    monkeypatch.setattr(module, "MOST_DIFF", 10)
    (repository / "gains.py").write_text("KP = 2.0\n")
    first = git_state()
    assert first["diff"] is None
    (repository / "gains.py").write_text("KP = 3.0\n")
    assert git_state()["diff_id"] != first["diff_id"]


def test_without_a_repository_or_git_there_is_none(scene, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(scene.folder.parent))
    assert git_state() is None
    monkeypatch.setenv("PATH", str(scene.folder))
    assert git_state() is None
    assert provenance()["git"] is None


@pytest.mark.slow
def test_header_session_and_table_say_what_the_numbers_come_from(repository, scene):
    (repository / "gains.py").write_text("KP = 2.0\n")
    spec = scene.spec(overrides=("+latency=0.002,0.005",))
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    collect(planned, folder, spec, executor=InlineExecutor(1))
    with Ledger.open(folder.path, read_only=True) as ledger:
        header, session = ledger.header, ledger.session()
    for told in (header.provenance, session.provenance):
        assert told["command"] == ["python", "-m", "sweep", "+latency=0.002,0.005"]
        assert told["versions"]["mujoco"] == node_fingerprint()["mujoco"]
        assert told["machine"] == node_fingerprint()
        assert "+KP = 2.0" in told["git"]["diff"]
    assert header.model_id
    console = Console(width=100, color_system=None)
    with console.capture() as shown:
        console.print(render(compare(folder.path), width=100))
    commit = git("rev-parse", "HEAD")[:7]
    last = shown.get().rstrip().splitlines()[-1]
    assert last == f"git {commit}+dirty, code {header.code_id[:8]}, mujoco {node_fingerprint()['mujoco']}"
