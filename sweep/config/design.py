"""The design group of a configuration, and the condition of what is left out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweep.design.cell import shown
from sweep.design.points import MAX_POINTS
from sweep.design.spec import DesignSpec
from sweep.errors import Problem, did_you_mean

_DIVIDED = ("levels", "digits", "center")
_SAMPLED = ("n", "seed", "digits", "center")
KEYS: Mapping[str, tuple[str, ...]] = {
    "grid": _DIVIDED,
    "zip": _DIVIDED,
    "star": _DIVIDED[:2],
    "list": ("file", "center"),
    "random": _SAMPLED,
    "lhs": _SAMPLED,
    "sobol": _SAMPLED,
}
"""The designs, and what each is told."""

MAX_DIGITS = 17
"""More decimal digits than these no float has."""

_LIMITS = {"n": (1, MAX_POINTS), "seed": (0, 2**64 - 1), "levels": (2, MAX_POINTS), "digits": (1, MAX_DIGITS)}
_ALLOWED = {
    "n": f"a count up to {MAX_POINTS}, design.n=16",
    "seed": "one integer from 0 to 2**64 - 1, design.seed=0",
    "levels": "null or a count of at least 2, design.levels=5",
    "digits": f"null or a count up to {MAX_DIGITS}, design.digits=6",
    "center": "true or false",
    "file": "a table, design.file=points.csv",
}


def belongs(key: str) -> str:
    """Which designs a key is for, to append to a message; empty if none is."""
    kinds = [f"design={kind}" for kind, keys in KEYS.items() if key in keys]
    return f"; {key} belongs to {', '.join(kinds)}" if kinds else ""


def design_of(value: Any, problems: list[Problem]) -> DesignSpec:
    """How what is swept becomes points."""
    given = dict(value) if isinstance(value, Mapping) else {}
    kind = given.pop("kind", None)
    if kind not in KEYS:
        problems.append(
            Problem("design.kind", f"unknown design {shown(kind)!r}{did_you_mean(shown(kind), list(KEYS))}")
        )
        return DesignSpec()
    keys = KEYS[kind]
    spec = DesignSpec(kind=kind, **{key: given[key] for key in keys if key in given})
    wrong = [Problem(f"design.{k}", f"unknown key{did_you_mean(str(k), keys)}") for k in given if k not in keys]
    wrong += [
        Problem(f"design.{key}={shown(getattr(spec, key))}", f"allowed is {allowed}")
        for key, allowed in _ALLOWED.items()
        if key in keys and not _is_allowed(key, getattr(spec, key))
    ]
    problems += wrong
    return DesignSpec() if wrong else spec


def exclude_of(value: Any, problems: list[Problem]) -> str | None:
    """The condition of cells to leave out; whether it can be read is seen when the axes are known."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    problems.append(Problem(f"exclude={shown(value)}", 'a condition is expected, for example exclude="latency > 10ms"'))
    return None


def _is_allowed(key: str, value: Any) -> bool:
    if key == "center":
        return isinstance(value, bool)
    if key == "file":
        return isinstance(value, str) and value != ""
    least, most = _LIMITS[key]
    is_count = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return is_count or (value is None and key in ("levels", "digits"))
