"""What a class of the user's own proposes, read strictly: plain data, finite numbers, whole vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from sweep.digest import canonical_json
from sweep.plan.units import exact_seconds
from sweep.runtime.domain.proposal import Action, Deferred, End, Proposal

_VECTORS = {"force_n": 3, "torque_nm": 3, "position_m": 3, "quaternion": 4, "position": None, "velocity": None}
"""Numbers of an action, and how many there are; those of a joint the joint decides."""


def checked_proposal(answer: Any) -> Proposal | None:
    """What an Interaction answered, with numpy's numbers as Python's.

    Raises:
        TypeError: it is no Proposal, or something in it is of another type than it must be.
        ValueError: a number is not finite, a vector has another length, or a duration is none.
    """
    if answer is None:
        return None
    if not isinstance(answer, Proposal):
        raise TypeError(f"propose returned {type(answer).__name__}, not a Proposal or None")
    return Proposal(
        facts=_plain_mapping("facts", answer.facts),
        state=_plain_mapping("state", answer.state),
        actions=tuple(_deferred(deferred) for deferred in _several(answer.actions)),
        end=None if answer.end is None else _end(answer.end),
    )


def _plain_mapping(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is a mapping of names to plain data, not {given!r}")
    plain: dict[str, Any] = _plain(dict(given))
    try:
        canonical_json(plain)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} are plain data, finite numbers, texts, lists and mappings: {error}") from None
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _several(actions: Any) -> Iterable[Any]:
    if not isinstance(actions, list | tuple):
        raise TypeError(f"actions is a tuple of Deferred, not {actions!r}")
    return actions


def _deferred(deferred: Any) -> Deferred:
    if not isinstance(deferred, Deferred) or not isinstance(deferred.action, get_args(Action)):
        known = ", ".join(action.__name__ for action in get_args(Action))
        raise TypeError(f"an action is Deferred(action=...) of one of {known}, not {deferred!r}")
    return Deferred(action=_action(deferred.action), delay_s=_seconds(deferred.delay_s))


def _action(action: Action) -> Action:
    """The same action with vectors of finite floats; names and switches must be what they are."""
    return replace(action, **{name: _part(name, getattr(action, name)) for name in action.__dataclass_fields__})


def _part(name: str, value: Any) -> Any:
    if name in _VECTORS:
        return _vector(name, value, _VECTORS[name])
    if name == "duration_s":
        return _seconds(value)
    if name == "active":
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"active is True or False, not {value!r}")
        return bool(value)
    if not isinstance(value, str):
        raise TypeError(f"{name} is a name, not {value!r}")
    return value


def _vector(name: str, value: Any, length: int | None) -> tuple[float, ...]:
    given = value if isinstance(value, list | tuple | np.ndarray) else (value,)
    numbers = tuple(float(number) for number in given if not isinstance(number, str))
    if not all(map(math.isfinite, numbers)) or len(numbers) != (len(given) if length is None else length):
        count = "" if length is None else f"{length} "
        raise ValueError(f"{name} is {count}finite numbers, not {value!r}")
    return numbers


def _seconds(value: Any) -> Any:
    """A duration as it was given if JSON can say it; one that cannot be read is refused where it is committed."""
    return value if isinstance(value, int | float | str) else float(exact_seconds(value))


def _end(end: Any) -> End:
    if not isinstance(end, End) or not isinstance(end.reason, str) or not end.reason:
        raise TypeError(f"end is End(reason=..., success=...) with a reason in words, not {end!r}")
    return End(reason=end.reason, success=bool(end.success))
