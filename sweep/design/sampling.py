"""Points of the unit cube: independent, in a Latin hypercube, or of Sobol's sequence."""

from __future__ import annotations

import inspect
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Sampling = Literal["random", "lhs", "sobol"]


def unit_points(kind: Sampling, count: int, dimensions: int, seed: int) -> NDArray[np.float64]:
    """Points in [0, 1)^dimensions, the same for the same arguments.

    The first points of ``random`` and ``sobol`` are those of a smaller count; those of ``lhs`` are not.

    Args:
        kind: ``random``: independent and uniform. ``lhs``: a Latin hypercube, in each of the ``count`` equal parts of
            every axis lies one point. ``sobol``: Sobol's sequence, scrambled (Owen), balanced if ``count`` is a power
            of two.
        count: how many.
        dimensions: of the cube.
        seed: of the design.

    Returns:
        ``(count, dimensions)``.
    """
    generator = np.random.default_rng(seed)
    if kind == "random":
        return generator.random((count, dimensions))
    if kind == "lhs":
        return _hypercube(generator, count, dimensions)
    from scipy.stats import qmc  # takes longer to import than all else that a command needs

    # SciPy 1.15 renamed `seed` to `rng`; both take a generator.
    name = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"
    source: dict[str, Any] = {name: generator}
    sobol = qmc.Sobol(dimensions, **source)
    # SciPy warns of counts that are no power of two; ask for the next one instead, and say so ourselves.
    return sobol.random_base2((count - 1).bit_length())[:count]


def _hypercube(generator: np.random.Generator, count: int, dimensions: int) -> NDArray[np.float64]:
    """SciPy's Latin hypercube to the bit, without what its import costs."""
    (generator,) = generator.spawn(1)  # as SciPy does, which may be asked for more points
    inside = generator.uniform(size=(count, dimensions))
    parts = np.tile(np.arange(1, count + 1), (dimensions, 1))
    for axis in parts:
        generator.shuffle(axis)
    hypercube: NDArray[np.float64] = (parts.T - inside) / count
    return hypercube


def balanced_counts(count: int) -> tuple[int, int]:
    """The powers of two around a count; both are the count itself if it is one."""
    return 1 << (count.bit_length() - 1), 1 << (count - 1).bit_length()
