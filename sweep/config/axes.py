"""Axes of a scene: declared as ``latency: null``, bound as ``latency_s: ${axis:latency, 0.0}``.

While a configuration is resolved, a binding resolves to a marker, a text that no person writes.  Here
the markers are found again with their paths, become Axis values, and give way to nominal values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sweep.config.tree import leaves, lookup, placed
from sweep.config.values import ValueKindError, nominal_value
from sweep.design.axis import Axis, Value
from sweep.design.cell import canonical, shown
from sweep.errors import Problem, did_you_mean
from sweep.plan.units import unit_at

_MARK = "\x00axis:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One place that an axis sets.

    Attributes:
        axis: the axis's name.
        path: manifest path.
        nominal: what stands there nominally (SI unit).
        unit: SI unit of the field, ``""`` for a plain number.
    """

    axis: str
    path: str
    nominal: Value
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A scene's axes, and its manifest as plain data with the nominal values filled in; None if it has none."""

    axes: tuple[Axis, ...]
    manifest: Mapping[str, Any] | None


def marker(*arguments: Any) -> str:
    """What ``${axis:...}`` resolves to, from its arguments as plain data."""
    return _MARK + json.dumps(arguments, default=str) + "\x00"


def marked_axis(value: Any) -> str | None:
    """The axis that a marker names, None for anything else."""
    return _arguments(value)[0] if _is_marker(value) else None


def without_strays(config: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The configuration with nominal values in place of bindings outside the manifest, each of them a problem."""
    rest = {key: part for key, part in config.items() if key != "manifest"}
    for path, value in list(leaves(rest)):
        if isinstance(value, str) and _MARK in value:
            arguments = _arguments(value) if _is_marker(value) else []
            text = f"binds axis {arguments[0] if arguments else '?'!r}; only the manifest can be bound to an axis"
            problems.append(Problem(path, text))
            rest = placed(rest, path, arguments[1] if len(arguments) > 1 else None)
    return {**config, **rest}


def bound(declared: Sequence[str], manifest: Any, fixed: Mapping[str, str], problems: list[Problem]) -> Bound:
    """Find the bindings in a resolved manifest.

    Args:
        declared: names that the scene declares, in its order.
        manifest: the resolved manifest with markers.
        fixed: manifest path to axis, where the command line put a plain value in a binding's place.
        problems: what is wrong is added here.

    Returns:
        The axes that could be understood, and the manifest without any marker.
    """
    bindings: list[Binding] = []
    for path, value in list(leaves(manifest)):
        if not isinstance(value, str) or _MARK not in value:
            continue
        binding = _binding(path, value, problems)
        manifest = placed(manifest, path, _plain(binding.nominal) if binding else None)
        if binding is not None and _is_declared(binding, declared, problems):
            bindings.append(binding)
    taken = {binding.axis for binding in bindings}
    for path, name in fixed.items():
        if name in declared and name not in taken:
            bindings.append(_fixed_binding(path, name, lookup(manifest, path)))
    axes = [_axis(name, [b for b in bindings if b.axis == name], problems) for name in declared]
    found = tuple(axis for axis in axes if axis is not None)
    return Bound(axes=found, manifest=manifest if isinstance(manifest, Mapping) else None)


def _binding(path: str, value: str, problems: list[Problem]) -> Binding | None:
    where = f"manifest.{path}"
    if not _is_marker(value):
        text = (
            "a text holds ${axis:...} between other characters; a binding stands alone, for example ${axis:gain, 1.0}"
        )
        problems.append(Problem(where, text))
        return None
    arguments = _arguments(value)
    if len(arguments) != 2 or not isinstance(arguments[0], str):
        name = arguments[0] if arguments else "name"
        text = (
            f"${{axis:{', '.join(map(shown, arguments))}}}: write a name and one nominal value, ${{axis:{name}, 0.0}}"
        )
        problems.append(Problem(where, f"{text}; a list stands in brackets"))
        return None
    unit = unit_at(path)
    try:
        nominal = nominal_value(arguments[1], unit)
    except ValueKindError as error:
        problems.append(Problem(where, f"nominal value of axis {arguments[0]!r}: {error}"))
        return None
    return Binding(axis=arguments[0], path=path, nominal=nominal, unit=unit)


def _fixed_binding(path: str, name: str, value: Any) -> Binding:
    unit = unit_at(path)
    try:
        nominal = nominal_value(value, unit)
    except ValueKindError:
        nominal = None  # the manifest's own check says what is wrong with it
    return Binding(axis=name, path=path, nominal=nominal, unit=unit)


def _is_declared(binding: Binding, declared: Sequence[str], problems: list[Problem]) -> bool:
    if binding.axis in declared:
        return True
    text = f"binds axis {binding.axis!r}, which the scene does not declare: write `{binding.axis}: null` at its top"
    problems.append(Problem(f"manifest.{binding.path}", text + did_you_mean(binding.axis, declared)))
    return False


def _axis(name: str, bindings: Sequence[Binding], problems: list[Problem]) -> Axis | None:
    if not bindings:
        text = f"the scene declares this axis but binds it nowhere; bind it with ${{axis:{name}, 0.0}} in the manifest"
        problems.append(Problem(name, f"{text}, or leave it out with ~{name}"))
        return None
    problems += [Problem(name, text) for text in _differences(bindings)]
    first = bindings[0]
    return Axis(name=name, nominal=first.nominal, unit=first.unit, bindings=tuple(b.path for b in bindings))


def _differences(bindings: Sequence[Binding]) -> Iterator[str]:
    if len({repr(canonical(binding.nominal)) for binding in bindings}) > 1:
        listed = ", ".join(f"{shown(b.nominal)} at manifest.{b.path}" for b in bindings)
        yield f"its bindings have different nominal values: {listed}"
    if len({binding.unit for binding in bindings}) > 1:
        listed = ", ".join(f"{b.unit or 'a plain number'} at manifest.{b.path}" for b in bindings)
        yield f"its bindings have different units: {listed}"


def _is_marker(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_MARK) and value.index("\x00", 1) == len(value) - 1


def _arguments(value: str) -> list[Any]:
    found: list[Any] = json.loads(value[len(_MARK) : -1])
    return found


def _plain(value: Value) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
