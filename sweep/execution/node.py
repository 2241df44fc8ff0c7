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


def class_differences(
    there: Mapping[str, str], here: Mapping[str, str] | None = None, *, names: tuple[str, str] = ("here", "there")
) -> list[str]:
    """What makes a fingerprint one of another class, each with both values; of CPU features, those that differ.

    Args:
        there: the fingerprint.
        here: what it is compared with; this process's own by default.
        names: what the places are called, that of ``here`` first.
    """
    here = node_fingerprint() if here is None else here
    return [
        f"{said} {names[0]}: {_told(name, here, there)}; {names[1]}: {_told(name, there, here)}"
        for name, said in DECIDING.items()
        if there.get(name) != here.get(name)
    ]


def _told(name: str, one: Mapping[str, str], other: Mapping[str, str]) -> str:
    if name not in one:
        return "not recorded"
    if name != "features" or name not in other:
        return one[name]
    # A processor has dozens of them; people want to know which are missing.
    return " ".join(sorted(set(one[name].split()) - set(other[name].split()))) or "no others"


def cpu_features() -> str:
    """The CPU features that NumPy found and uses, sorted, in one line."""
    try:
        found = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):
        # A private table may move; the public one lists what NumPy was built to look for and found.
        simd = np.show_config(mode="dicts").get("SIMD Extensions", {})
        return " ".join(sorted({*simd.get("baseline", ()), *simd.get("found", ())}))
    return " ".join(sorted(name for name, enabled in found.items() if enabled))
