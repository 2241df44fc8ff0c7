"""Where a run executed: enough to say whether another machine gives the same bits."""

from __future__ import annotations

import functools
import importlib
import platform
import socket
from importlib import metadata

import numpy as np

from sweep.digest import content_id


@functools.cache
def node_fingerprint() -> dict[str, str]:
    """This process's machine and numerical libraries.

    Returns:
        ``host``, ``machine``, ``features`` (the CPU features NumPy found), ``python``, ``mujoco``, ``numpy``, and
        ``bit_class``: nodes that agree in it give the same bits.
    """
    deciding = {
        "machine": platform.machine(),
        "features": cpu_features(),
        "mujoco": metadata.version("mujoco"),
        "numpy": metadata.version("numpy"),
    }
    return {
        "host": socket.gethostname(),
        **deciding,
        "python": platform.python_version(),
        "bit_class": content_id(deciding)[:8],
    }


def cpu_features() -> str:
    """The CPU features that NumPy found and uses, sorted, in one line."""
    try:
        found = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__
    except (ImportError, AttributeError):
        # A private table may move; the public one lists what NumPy was built to look for and found.
        simd = np.show_config(mode="dicts").get("SIMD Extensions", {})
        return " ".join(sorted({*simd.get("baseline", ()), *simd.get("found", ())}))
    return " ".join(sorted(name for name, enabled in found.items() if enabled))
