"""Linear state feedback."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.control.controller import ControllerSetup, ControlStep


class StateFeedback:
    """u = -K x, where x is what its only input shows.

    Parameters of the manifest:
        gain: one number per entry of the input.
    """

    def __init__(self, setup: ControllerSetup) -> None:
        self._input = next(iter(setup.inputs))
        self._gain = setup.parameters["gain"]

    def compute(self, step: ControlStep) -> NDArray[np.float64]:
        """Commands ``(lanes, 1)``."""
        # Multiply, then sum over the last axis: the bits of a lane do not depend on how many lanes there are.
        control: NDArray[np.float64] = -(self._gain * step.inputs[self._input].values).sum(axis=1, keepdims=True)
        return control
