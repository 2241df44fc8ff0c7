"""Functions that become machine code, kept on disk so that a later process only loads them.

They are for loops over numbers that numpy would need many passes for.  Nothing is reordered and no multiplication
is fused with an addition, so that they have the bits of the same Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function when it is first called with such types.

    What is kept is looked up by the file that the function stands in.  So a function and those that it calls stand in
    one file: otherwise a change of the others would go unnoticed.
    """
    settings = {"nogil": True, "error_model": "numpy"}
    try:
        made: Function = numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # no folder for it can be written to: every process compiles
        made = numba.njit(**settings)(function)
    return made
