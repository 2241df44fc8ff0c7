"""What a network needs to be a controller: observations in, commands out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.problems import unknown_name
from sweep.plan.sections import ControllerSpec
from sweep.runtime.control.controller import ControllerSetup, ControlStep

Floats = NDArray[np.float64]


class Policy(ABC):
    """A function from what the inputs show to what the outputs are told, with no memory of earlier calls.

    The observation is the inputs' values, one after the other in the order of the controller's ``inputs``; the action
    is cut up over its ``outputs`` in their order.

    Parameters of the manifest:
        output_scale: factor on the action, one for all or one per number (default 1).
        output_offset: added to that, one for all or one per number (default 0).
        clip: ``[least, greatest]`` command after both (default none).

    Class attributes:
        file: what its file is called in the controller's ``files``.
        known: names of its parameters.
    """

    file: ClassVar[str]
    known: ClassVar[tuple[str, ...]] = ("output_scale", "output_offset", "clip")

    def __init__(self, setup: ControllerSetup) -> None:
        self._inputs, self._outputs = tuple(setup.inputs), tuple(setup.outputs)
        self._cuts = np.cumsum([setup.widths[name] for name in self._outputs])[:-1]
        self.observed = sum(setup.widths[name] for name in self._inputs)
        self.commanded = sum(setup.widths[name] for name in self._outputs)
        self._scale = self._per_number(setup, "output_scale")
        self._offset = self._per_number(setup, "output_offset")
        self._clip = setup.parameters.get("clip")

    @abstractmethod
    def act(self, observation: Floats) -> Floats:
        """Actions ``(lanes, commanded)`` of observations ``(lanes, observed)``."""

    def compute(self, step: ControlStep) -> dict[str, Floats]:
        """Commands by output, ``(lanes, width)`` each."""
        shown = [step.inputs[name].values for name in self._inputs]
        action = self.act(shown[0] if len(shown) == 1 else np.concatenate(shown, axis=1))
        if self._scale is not None:
            action = action * self._scale
        if self._offset is not None:
            action = action + self._offset
        if self._clip is not None:
            action = np.minimum(np.maximum(action, self._clip[:, :1]), self._clip[:, 1:])
        return dict(zip(self._outputs, np.split(action, self._cuts, axis=1), strict=True))

    def _per_number(self, setup: ControllerSetup, name: str) -> Floats | None:
        values: Floats | None = setup.parameters.get(name)
        if values is not None and values.shape[1:] not in ((1,), (self.commanded,)):
            raise ValueError(f"{name} has {values.shape[1]} numbers for {self.commanded} outputs")
        return values

    @classmethod
    def problems(cls, spec: ControllerSpec, files: Mapping[str, bytes]) -> list[Problem]:
        """What is wrong with its part of the Manifest."""
        found = unknown_name("files", "file", files, (cls.file,))
        for name in spec.parameters:
            found += unknown_name(f"parameters.{name}", "parameter", (name,), cls.known)
        if cls.file not in files:
            found.append(Problem("files", f"needs a {cls.file}, for example files: {{{cls.file}: policy.bin}}"))
        clip = spec.parameters.get("clip", [0, 0])
        if not (isinstance(clip, list | tuple) and len(clip) == 2 and clip[0] <= clip[1]):
            found.append(Problem("parameters.clip", f"is [least, greatest], not {clip!r}"))
        return found
