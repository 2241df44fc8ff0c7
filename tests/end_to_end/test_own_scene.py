"""A user's own scene: one YAML, an MJCF, and if they like a controller, in a folder of their own."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from analysis import load

pytestmark = pytest.mark.slow

README = Path(__file__).parents[2] / "README.md"


def blocks() -> dict[str, str]:
    """The files that README's walk-through names: a line ``path/to/file`` in code style before each block."""
    text = README.read_text()
    found = re.findall(r"^`([\w./]+)`[^\n]*\n\n```\w+\n(.*?)^```", text, flags=re.S | re.M)
    return dict(found)


@pytest.fixture
def own(tmp_path):
    files = blocks()
    assert {"conf/scene/pendulum.yaml", "conf/scene/pendulum.xml", "my_robot/control.py"} <= set(files)
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path


def test_the_readmes_scene_runs(own, sweep):
    answer = sweep("scene=pendulum", "+latency=0,0.02", "seeds=3", "tracking=none")
    assert answer.code == 0, answer.err
    assert re.search(r"3 +3 completed", answer.out)
    folder = own / re.search(r"results: (\S+)", answer.err).group(1)
    frame = load(folder)
    assert frame.angle_rms.notna().all()
    # The folder explains itself: the model and the controller were copied in.
    (own / "conf" / "scene" / "pendulum.xml").unlink()
    (own / "my_robot" / "control.py").unlink()
    replayed = sweep("replay", frame.run_id.iloc[0])
    assert replayed.code == 0, replayed.err
    assert "same digest" in replayed.out


def test_scalar_and_vector_controllers_are_the_same_controller(own, sweep):
    words = ("scene=pendulum", "+latency=0,0.02", "seeds=3", "tracking=none")
    assert sweep(*words, "output=vector").code == 0
    scalar = sweep(*words, "manifest.controllers.pd.class=my_robot.control:ScalarPd", "output=scalar")
    assert scalar.code == 0, scalar.err
    digests = [
        load(next((own / place).glob("*/ledger.sqlite"))).sort_values(["latency", "seed"]).trace_digest.tolist()
        for place in ("vector", "scalar")
    ]
    assert digests[0] == digests[1]


def test_an_edited_controller_gets_a_new_folder(own, sweep):
    words = ("scene=pendulum", "+latency=0,0.02", "seeds=1", "tracking=none")
    sweep(*words)
    control = own / "my_robot" / "control.py"
    control.write_text(control.read_text() + "\n# another thought\n")
    sweep(*words)
    assert len(list((own / "sweeps").glob("pendulum-*"))) == 2


def test_a_config_dir_elsewhere(own, sweep, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    answer = sweep("--config-dir", str(own / "conf"), "scene=pendulum", "seeds=1", "tracking=none",
                   cwd=elsewhere, PYTHONPATH=f"{own}:{Path(__file__).parents[2]}")  # fmt: skip
    assert answer.code == 0, answer.err


def test_what_is_wrong_in_an_own_scene_is_told_with_its_path(own, sweep):
    scene = own / "conf" / "scene" / "pendulum.yaml"
    scene.write_text(
        scene.read_text().replace("joints: pivot", "joints: pivvot").replace("actuators: motor", "actuators: mtr")
    )
    answer = sweep("scene=pendulum")
    assert answer.code == 2
    for word in ("components.encoder.joints", "'pivot'", "components.drive.actuators", "'motor'"):
        assert word in answer.err
    assert not (own / "sweeps").exists()


def test_what_a_controller_imports_from_beside_it_and_its_data_count_as_code(own, sweep):
    (own / "gains.py").write_text("FACTOR = 1.0\n")
    (own / "my_robot" / "table.json").write_text("[1]")
    control = own / "my_robot" / "control.py"
    text = control.read_text().replace("class Pd:", "from gains import FACTOR\n\n\nclass Pd:", 1)
    control.write_text(text.replace("return -self.kp * measured", "return -FACTOR * self.kp * measured", 1))
    words = ("scene=pendulum", "+latency=0,0.02", "seeds=1", "tracking=none")
    places = []
    for change in (lambda: None, lambda: (own / "gains.py").write_text("FACTOR = 0.5\n"),
                   lambda: (own / "my_robot" / "table.json").write_text("[2]")):  # fmt: skip
        change()
        answer = sweep(*words)
        assert answer.code == 0, answer.err
        assert "2 runs in" in answer.err
        places.append(re.search(r"results: (\S+)", answer.err).group(1))
    assert len(set(places)) == 3
    assert (own / places[0] / "code" / "gains.py").read_text() == "FACTOR = 1.0\n"


def test_a_controllers_own_error_is_told_with_its_line(own, sweep):
    control = own / "my_robot" / "control.py"
    lines = control.read_text().splitlines()
    (line,) = [n for n, text in enumerate(lines, 1) if text.strip().startswith("measured =")]
    lines.insert(line, "        assert step.time_s < 1.0, 'too\\n late'")
    control.write_text("\n".join(lines))
    answer = sweep("scene=pendulum", "seeds=2", "tracking=none")
    assert answer.code == 1
    assert f"AssertionError: too late (control.py, line {line + 1})" in answer.err
    assert "Traceback" not in answer.err
    folder = re.search(r"results: (\S+)", answer.err).group(1)
    status = sweep("status", folder)
    assert status.code == 1
    assert "at 1 s in ExternalOutputPublish" in status.out


def test_a_controller_that_cannot_be_built_replays_as_it_was(own, sweep):
    control = own / "my_robot" / "control.py"
    control.write_text(
        control.read_text().replace("def __init__(self, setup):", "def __init__(self, setup):\n        1 / 0")
    )
    answer = sweep("scene=pendulum", "seeds=1", "tracking=none")
    assert answer.code == 1
    folder = re.search(r"results: (\S+)", answer.err).group(1)
    replayed = sweep("replay", load(own / folder).run_id.iloc[0])
    assert replayed.code == 0
    assert "raised before its first step, as before" in replayed.out
