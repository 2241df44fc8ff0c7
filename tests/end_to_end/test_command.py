"""The command line, end to end."""

from __future__ import annotations

import json
import re

import pytest

from analysis import load
from tests.end_to_end.conftest import QUICK

pytestmark = pytest.mark.slow


def folder_of(answer) -> str:
    return re.search(r"results: (\S+)", answer.err).group(1)


def test_the_main_job(sweep, tmp_path):
    answer = sweep("+latency=0.002,0.005", "seeds=4", "manifest.runtime.duration_s=0.5")
    assert answer.code == 0, answer.err
    assert "tracking_error_rms" in answer.out
    assert "identical noise" in answer.out
    assert re.search(r"4 +4 completed", answer.out)
    assert "MLflow is up to date" in answer.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sweeps"], "nothing else is written where the user works"
    frame = load(tmp_path / folder_of(answer))
    assert {"run_id", "cell_id", "seed", "outcome", "trace_digest", "latency", "tracking_error_rms"} <= set(frame)
    assert len(frame) == 8
    assert frame.latency.value_counts().to_dict() == {0.002: 4, 0.005: 4}


def test_the_same_command_again_runs_nothing_and_more_values_extend(sweep, tmp_path):
    first = sweep("+latency=0,0.01", "seeds=3", *QUICK)
    again = sweep("+latency=0,0.01", "seeds=3", *QUICK)
    more = sweep("+latency=0,0.01,0.02", "seeds=4", *QUICK)
    assert [a.code for a in (first, again, more)] == [0, 0, 0]
    assert "0 runs in" in again.err
    assert "6 known before" in again.err
    assert "6 runs in" in more.err
    assert folder_of(first) == folder_of(again) == folder_of(more)
    assert again.out == first.out
    assert len(load(tmp_path / folder_of(first))) == 12


def test_units_and_spellings_name_the_same_cells(sweep, tmp_path):
    plain = sweep("plan", "--json", "+latency=0.002,0.005", "seeds=2", *QUICK)
    units = sweep("plan", "--json", "latency=2ms,5e-3", "seeds=[0,1]", *QUICK)
    assert json.loads(plain.out)["cells"] == json.loads(units.out)["cells"]
    assert not list(tmp_path.iterdir()), "plan writes nothing"


def test_bare_run_lists_the_axes(sweep):
    answer = sweep("seeds=2", *QUICK)
    assert answer.code == 0
    for axis in ("latency", "noise_scale", "mass_scale", "control_period"):
        assert f"+{axis}=" in answer.out
    assert "components.encoders.latency_s" in answer.out


def test_status_and_replay_and_compare(sweep, tmp_path):
    ran = sweep("+latency=0,0.01", "seeds=3", *QUICK)
    folder = folder_of(ran)
    status = json.loads(sweep("status", folder, "--json").out)
    assert (status["runs"], status["recorded"], status["outcomes"]) == (6, 6, {"completed": 6})
    run_id = load(tmp_path / folder).run_id.iloc[-1]
    replayed = sweep("replay", run_id[:10], "--plot", "pair.html")
    assert replayed.code == 0, replayed.err
    assert "same digest" in replayed.out
    page = (tmp_path / "pair.html").read_text()
    assert "seed 2" in page
    assert "slider" in page
    compared = sweep("compare", folder)
    assert compared.code == 0
    assert compared.out.split() == ran.out.split()


def test_replay_tells_when_the_digest_is_another(sweep, tmp_path):
    ran = sweep("+latency=0,0.01", "seeds=1", *QUICK)
    folder = tmp_path / folder_of(ran)
    manifest = (folder / "manifest.yaml").read_text()
    (folder / "manifest.yaml").write_text(manifest.replace("white_std: 0.001", "white_std: 0.002"))
    answer = sweep("replay", load(folder).run_id.iloc[0])
    assert answer.code == 2
    assert "manifest.yaml was changed" in answer.err


def test_ends_are_outcomes_not_failures(sweep):
    answer = sweep("+latency=0,0.1", "seeds=4", "manifest.runtime.duration_s=3", *QUICK[:1], *QUICK[2:])
    assert answer.code == 0
    assert "4 fell" in answer.out
    assert "withheld" in answer.out


def test_a_run_that_diverges_is_told_counted_and_makes_the_exit_code_1(sweep, tmp_path):
    gain = "manifest.controllers.balancer.parameters.gain=[9.54,68.6,11.4,12.5],[-9.54,-68.6,-11.4,-12.5]"
    wild = ("manifest.components.motor.timeout_s=0.1", "~manifest.components.fall", "~manifest.components.rail")
    answer = sweep(gain, "seeds=2", *QUICK, *wild, "+manifest.model.edits.strong={fields: actuator_gear, scale: 1e13}")
    assert answer.code == 1, answer.out + answer.err
    assert "faulted" in answer.err
    assert "PhysicsStep" in answer.err
    assert re.search(r"\d faulted", answer.out)
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["+latncy=1"], ["'latncy'", "'latency'", "mass_scale"]),
        (["latency=fast"], ["fast", "latency=0.002"]),
        (["latency=nan"], ["not finite"]),
        (["latency="], ["latency", "nothing was given"]),
        (["latency=-1"], ["latency=-1", "greater than or equal to 0"]),
        (["seeds=0"], ["seeds=0", "at least 1"]),
        (["seeds=1,5"], ["seeds=[1,5]"]),
        (["scene=armm"], ["'armm'", "'arm'", "cartpole"]),
        (["executor=foo"], ["'foo'", "inline", "ray"]),
        (["manifest.metrics.effort_rms.type=foo"], ["'foo'", "max_abs"]),
        (["manifest.components.encoders.type=encodr"], ["'encodr'", "'encoder'"]),
        (["manifest.components.encoders.joints=[hing]"], ["'hing'", "'hinge'"]),
        (["+manifest.components.encoders.quantization=strict", "manifest.components.encoders.period_s=0.0015"],
         ["0.0015", "0.0005 s"]),
        (["manifest.model.file=nix.xml"], ["no such file", "cartpole.xml"]),
        (["manifest.controllers.balancer.class=nix.nix:Nix"], ["cannot import 'nix.nix'"]),
        (["+latncy=1", "latency=fast", "seeds=0", "executor=foo"],
         ["4 problems", "'latncy'", "fast", "seeds=0", "'foo'"]),
        (["frobnicate"], ["unknown verb", "replay"]),
        (["--jsn"], ["unknown option"]),
        (["status", "nowhere"], ["nowhere"]),
        (["replay", "abc"], ["No run begins with 'abc'"]),
        (["tracking.uri=./mlruns", "+latency=0,0.01"], ["sqlite:///"]),
    ],
)  # fmt: skip
def test_bad_input_is_answered_well(sweep, tmp_path, words, expected):
    given = list(words) if words[0] in ("status", "replay", "frobnicate", "--jsn") else ["scene=cartpole", *words]
    if "scene=armm" in words:
        given = words
    answer = sweep(*given)
    assert answer.code == 2, answer.out + answer.err
    assert "Traceback" not in answer.out + answer.err
    for word in expected:
        assert word in answer.err
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_malformed_yaml_and_duplicate_keys_are_told_with_their_place(sweep, tmp_path):
    scene = tmp_path / "conf" / "scene" / "mine.yaml"
    scene.parent.mkdir(parents=True)
    for text, expected in [("a: [1\nb: 2\n", "line"), ("latency: null\nlatency: null\n", "stands twice")]:
        scene.write_text("# @package _global_\n" + text)
        answer = sweep("scene=mine")
        assert answer.code == 2
        assert expected in answer.err
        assert "mine.yaml" in answer.err
        assert "Traceback" not in answer.err


def test_help_and_version(sweep):
    answer = sweep("--help")
    assert answer.code == 0
    for word in ("+latency=0.002,0.005", "replay", "compare", "scene=", "cartpole"):
        assert word in answer.out
    assert sweep("--version").out.startswith("fibril-sweep ")
    assert "latency" in sweep("--cfg", "job").out


@pytest.mark.parametrize(("scene", "latencies"), [("arm", "0.002,0.005")])
def test_ray_gives_identical_records_and_replay_does(sweep, tmp_path, scene, latencies):
    words = (f"+latency={latencies}", "seeds=3", f"scene={scene}", "manifest.runtime.duration_s=0.3", "tracking=none")
    here = sweep(*words, "executor=inline", "output=inline")
    there = sweep(*words, "executor=ray", "output=ray")
    assert here.code == there.code == 0, there.err
    assert here.out == there.out
    frames = [
        load(next((tmp_path / place).glob("*/ledger.sqlite"))).sort_values("run_id", ignore_index=True)
        for place in ("inline", "ray")
    ]
    assert frames[0].equals(frames[1])
    replayed = sweep("replay", frames[1].run_id.iloc[-1], "--dir", "ray")
    assert replayed.code == 0
    assert "same digest" in replayed.out


def test_the_table_is_of_the_cells_and_seeds_asked_for(sweep):
    many = sweep("+latency=0,0.01,0.02", "seeds=6", *QUICK)
    few = sweep("+latency=0,0.01", "seeds=3", *QUICK)
    assert "0 runs in" in few.err
    assert re.search(r"\b6  6 completed", many.out)
    assert re.search(r"\b3  3 completed", few.out)
    assert "6 completed" not in few.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["mass_scale=-1,0"], ["mass_scale=-1", "mass_scale=0", "above 0"]),
        (["latency=range(0,20ms,5ms)"], ["range() takes plain numbers"]),
        (["latency=interval(0,1)"], ["an interval has no values of its own", "design=lhs design.n=16"]),
        (["latency=range(0,1,0)"], ["step other than 0"]),
    ],
)
def test_numbers_that_make_no_sense(sweep, tmp_path, words, expected):
    answer = sweep("scene=cartpole", *words)
    assert answer.code == 2
    for word in expected:
        assert word in answer.err
    assert not list(tmp_path.iterdir())


def test_plan_is_quick_whatever_the_horizon(sweep):
    answer = sweep("plan", "--json", "scene=cartpole", "manifest.runtime.duration_s=1e6", "seeds=1", timeout=60)
    assert answer.code == 0
    assert json.loads(answer.out)["estimate_s"] > 60


def test_pictures_go_where_they_can(sweep, tmp_path):
    ran = sweep("+latency=0,0.01", "seeds=1", *QUICK)
    run_id = load(tmp_path / folder_of(ran)).run_id.iloc[0]
    for target, expected in (("pair.png", "draws HTML"), ("nowhere/pair.html", "No such file")):
        answer = sweep("replay", run_id, "--plot", target)
        assert answer.code == 2
        assert expected in answer.err
        assert "Traceback" not in answer.err


def test_a_terminal_without_unicode_is_served(sweep):
    answer = sweep("+latency=0,0.01", "seeds=2", *QUICK, PYTHONIOENCODING="ascii")
    assert answer.code == 0, answer.err


def test_ui_says_what_is_missing(sweep, tmp_path):
    for words, expected in ((["ui"], "mlflow.db yet"), (["ui", "--port", "80000"], "1 to 65535")):
        answer = sweep(*words)
        assert answer.code == 2
        assert expected in answer.err
    assert not list(tmp_path.iterdir())
