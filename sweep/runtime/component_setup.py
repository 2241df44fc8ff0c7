"""What a component of the user's own is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco

from sweep.runtime.context import BatchContext
from sweep.runtime.reading import EVERYTHING
from sweep.runtime.reads import Reads
from sweep.runtime.user_class import load_class


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSetup:
    """What the class of a component of one lane is built from.

    Attributes:
        name: the component's id.
        parameters: its parameters in this lane, as the Manifest gives them.
        timestep_s: physics timestep [s].
        model: the nominal model, for names, sizes and what the component knows of the robot.
    """

    name: str
    parameters: Mapping[str, Any]
    timestep_s: float
    model: mujoco.MjModel


def user_objects(name: str, specs: Sequence[Any], context: BatchContext, method: str) -> list[Any]:
    """One object of a component's class for each lane."""
    cls = load_class(specs[0].class_, context.folder, method)
    step = float(context.grid.timestep)
    return [
        cls(ComponentSetup(name=name, parameters=spec.parameters, timestep_s=step, model=context.index.model))
        for spec in specs
    ]


def reads_of(user_object: Any) -> Reads:
    """What an object declares that it reads; everything if it does not say."""
    declared: Reads = getattr(user_object, "reads", EVERYTHING)
    return declared
