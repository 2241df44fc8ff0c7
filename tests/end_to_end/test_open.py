"""A run that faults leaves a capsule, and one command opens it anywhere."""

from __future__ import annotations

import json
import re
import shutil
import zipfile

import pytest

pytestmark = pytest.mark.slow

SCENE = """
# @package _global_
kp: null
manifest:
  schema: "3.3"
  model: {file: arm/pole.xml, initial: {hinge: 0.4}}
  runtime: {duration_s: 0.3}
  components:
    enc: {type: encoder, joints: hinge, period_s: 0.002, latency_s: 0.002, white_std: 0.001}
    drive: {type: torque, actuators: motor}
  controllers:
    pd: {class: "lab.control:Pd", period_s: 0.01, inputs: enc, outputs: drive, parameters: {kp: "${axis:kp, 1.0}"}}
  metrics:
    rms: {type: rms, joint: hinge, unit: rad, window: horizon}
"""
MODEL = """<mujoco><include file="option.xml"/><worldbody><body><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass="1" contype="0" conaffinity="0"/></body></worldbody>
<actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""
CONTROL = '''
import numpy as np
from lab.limits import LAST_S


class Pd:
    """After LAST_S its command is no number (kp 2), or it raises (kp 3); with kp 4 it cannot be built."""

    def __init__(self, setup):
        self.kp = setup.parameters["kp"]
        if (self.kp == 4).any():
            raise RuntimeError("no such gain")

    def compute(self, step):
        late = step.time_s > LAST_S
        if late and (self.kp == 3).any():
            raise ArithmeticError("lost my way")
        return np.where(late & (self.kp == 2), np.nan, -self.kp * step.inputs["enc"].values)
'''
FILES = {
    "conf/scene/pole.yaml": SCENE,
    "conf/scene/arm/pole.xml": MODEL,
    "conf/scene/arm/option.xml": '<mujoco><option timestep="0.001"/></mujoco>',
    "lab/__init__.py": "",
    "lab/control.py": CONTROL,
    "lab/limits.py": "LAST_S = 0.1\n",
}
QUIET = ("scene=pole", "tracking=none", "executor=inline")


@pytest.fixture
def lab(tmp_path):
    place = tmp_path / "lab"
    for name, text in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


def capsules(answer):
    """Fault message, to the file that the line names."""
    return dict(re.findall(r": ([^:\n]*)  \(open (\S+\.capsule)\)", answer.err))


def test_a_fault_is_opened_far_from_where_it_happened(lab, sweep, tmp_path_factory):
    ran = sweep("kp=1,2,3", "seeds=1", *QUIET, cwd=lab)
    assert ran.code == 1, ran.err
    named = capsules(ran)
    told = sweep("status", str(next((lab / "sweeps").iterdir())), cwd=lab).out
    assert len(named) == 2, ran.err
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for number, (message, place) in enumerate(named.items()):
        assert message in told
        assert f"python -m sweep open {place}" in told
        shutil.copy(lab / place, elsewhere / f"{number}.capsule")
    shutil.rmtree(lab)
    for number, message in enumerate(named):
        opened = sweep("open", f"{number}.capsule", cwd=elsewhere)
        assert opened.code == 0, opened.out + opened.err
        assert "the same fault and the same digest" in opened.out
        for word in (message, "seed 0", "controllers.pd.parameters.kp", "(hinge)", "motor", "enc", "mujoco"):
            assert word in opened.out
        assert ("faulted with" in opened.out) == ("BADCTRL" in message), "the control that no step survived"
    assert sorted(p.name for p in elsewhere.iterdir()) == ["0.capsule", "1.capsule"]


def test_tick_stops_on_the_way(lab, sweep):
    (place,) = capsules(sweep("kp=3", "seeds=1", *QUIET, cwd=lab)).values()
    answer = sweep("open", place, "--tick", "50", cwd=lab)
    assert answer.code == 0, answer.err
    assert "replayed up to boundary 50 (0.05 s)" in answer.out
    rows = [int(line.split()[0]) for line in answer.out.splitlines() if re.match(r"\d+ +0\.", line)]
    assert rows == list(range(39, 51))
    wrong = sweep("open", place, "--tick", "early", cwd=lab)
    assert wrong.code == 2
    assert "0 or more; found 'early'" in wrong.err


def test_a_controller_that_was_mended_does_not_fail_again(lab, sweep):
    (place,) = capsules(sweep("kp=3", "seeds=1", *QUIET, cwd=lab)).values()
    (lab / "lab" / "limits.py").write_text("LAST_S = 9.0\n")
    answer = sweep("open", place, cwd=lab)
    assert answer.code == 1, answer.out
    assert "does not end the same way: no fault by tick 111" in answer.out
    assert "the code that decides the bits is another" in answer.out


def test_a_controller_that_cannot_be_built_says_so_again(lab, sweep):
    ran = sweep("kp=4", "seeds=1", *QUIET, cwd=lab)
    (place,) = capsules(ran).values()
    answer = sweep("open", place, cwd=lab)
    assert answer.code == 0, answer.out + answer.err
    assert "raised before its first step, as before" in answer.out
    assert "RuntimeError: no such gain" in answer.out


def test_a_capsule_of_another_mujoco_is_compiled_anew_or_shown(lab, sweep):
    (place,) = capsules(sweep("kp=3", "seeds=1", *QUIET, cwd=lab)).values()

    def edited(name, **changes):
        with zipfile.ZipFile(lab / place) as old, zipfile.ZipFile(lab / name, "w") as new:
            for entry in old.namelist():
                document = json.loads(old.read(entry)) if entry == "capsule.json" else None
                if document is not None:
                    document["versions"]["mujoco"] = "3.99.0"
                    new.writestr(entry, json.dumps({**document, **changes}))
                else:
                    new.writestr(entry, b"other" if entry == "model.mjb" else old.read(entry))

    edited("compiled.capsule")
    answer = sweep("open", "compiled.capsule", cwd=lab)
    assert answer.code == 0, answer.out + answer.err
    assert "the same fault and the same digest" in answer.out
    edited("bare.capsule", source=None)
    answer = sweep("open", "bare.capsule", cwd=lab)
    assert answer.code == 1, answer.out + answer.err
    for word in (
        "lost my way",
        "no model that this MuJoCo can read",
        "it was 3.99.0",
        "the last boundaries",
        "(hinge)",
    ):
        assert word in answer.out


def test_what_is_no_capsule_is_told(lab, sweep):
    (lab / "torn.capsule").write_bytes(b"PK")
    for words, expected in ((["nix.capsule"], "There is no file nix.capsule. Capsules in .: torn.capsule"),
                            (["torn.capsule"], "no capsule, or a broken one"), ([], "CAPSULE is missing")):  # fmt: skip
        answer = sweep("open", *words, cwd=lab)
        assert answer.code == 2
        assert expected in answer.err
        assert "Traceback" not in answer.err


def test_of_many_that_fail_alike_a_few_are_kept(lab, sweep):
    ran = sweep("kp=3", "seeds=5", "canary=false", *QUIET, cwd=lab)
    assert len(list(lab.glob("sweeps/*/capsules/*.capsule"))) == 3
    assert "2 runs that faulted have no capsule: at most 3 of a cause" in ran.err
    assert ran.err.count("(open sweeps/") == 1, "runs that fail alike are told once"
    assert "5 × faulted" in ran.err
