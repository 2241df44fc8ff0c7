"""Arithmetic of networks, row by row: the bits of a row do not depend on how many rows there are, or on which.

``x @ w`` hands the product to a BLAS, which adds in another order for another number of rows; ``np.tanh`` and
``np.exp`` have other bits on other CPUs.  A vectorised controller that uses these functions instead computes each
lane as if it were alone::

    from sweep.runtime.numerics.rowwise import row_product, tanh

    hidden = tanh(row_product(observation, w0) + b0)    # (lanes, units)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sweep.runtime.numerics.exponential import exps_of

Floats = NDArray[np.float64]


def row_product(x: ArrayLike, weights: ArrayLike) -> Floats:
    """``x @ weights`` with a fixed order of summation: over the features, first to last, from 0.

    It costs about twice as much as ``@`` on one row, and 5 to 11 times as much on 64 or more: 64 rows through a layer
    of 64 by 64 take 50 us instead of 7 us, through one of 256 by 256 0.7 ms instead of 0.09 ms.

    Args:
        x: ``(lanes, n)``, in any memory layout.
        weights: ``(n, m)``, in any memory layout; a contiguous one saves a copy.

    Returns:
        ``(lanes, m)``.

    Raises:
        ValueError: shapes that do not fit.
    """
    rows, matrix = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(weights, np.float64)
    if matrix.shape[1:] == (1,):
        # A lone column would be summed along memory, in several partial sums; beside another one it is not.
        return row_product(rows, np.repeat(matrix, 2, axis=1))[:, :1]
    # Of contiguous operands einsum walks the columns innermost, so the features are added one after another.
    result: Floats = np.einsum("ln,nm->lm", rows, matrix)
    return result


def tanh(x: Floats) -> Floats:
    """Hyperbolic tangent, to 4e-16."""
    return 1.0 - 2.0 / (_exp(2.0 * x) + 1.0)


def relu(x: Floats) -> Floats:
    """The positive part."""
    return np.maximum(x, 0.0)


def elu(x: Floats) -> Floats:
    """``x`` where it is positive, ``exp(x) - 1`` elsewhere, to 2e-16: the exponential linear unit with alpha 1."""
    return np.where(x > 0.0, x, _exp(np.minimum(x, 0.0)) - 1.0)


def identity(x: Floats) -> Floats:
    """``x`` itself."""
    return x


def _exp(x: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # what is not a number stays so
        return exps_of(x)
