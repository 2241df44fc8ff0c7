"""Who asked for a sweep, when, with what: for people, and for whoever runs it again."""

from __future__ import annotations

import getpass
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import sweep
from sweep.digest import bytes_id
from sweep.execution.node import node_fingerprint

PACKAGES = (
    *("mujoco", "numpy", "numba", "ray", "mlflow", "hydra-core", "omegaconf", "pydantic", "scipy"),
    *("openarm-mujoco", "torch"),
)
"""Packages whose versions are recorded if they are installed."""

GIT_S = 5.0
"""How long git may take to answer [s]; a repository on a slow disk is not worth waiting for."""

MOST_DIFF = 2**18
"""Characters of uncommitted changes that are kept; of more, their digest alone."""


def provenance(
    overrides: Sequence[str] = (), *, config_dirs: Sequence[str] = (), config_name: str = "config"
) -> dict[str, Any]:
    """What this process can say about a sweep it starts, as plain data.

    Args:
        overrides: the words of the command line.
        config_dirs: further folders of configuration.
        config_name: the primary configuration.
    """
    return {
        "command": ["python", "-m", "sweep", *overrides],
        "config_dirs": list(config_dirs),
        "config_name": config_name,
        "folder": os.getcwd(),
        "argv": list(sys.argv),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "git": git_state(),
        "machine": dict(node_fingerprint()),
        "user": _user(),
        "host": socket.gethostname(),
    }


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of what matters beside them; nothing is imported for it."""
    found = {"sweep": sweep.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_state() -> dict[str, Any] | None:
    """Commit, branch and uncommitted changes of the working directory; None where there is no repository or no git."""
    commit = _git("rev-parse", "HEAD")
    if not commit:
        return None
    # Only tracked files: the sweep's own folder is untracked and would make every later session dirty.  What runs of
    # untracked files is copied into the sweep's folder.
    diff = _git("diff", "HEAD", "--binary", "--no-color", "--no-ext-diff") or ""
    state = {"commit": commit, "branch": _git("rev-parse", "--abbrev-ref", "HEAD") or "", "dirty": bool(diff)}
    if diff:
        state |= {"diff_id": bytes_id(diff.encode()), "diff": diff if len(diff) <= MOST_DIFF else None}
    return state


def _git(*words: str) -> str | None:
    command = ["git", "--no-optional-locks", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=GIT_S, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip("\n") if done.returncode == 0 else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"  # a container may run as a number without a name
