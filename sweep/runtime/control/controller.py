"""Controllers: user code outside the Instance, called after a step on what DeviceUpdate made visible.

A controller is a class built once per batch from a :class:`ControllerSetup` and called with a
:class:`ControlStep` whenever it is due::

    class Damper:
        def __init__(self, setup):
            self.gain = setup.parameters["gain"]                # (lanes, 1)

        def compute(self, step):
            return -self.gain * step.inputs["enc"].values       # (lanes, width)

State that lives from call to call is declared by ``initial_state()``, a mapping of arrays whose first axis is the
lane; ``compute`` finds it in ``step.state`` and changes it in place.  A class written for one lane at a time is
wrapped by :func:`per_lane`.  A class that keeps state elsewhere, or whose lanes depend on each other, is found out
before a sweep, and then computes one lane at a time, too (:mod:`sweep.runtime.control.unbatched`).

A class may also have

- ``problems(spec, files)``, a static method that says what is wrong with its part of the Manifest before anything runs:
  a list of :class:`sweep.errors.Problem` with paths inside the controller, such as ``parameters.gain``;
- ``packages``, the installed distributions whose version decides its bits, for example ``("onnxruntime",)``;

and an object ``remarks``, a tuple of lines about how it works, which people are shown once per sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.plan.component import ComponentSpec
from sweep.runtime.output import DeviceOutput
from sweep.runtime.own.user_class import load_class
from sweep.runtime.reference import ReferenceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSetup:
    """What a controller is built from.

    Attributes:
        lanes: number of lanes it computes at once.
        period_s: control period [s].
        timestep_s: physics timestep [s].
        inputs: the specs of the devices it reads, by id.
        outputs: the specs of the drivers it commands, by id.
        widths: numbers per input and output, by id.
        parameters: numbers and lists as ``(lanes, n)``, other values as they are.
        references: its reference trajectories; ``at(tick)`` gives position and velocity.
        files: what its files hold, as bytes, by the names that the Manifest gives them.
        model: the nominal model, for what a controller computes from its own knowledge of the robot.
    """

    lanes: int
    period_s: float
    timestep_s: float
    inputs: Mapping[str, ComponentSpec]
    outputs: Mapping[str, ComponentSpec]
    widths: Mapping[str, int]
    parameters: Mapping[str, Any]
    references: Mapping[str, ReferenceTable]
    model: mujoco.MjModel
    files: Mapping[str, bytes] = field(default_factory=dict)

    def subset(self, lanes: Sequence[int]) -> ControllerSetup:
        """The setup of some of the lanes."""
        rows = list(lanes)
        parameters = {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in self.parameters.items()}
        references = {name: table.subset(rows) for name, table in self.references.items()}
        fields = {name: getattr(self, name) for name in self.__slots__}
        return ControllerSetup(**{**fields, "lanes": len(rows), "parameters": parameters, "references": references})


@dataclass(slots=True, kw_only=True)
class ControlStep:
    """One call of a controller.

    Attributes:
        tick: the step it runs after.
        time_s: that tick's time [s].
        inputs: what each input device shows.
        state: the controller's own state, changed in place.
    """

    tick: int
    time_s: float
    inputs: Mapping[str, DeviceOutput]
    state: dict[str, NDArray[Any]] = field(default_factory=dict)

    def lane(self, lane: int) -> ControlStep:
        """One lane's call, with plain vectors."""
        inputs = {name: output.lane(lane) for name, output in self.inputs.items()}
        return ControlStep(tick=self.tick, time_s=self.time_s, inputs=inputs)

    def alone(self, lane: int) -> ControlStep:
        """The call of a batch that has this lane only, with a state of its own."""
        inputs = {name: output.row(lane) for name, output in self.inputs.items()}
        state = {key: value[lane : lane + 1].copy() for key, value in self.state.items()}
        return ControlStep(tick=self.tick, time_s=self.time_s, inputs=inputs, state=state)


class Controller(Protocol):
    """What a controller class offers."""

    def compute(self, step: ControlStep) -> Any:
        """Commands: ``(lanes, width)`` for one output, or a mapping from output id to that."""


class LaneError(Exception):
    """Raised for single lanes by a controller that keeps them apart; the others' commands stand."""

    def __init__(self, commands: Any, errors: Mapping[int, Exception]) -> None:
        self.commands = commands
        self.errors = errors
        super().__init__(f"{len(errors)} lanes raised")


def per_lane(cls: type[Any]) -> type[Any]:
    """Let a controller that is written for one lane serve many: one object per lane.

    The class gets a setup with ``lanes == 1`` whose parameters are plain numbers and vectors, and its ``compute``
    gets plain vectors ``(width,)`` and returns one vector, or a mapping of them.  It may keep any state in itself.
    """

    class PerLane:
        """One object of the wrapped class per lane."""

        def __init__(self, setup: ControllerSetup) -> None:
            self._outputs = setup.outputs
            self._widths = setup.widths
            self._lanes = [cls(_plain(setup.subset([lane]))) for lane in range(setup.lanes)]
            self.remarks = tuple(dict.fromkeys(text for lane in self._lanes for text in getattr(lane, "remarks", ())))

        def compute(self, step: ControlStep, acting: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
            commands = {name: np.zeros((len(self._lanes), self._widths[name])) for name in self._outputs}
            errors: dict[int, Exception] = {}
            for lane in np.flatnonzero(acting).tolist():
                try:
                    computed = as_commands(self._lanes[lane].compute(step.lane(lane)), self._outputs)
                    for name, rows in commands.items():
                        rows[lane] = np.asarray(computed[name], np.float64).reshape(self._widths[name])
                except Exception as error:  # noqa: BLE001 - whatever user code raises is that lane's fault
                    errors[lane] = error
            if errors:
                raise LaneError(commands, errors)
            return commands

    PerLane.__name__ = PerLane.__qualname__ = cls.__name__
    PerLane.__module__ = cls.__module__
    PerLane.takes_acting = True  # type: ignore[attr-defined]
    for told in ("problems", "packages"):
        if hasattr(cls, told):
            setattr(PerLane, told, getattr(cls, told))
    return PerLane


def as_commands(computed: Any, outputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Commands by output id, from a lone array or a mapping.

    Raises:
        ValueError: outputs are missing or unknown.
    """
    if isinstance(computed, np.ndarray) or not isinstance(computed, Mapping):
        if len(outputs) != 1:
            raise ValueError(f"return a mapping with the outputs {sorted(outputs)}, not a single array")
        return {next(iter(outputs)): computed}
    if set(computed) != set(outputs):
        raise ValueError(f"returned outputs {sorted(computed)}, expected {sorted(outputs)}")
    return computed


def checked_commands(computed: Any, setup: ControllerSetup, *, lanes: int) -> dict[str, NDArray[np.float64]]:
    """Commands by output id, each ``(lanes, width)``, from what a controller returned.

    Raises:
        ValueError: outputs are missing or unknown, or one has another shape.
    """
    commands = {}
    for name, numbers in as_commands(computed, setup.outputs).items():
        values, expected = np.asarray(numbers, np.float64), (lanes, setup.widths[name])
        if values.shape != expected:
            raise ValueError(f"output {name!r} has shape {values.shape}, expected (lanes, width) = {expected}")
        commands[name] = values
    return commands


def load_controller(path: str, folder: Path | None = None) -> type[Any]:
    """Import a controller's class; see :func:`sweep.runtime.own.user_class.load_class`."""
    return load_class(path, folder, "compute")


def stacked_parameters(lanes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Parameters of all lanes: numbers and lists of numbers as ``(lanes, n)``, anything else as it is."""
    return {key: _stack([lane[key] for lane in lanes]) for key in lanes[0]}


def _stack(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, bool) or not isinstance(first, int | float | list | tuple):
        return first
    try:
        rows = np.array(values, np.float64)
    except (ValueError, TypeError):
        return first
    return rows.reshape(len(values), *(rows.shape[1:] or (1,)))


def _plain(setup: ControllerSetup) -> ControllerSetup:
    """Parameters of a one-lane setup without the lane's axis; lone numbers as floats."""
    plain = {
        key: (float(value[0, 0]) if value[0].shape == (1,) else value[0]) if isinstance(value, np.ndarray) else value
        for key, value in setup.parameters.items()
    }
    fields = {name: getattr(setup, name) for name in setup.__slots__}
    return ControllerSetup(**{**fields, "parameters": plain})
