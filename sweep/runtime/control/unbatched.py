"""Unbatched: a controller written for many lanes, called one lane at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.runtime.control.controller import ControllerSetup, ControlStep, LaneError, checked_commands


class Unbatched:
    """One object of a controller class per lane, each built and called as if its lane were alone.

    What it computes in a lane is therefore what that lane computes in a batch of one, whatever the class does.

    Args:
        cls: the class.
        setup: that of all lanes.
    """

    takes_acting = True

    def __init__(self, cls: type[Any], setup: ControllerSetup) -> None:
        self._class = cls
        self._setup = setup
        self._lanes: dict[int, Any] = {}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the objects made so far say, each thing once."""
        return tuple(dict.fromkeys(text for lane in self._lanes.values() for text in getattr(lane, "remarks", ())))

    def initial_state(self) -> Any:
        """The states of all lanes, one under the other; what is no state is returned as it is."""
        states: list[Any] = [getattr(self.lane(lane), "initial_state", dict)() for lane in range(self._setup.lanes)]
        if not all(isinstance(state, Mapping) for state in states):
            return states[0]
        return {key: np.concatenate([np.atleast_1d(state[key]) for state in states]) for key in states[0]}

    def lane(self, lane: int) -> Any:
        """The object of a lane."""
        if lane not in self._lanes:
            self._lanes[lane] = self._class(self._setup.subset([lane]))
        return self._lanes[lane]

    def compute(self, step: ControlStep, acting: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
        """Commands of the lanes that act; state of lanes that raised is as it was.

        Raises:
            LaneError: with the lanes that raised, and the commands of the others.
        """
        commands = {name: np.zeros((len(acting), self._setup.widths[name])) for name in self._setup.outputs}
        errors: dict[int, Exception] = {}
        for lane in np.flatnonzero(acting).tolist():
            alone = step.alone(lane)
            try:
                computed = self._computed(self.lane(lane), alone)
            except Exception as error:  # noqa: BLE001 - this lane's fault, as a value
                errors[lane] = error.errors.get(0, error) if isinstance(error, LaneError) else error
                continue
            for name, rows in commands.items():
                rows[lane] = computed[name][0]
            for key, value in alone.state.items():
                step.state[key][lane] = value[0]
        if errors:
            raise LaneError(commands, errors)
        return commands

    def _computed(self, controller: Any, step: ControlStep) -> dict[str, NDArray[np.float64]]:
        arguments = (step, np.ones(1, bool)) if getattr(controller, "takes_acting", False) else (step,)
        return checked_commands(controller.compute(*arguments), self._setup, lanes=1)
