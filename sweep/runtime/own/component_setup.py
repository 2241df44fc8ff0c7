"""What a component of the user's own is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem
from sweep.runtime.context import BatchContext
from sweep.runtime.own.user_class import load_class
from sweep.runtime.reading import EVERYTHING
from sweep.runtime.reads import OF_FORCES, Reads, StateLevel


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


def reads_of(name: str, user_object: Any) -> Reads:
    """What an object declares that it reads; everything if it does not say.

    Raises:
        InvalidInputError: it is no :class:`Reads`, or its level does not have its fields.
    """
    declared: Any = getattr(user_object, "reads", EVERYTHING)
    if not isinstance(declared, Reads) or not isinstance(declared.level, StateLevel):
        raise wrong_class(name, user_object, f"reads is a sweep.runtime.Reads, not {declared!r}")
    asked: Any = declared.fields
    fields = [asked] if isinstance(asked, str) else list(asked)
    unknown = [field for field in fields if not hasattr(mujoco.MjData, str(field))]
    if unknown:
        raise wrong_class(name, user_object, f"reads has {unknown[0]!r}, which is no field of MjData")
    least = [(StateLevel.FULL if field in OF_FORCES else StateLevel.VELOCITY, field) for field in fields]
    for level, field in least:
        if declared.level < level:
            raise wrong_class(name, user_object, f"reads has {field!r}, which needs StateLevel.{level.name}")
    return EVERYTHING if declared == EVERYTHING else Reads(declared.level, frozenset(fields))


def wrong_class(name: str, user_object: Any, message: str) -> InvalidInputError:
    """What is wrong with what a component's class says of itself."""
    return InvalidInputError(
        "manifest", [Problem(f"components.{name}.class", f"{type(user_object).__name__}.{message}")]
    )


def numbers_of(what: str, values: Any, count: int, named: str) -> NDArray[np.float64]:
    """The numbers that a method of a component's class returned, ``(count,)``.

    Raises:
        ValueError: it returned no numbers, or another number of them.
    """
    if values is None:  # of which numpy would make a NaN
        raise ValueError(f"{what} returned None, not {count} numbers")
    numbers: NDArray[np.float64] = np.asarray(values, np.float64).reshape(-1)
    if numbers.shape != (count,):
        raise ValueError(f"{what} returned {len(numbers)} numbers{named}")
    return numbers
