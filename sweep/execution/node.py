"""Where a run executed: enough to say whether another machine gives the same bits."""

from __future__ import annotations

import functools
import importlib
import platform
import socket
from collections.abc import Mapping
from importlib import metadata

import numpy as np

from sweep.digest import content_id

DECIDING = {"machine": "machine", "features": "CPU features", "mujoco": "mujoco", "numpy": "numpy"}
"""Entries of a fingerprint that decide bits, as people call them."""


@functools.cache
def node_fingerprint() -> dict[str, str]:
    """This process's machine and numerical libraries.

    Returns:
        ``host``, ``machine``, ``features`` (the CPU features NumPy found), ``python``, ``mujoco``, ``numpy``, and
        ``bit_class``: nodes that agree in it give the same bits.
    """
    found = {
        "host": socket.gethostname(),
        "machine": platform.machine(),
        "features": cpu_features(),
        "mujoco": metadata.version("mujoco"),
        "numpy": metadata.version("numpy"),
        "python": platform.python_version(),
    }
    return {**found, "bit_class": content_id({name: found[name] for name in DECIDING})[:8]}


def class_differences(node: Mapping[str, str]) -> list[str]:
    """What makes a recorded fingerprint one of another class than this process's, each with both values."""
    here = node_fingerprint()
    return [
        f"{said} here: {here[name]}; there: {node.get(name, 'not recorded')}"
        for name, said in DECIDING.items()
        if node.get(name) != here[name]
    ]


def cpu_features() -> str:
    """The CPU features that NumPy found and uses, sorted, in one line."""
    try:
        found = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):
        # A private table may move; the public one lists what NumPy was built to look for and found.
        simd = np.show_config(mode="dicts").get("SIMD Extensions", {})
        return " ".join(sorted({*simd.get("baseline", ()), *simd.get("found", ())}))
    return " ".join(sorted(name for name, enabled in found.items() if enabled))
