"""A virtual environment for the peers, made once: nobody who uses this project needs what is in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from tests.bench.fresh import ROOT
from tests.bench.measures import UnmeasuredError

HERE = Path(__file__).parent

FOLDER = ROOT / ".bench" / "peers"


def environment() -> Mapping[str, str]:
    """The variables of a peer's process: nothing of this tree, compiled bytecode, no token in the home folder."""
    ours = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV", "RAY_ADDRESS")
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}


def python() -> Path:
    """Its interpreter; installs what is missing.

    Raises:
        UnmeasuredError: pip cannot install it.
    """
    asked = [f"{name}=={metadata.version(name)}" for name in ("mujoco", "numpy")]
    wanted = "\n".join([(HERE / "requirements.txt").read_text(), *asked])
    stamp, found = FOLDER / "installed.txt", FOLDER / "bin" / "python"
    if stamp.exists() and stamp.read_text() == wanted:
        return found
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, with_pip=True)
    command = [str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["-r", str(HERE / "requirements.txt"), *asked]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise UnmeasuredError(f"pip cannot install the peers in {FOLDER}: {done.stderr}")
    stamp.write_text(wanted)
    return found
