"""A failure capsule is enough: one file, opened alone, fails again in the same way and shows what led there."""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import CapsuleError
from sweep.plan import load_manifest
from sweep.runtime import resolve_plan
from sweep.runtime.hosting.capsule import Capsule, capsule_of
from sweep.runtime.hosting.capsule_file import load_capsule, write_capsule
from sweep.runtime.hosting.host import SimulationHost
from tests.runtime.scenes import CART, cart, plan_of

WILD = [0, 1e9, 0, 1e12]
"""Gains that no step size survives."""


def unstable():
    document = cart()
    document["controllers"]["fb"]["parameters"]["gain"] = WILD
    document["components"]["drive"]["actuators"] = "twist"
    return plan_of(document)


def raising():
    document = cart()
    document["controllers"]["fb"] |= {"class": "tests.runtime.controllers:Gain",
                                      "parameters": {"gain": 3.0, "bad": 1.0, "at": 42}}  # fmt: skip
    return plan_of(document)


def faulted(plan, seed=3, commands=()):
    instance = plan.instantiate(seed)
    for values in commands:
        instance.enqueue_external_input("drive", values, source_id="operator")
        instance.advance(20)
    if instance.fault is None:
        instance.advance(180)
    assert instance.fault is not None
    return instance


def nan_command():
    return faulted(plan_of(cart(controllers={})), commands=([1.5], [float("inf")], [float("nan")]))


CASES = {"unstable": lambda: faulted(unstable()), "raising": lambda: faulted(raising()), "nan": nan_command}


@pytest.fixture(params=CASES)
def instance(request):
    return CASES[request.param]()


def test_a_capsule_from_disk_fails_again_in_the_same_way(instance, tmp_path):
    path = write_capsule(capsule_of(instance), tmp_path / "deep" / "run.capsule")
    assert [p.name for p in path.parent.iterdir()] == ["run.capsule"]
    capsule = load_capsule(path)
    again = capsule.replay()
    assert again.fault == instance.fault
    assert again.trace_digest == instance.trace_digest == capsule.trace_digest
    assert again.record == instance.record
    assert capsule.plan().layout == instance.plan.layout
    assert again.seed == 3


def test_it_holds_what_led_to_the_fault(instance):
    capsule = capsule_of(instance)
    history = capsule.history
    assert history.first_tick + len(history.states) - 1 == instance.tick
    np.testing.assert_array_equal(history.qpos[-1], instance.snapshot().qpos)
    assert capsule.outcome == instance.record.outcome
    assert capsule.outcome.message == instance.fault.message
    assert repr(capsule.inputs) == repr(instance.recorded_inputs)  # NaN is not itself
    assert set(capsule.versions) >= {"mujoco", "numpy", "sweep"}


def test_what_is_written_is_what_is_read(instance, tmp_path):
    capsule = replace(capsule_of(instance), cell="latency=0.1", code_id="abc", parameters={"a.b": [1, 2.5]},
                      code={"my/ctl.py": b"x = 1\n"}, files={"fb": {"weights": b"\0\1"}})  # fmt: skip
    read = load_capsule(write_capsule(capsule, tmp_path / "a.capsule"))
    for part in ("states", "controls"):
        np.testing.assert_array_equal(getattr(read.history, part), getattr(capsule.history, part))
    assert repr(replace(read, history=None)) == repr(replace(capsule, history=None))
    assert (read.code, read.files, read.source) == (capsule.code, capsule.files, capsule.source)
    assert read.model.binary == capsule.model.binary
    assert (read.history.first_tick, read.history.names) == (capsule.history.first_tick, capsule.history.names)
    again = write_capsule(read, tmp_path / "b.capsule")
    assert again.read_bytes() == (tmp_path / "a.capsule").read_bytes(), "nothing of when or where it was written"


def test_any_tool_can_look_into_it(instance, tmp_path):
    path = write_capsule(capsule_of(instance), tmp_path / "a.capsule")
    with zipfile.ZipFile(path) as archive:
        document = json.loads(archive.read("capsule.json"), parse_constant=pytest.fail)  # no NaN, which JSON has not
        assert {"capsule.json", "model.mjb", "states.npy", "controls.npy"} <= set(archive.namelist())
    assert document["outcome"]["message"] == instance.fault.message
    assert document["manifest"]["components"]["enc"]["type"] == "encoder"


def test_stopping_earlier_shows_the_boundary_on_the_way():
    instance = faulted(raising())
    again = capsule_of(instance).replay(20)
    assert (again.tick, again.fault) == (20, None)
    assert again.history.states[-1, 0] == pytest.approx(0.02)
    assert capsule_of(instance).replay(10_000).fault == instance.fault


def test_a_run_that_nothing_stopped_is_replayed_to_where_it_stands(tmp_path):
    instance = plan_of(cart()).instantiate(np.int64(3))
    instance.advance(20)
    again = load_capsule(write_capsule(capsule_of(instance), tmp_path / "a.capsule")).replay()
    assert again.record == instance.record


@pytest.mark.parametrize("broken", [{"manifest": {}}, {"timestep": "1/0"}, {"timestep": None}, {"versions": {}}])
def test_a_broken_capsule_says_so(broken):
    capsule = capsule_of(plan_of(cart()).instantiate())
    with pytest.raises(CapsuleError, match="is broken"):
        replace(capsule, **broken).replay()


def test_injected_state_is_not_replayed_but_shown():
    plan = plan_of(cart())
    instance = plan.instantiate(3)
    instance.advance(10)
    instance.inject("joint_kinematics:hinge", (1e200, 0.0))
    instance.advance(10)
    capsule = capsule_of(instance)
    assert capsule.outcome.kind == "diverged"
    assert capsule.history.first_tick + len(capsule.history.states) - 1 == 10
    again = capsule.replay()
    assert (again.tick, again.fault) == (11, None)


def test_a_hosts_capsule_is_that_of_the_episode_that_faulted(tmp_path):
    plan = unstable()
    with SimulationHost(plan, 3) as host:
        host.wait(20)
        host.reset(4)
        host.wait(20)
    assert host.capsule.seed == 4
    path = write_capsule(host.capsule, tmp_path / "a.capsule")
    assert load_capsule(path).replay().record == faulted(plan, 4).record == host.record


def from_files(tmp_path):
    """A model of two files, one of them beside and above the other, and a controller's file."""
    model = tmp_path / "robot" / "mjcf" / "cart.xml"
    model.parent.mkdir(parents=True)
    text = CART.format(integrator="Euler").replace("<mujoco>", '<mujoco><include file="../common.xml"/>')
    model.write_text(text)
    (model.parent.parent / "common.xml").write_text('<mujoco><option gravity="0 0 -9"/></mujoco>')
    document = cart()
    document["model"] = {"file": "robot/mjcf/cart.xml", "initial": {"hinge": 0.1}}
    document["controllers"]["fb"]["parameters"]["gain"] = WILD
    document["components"]["drive"]["actuators"] = "twist"
    return resolve_plan(load_manifest(document, folder=tmp_path))


def test_the_users_files_are_not_needed_any_more(tmp_path):
    plan = from_files(tmp_path)
    instance = faulted(plan)
    path = write_capsule(capsule_of(instance), tmp_path / "a.capsule")
    (tmp_path / "robot").rename(tmp_path / "gone")
    capsule = load_capsule(path)
    assert sorted(capsule.source.files) == ["common.xml", "mjcf/cart.xml"]
    assert capsule.source.main == "mjcf/cart.xml"
    assert capsule.replay().record == instance.record


@pytest.mark.parametrize("inline", [True, False])
def test_another_mujoco_compiles_the_models_own_files(tmp_path, inline):
    instance = faulted(unstable() if inline else from_files(tmp_path))
    capsule = capsule_of(instance)
    elsewhere = replace(capsule, versions={**capsule.versions, "mujoco": "3.99.0"},
                        model=replace(capsule.model, binary=b"no model of ours"))  # fmt: skip
    read = load_capsule(write_capsule(elsewhere, tmp_path / "a.capsule"))
    assert read.plan().plan_id == instance.plan.plan_id
    assert read.replay().record == instance.record
    with pytest.raises(CapsuleError, match=r"no model that this MuJoCo can read \(mujoco .* is installed, it was 3.99"):
        replace(read, source=None).replay()


def test_a_model_whose_files_are_gone_has_its_compiled_self(tmp_path):
    instance = faulted(from_files(tmp_path))
    (tmp_path / "robot").rename(tmp_path / "gone")
    capsule = capsule_of(instance)
    assert capsule.source is None
    assert capsule.replay().record == instance.record


def test_files_that_controllers_read_come_along(tmp_path):
    weights = tmp_path / "policy.npz"
    np.savez(weights, **{"weights.0": np.full((1, 4), np.nan), "biases.0": np.zeros(1)})
    document = cart()
    document["controllers"]["fb"] |= {"class": "tests.runtime.test_capsule:Table", "files": {"table": "policy.npz"}}
    document["controllers"]["fb"]["parameters"] = {}
    plan = resolve_plan(load_manifest(document, folder=tmp_path))
    instance = faulted(plan)
    capsule = load_capsule(write_capsule(capsule_of(instance), tmp_path / "a.capsule"))
    weights.unlink()
    assert capsule.replay().record == instance.record
    elsewhere = replace(capsule, versions={**capsule.versions, "mujoco": "3.99.0"})
    assert elsewhere.replay().record == instance.record


class Table:
    """A controller whose numbers come from a file."""

    def __init__(self, setup):
        import io

        self.gain = np.load(io.BytesIO(setup.files["table"]))["weights.0"][0]

    def compute(self, step):
        return step.inputs["enc"].values[:, :1] * self.gain[:1]


def test_another_reading_of_the_manifest_is_refused():
    capsule = capsule_of(faulted(unstable()))
    older = replace(capsule, plan_id="0" * 16, versions={**capsule.versions, "sweep": "0.0.1"})
    with pytest.raises(CapsuleError, match=r"is read differently \(sweep .* is installed, it was 0.0.1\)"):
        older.plan()
    unknown = replace(capsule, manifest={**capsule.manifest, "surprise": 1})
    with pytest.raises(CapsuleError, match="surprise"):
        unknown.plan()


def test_a_run_that_never_began_has_no_history(tmp_path):
    plan, outcome = unstable(), faulted(unstable()).record.outcome
    capsule = load_capsule(write_capsule(Capsule.of(plan, 3, outcome), tmp_path / "a.capsule"))
    assert (capsule.history, capsule.trace_digest, capsule.inputs) == (None, "", ())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["There is no file", "run.capsule", "Capsules in", "other.capsule"]),
        (b"", ["run.capsule is no capsule, or a broken one"]),
        (b"PK\x03\x04 torn", ["no capsule, or a broken one"]),
        ("without.json", ["no capsule, or a broken one", "capsule.json"]),
        ("later", ["format 2, this version reads 1", "install the version that wrote it"]),
        ("half", ["no capsule, or a broken one"]),
    ],
)
def test_a_file_that_is_no_capsule_is_told(tmp_path, content, words):
    other = write_capsule(capsule_of(faulted(raising())), tmp_path / "other.capsule")
    path = tmp_path / "run.capsule"
    if content in ("without.json", "later"):
        with zipfile.ZipFile(other) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                if name != "capsule.json":
                    new.writestr(name, old.read(name))
                elif content == "later":
                    new.writestr(name, json.dumps({**json.loads(old.read(name)), "format": 2}))
    elif content == "half":
        path.write_bytes(other.read_bytes()[: other.stat().st_size // 2])
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(CapsuleError) as told:
        load_capsule(path)
    for word in words:
        assert word in str(told.value)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write_capsule(capsule_of(faulted(raising())), tmp_path_factory.mktemp("whole") / "a.capsule")


@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_is_read_or_told(whole, place, byte, cut):
    data = bytearray(whole.read_bytes())
    at = int(place * len(data))
    data[at] ^= byte
    damaged = whole.with_name("damaged.capsule")
    damaged.write_bytes(data[: at + 1] if cut else data)
    with suppress(CapsuleError):
        assert load_capsule(damaged).seed == 3


def test_where_it_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CapsuleError, match="cannot be written: "):
        write_capsule(capsule_of(faulted(raising())), tmp_path / "file" / "a.capsule")


def test_it_writes_nothing_outside_of_its_own_folder():
    capsule = replace(capsule_of(faulted(raising())), code={"../../escaped.py": b""})
    with pytest.raises(CapsuleError, match="outside of its folder"):
        capsule.plan()
