"""The built wheel, away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

TEMPLATES = Path("analysis", "reporting", "templates")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The wheel's files in a folder of their own; its dependencies are this environment's."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("fibril_sweep-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_it_holds_the_packages_and_their_configuration_and_nothing_else(installed):
    tops = {p.name for p in installed.iterdir() if not p.name.endswith(".dist-info")}
    assert tops == {"sweep", "analysis"}
    assert (installed / "sweep" / "conf" / "scene" / "arm.yaml").is_file()
    assert (installed / "sweep" / "conf" / "scene" / "cartpole.xml").is_file()
    assert (installed / "sweep" / "py.typed").is_file()
    assert {p.name for p in (ROOT / TEMPLATES).iterdir()} == {p.name for p in (installed / TEMPLATES).iterdir()}


def test_it_sweeps_in_any_directory(installed, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    words = ["scene=cartpole", "+latency=0,0.01", "seeds=2", "manifest.runtime.duration_s=0.2", "tracking=none"]
    where = [sys.executable, "-c", "import sweep; print(sweep.__file__)"]
    origin = subprocess.run(where, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout
    assert origin.startswith(str(installed))
    done = subprocess.run([sys.executable, "-m", "sweep", *words], cwd=tmp_path, env=environment, check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "angle_rms" in done.stdout
