"""From a spec to runs: all problems at once, nothing written."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

from sweep.errors import InvalidInputError
from sweep.execution.code import code_id
from sweep.execution.node import node_fingerprint
from sweep.execution.planning import identity, plan_sweep
from sweep.execution.provenance import git_state, provenance


def test_runs_go_seed_major_and_the_header_says_what_the_sweep_is(scene):
    planned = plan_sweep(scene.spec(seeds=(3, 1)))
    assert [(run.seed, run.cell_id) for run in planned.runs] == [
        (seed, cell.cell_id) for seed in (3, 1) for cell in planned.cells
    ]
    assert [cell.label for cell in planned.cells] == ["latency=0.002", "latency=0.005"]
    assert planned.baseline == planned.cells[0].cell_id
    assert planned.header.baseline is None
    assert planned.header.name.startswith("pole-")
    assert planned.header.metrics["a"].unit == "rad"
    assert planned.header.axes["latency"].bindings == ("components.enc.latency_s",)
    json.dumps(planned.header.to_json())


def test_the_identity_leaves_out_cells_seeds_and_where_the_model_lies(scene):
    first = plan_sweep(scene.spec()).header
    assert plan_sweep(scene.spec(latency=(0.009,), seeds=(7,))).header.name == first.name
    assert plan_sweep(scene.spec(manifest=scene.document(duration_s=0.06))).header.name != first.name
    moved = {**first.manifest, "model": {**first.manifest["model"], "file": "elsewhere.xml", "xml": None}}
    assert identity(moved, first.model_id, first.code_id) == first.name[-8:]
    assert plan_sweep(scene.spec(name="my try")).header.name == f"my-try-{first.name[-8:]}"


def test_the_problems_of_all_cells_come_together_each_once(scene):
    swept = {"manifest.controllers.fb.period_s": (0.01, 1e-5, 2e-5), "manifest.components.enc.joints": (("nix",),)}
    with pytest.raises(InvalidInputError) as caught:
        plan_sweep(scene.spec(swept=swept, baseline={"latency": 1.0}))
    paths = [problem.path for problem in caught.value.problems]
    assert len(paths) == len(set(map(str, caught.value.problems)))
    assert sum("nix" in p.message for p in caught.value.problems if not p.path.startswith("baseline")) == 1
    assert any("1e-05" in path for path in paths)
    assert any("2e-05" in path for path in paths)
    assert any(path.startswith("baseline") for path in paths)


def test_a_problem_of_the_base_is_not_said_to_be_a_cells(scene):
    manifest = scene.document()
    manifest["components"]["enc"]["joints"] = ["nix"]
    with pytest.raises(InvalidInputError) as caught:
        plan_sweep(scene.spec(manifest=manifest))
    assert [problem.path for problem in caught.value.problems] == ["components.enc.joints"]


def test_nothing_is_written_while_planning(scene):
    plan_sweep(scene.spec())
    with pytest.raises(InvalidInputError):
        plan_sweep(scene.spec(manifest={"schema": "3.3"}))
    assert list(scene.folder.iterdir()) == []


def test_code_id_follows_the_users_whole_package(scene, monkeypatch):
    package = scene.folder / "codepack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("GAIN = 1.0\n")
    (package / "ctl.py").write_text(
        "from codepack.inner import GAIN\nclass C:\n    def __init__(self, setup): pass\n"
        "    def compute(self, step): return -GAIN * step.inputs['enc'].values[:, :1]\n"
    )
    spec = scene.spec(manifest=scene.document(controller="codepack.ctl:C"))
    before = plan_sweep(spec)
    (package / "inner.py").write_text("GAIN = 2.0\n")
    assert code_id(before.base) == before.header.code_id, "what is loaded decides, not what is on disk"
    for name in ("codepack", "codepack.ctl", "codepack.inner"):
        monkeypatch.delitem(__import__("sys").modules, name)
    after = plan_sweep(spec)
    assert after.header.code_id != before.header.code_id
    assert after.header.name != before.header.name
    assert after.base.plan_id == before.base.plan_id


def test_the_fingerprint_names_a_class_of_equal_bits():
    node = node_fingerprint()
    assert {"host", "machine", "features", "python", "mujoco", "numpy", "bit_class"} == set(node)
    assert len(node["bit_class"]) == 8


def test_provenance_is_plain_and_knows_git(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert git_state() is None
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    (tmp_path / "file").write_text("1")
    for words in (["init", "-q"], ["add", "file"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
    assert git_state()["dirty"] is False
    (tmp_path / "file").write_text("2")
    found = provenance(["+latency=1ms"])
    assert found["git"]["dirty"] is True
    assert found["command"][-1] == "+latency=1ms"
    assert json.loads(json.dumps(found)) == found


def test_a_thousand_cells_plan_in_seconds(scene, benchmark):
    spec = replace(scene.spec(), swept={"latency": tuple(1e-5 * k for k in range(1000))}, seeds=(0,))
    planned = benchmark.pedantic(plan_sweep, (spec,), rounds=1)
    assert len(planned.runs) == 1000
