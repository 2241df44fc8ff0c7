"""Files that controllers read are part of the Plan, and stay with the sweep; what controllers remark is told once."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from sweep.cli.progress import ProgressDisplay
from sweep.cli.status import status_document, status_lines
from sweep.execution.code import code_id
from sweep.execution.collect import collect
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import plan_sweep
from sweep.execution.replay import replayable
from sweep.results import Ledger
from sweep.runtime import resolve_plan

POLICY = "sweep.runtime.controllers:NumpyPolicy"
SWEPT = "manifest.controllers.fb.files.weights"

CHATTY = """
class C:
    packages = ("numpy", "no-such-distribution")
    def __init__(self, setup):
        self.remarks = ("slow today", "and tomorrow")
    def compute(self, step):
        return -step.inputs["enc"].values[:, :1]
"""


def write(path, gain):
    path.parent.mkdir(exist_ok=True)
    np.savez(path, w0=np.array([[-gain], [-1.0]]), b0=np.zeros(1))


@pytest.fixture
def spec_of(scene):
    """Sweeps of the pole over policies in a folder beside the scene."""
    for name, gain in (("a", 10.0), ("b", 20.0), ("c", 30.0)):
        write(scene.folder / "nets" / f"{name}.npz", gain)

    def call(*names, base="a"):
        document = scene.document(POLICY, {"activation": "identity"})
        document["controllers"]["fb"]["files"] = {"weights": f"nets/{base}.npz"}
        return scene.spec(manifest=document, swept={SWEPT: tuple(f"nets/{name}.npz" for name in names)}, seeds=(1,))

    return call


def run(spec, on_event=None):
    planned = plan_sweep(spec)
    folder = SweepFolder.prepare(planned, spec)
    collect(planned, folder, spec, on_event)
    return planned, folder


def test_runs_are_replayed_when_the_files_are_gone(spec_of, scene):
    planned, folder = run(spec_of("a", "b"))
    more, extended = run(spec_of("c"))
    assert extended.path == folder.path
    for file in (scene.folder / "nets").iterdir():
        file.unlink()
    digests = set()
    for wanted in (*planned.runs, *more.runs):
        plan, record, _ = replayable(folder.path, wanted.run_id)
        assert plan.plan_id == wanted.plan.plan_id
        assert plan.instantiate(record.seed).run().trace_digest == record.trace_digest
        digests.add(record.trace_digest)
    assert len(digests) == 3


def test_a_sweep_is_named_by_what_its_files_hold(spec_of, scene):
    name = plan_sweep(spec_of("b")).header.name
    (scene.folder / "nets" / "c.npz").write_bytes((scene.folder / "nets" / "a.npz").read_bytes())
    assert plan_sweep(spec_of("b", base="c")).header.name == name
    write(scene.folder / "nets" / "a.npz", 11.0)
    assert plan_sweep(spec_of("b")).header.name != name


def test_packages_that_a_controller_names_are_part_of_its_code(scene, monkeypatch):
    (scene.folder / "chatty_ctl.py").write_text(CHATTY)
    monkeypatch.syspath_prepend(scene.folder)
    plan = resolve_plan(scene.document("chatty_ctl:C"))
    versions = {"numpy": "1", "mujoco": "4", "numba": "1"}

    def installed(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    from sweep.execution import code

    metadata = code.metadata
    monkeypatch.setattr(metadata, "version", installed)
    found = []
    for change in ({}, {"no-such-distribution": "1"}, {"no-such-distribution": "2"}, {"another": "1"}):
        versions.update(change)
        code._code_id.cache_clear()
        code._code_parts.cache_clear()
        found.append(code_id(plan))
    code._code_id.cache_clear()
    code._code_parts.cache_clear()
    assert len(set(found)) == 3
    assert found[-1] == found[-2]


def test_what_controllers_remark_is_told_once_and_kept(scene):
    (scene.folder / "remarking_ctl.py").write_text(CHATTY)
    told = io.StringIO()
    with ProgressDisplay(Console(file=told, width=200)) as display:
        _, folder = run(scene.spec(manifest=scene.document("remarking_ctl:C")), display.show)
    assert told.getvalue() == "controllers.fb: slow today\ncontrollers.fb: and tomorrow\n"
    with Ledger.open(folder.ledger, read_only=True) as ledger:
        lines = status_lines(status_document(ledger))
    assert lines[-2:] == ["controllers.fb: and tomorrow", "controllers.fb: slow today"]
