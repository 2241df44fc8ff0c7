"""What is swept: values and intervals, read, checked one by one against the manifest, told about as typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sweep.config.axes import Bound
from sweep.config.names import path_problems
from sweep.config.tree import MISSING, lookup, placed
from sweep.config.values import ValueKindError, kind_problem, normalised
from sweep.config.words import Span, Word, for_shell
from sweep.design.axis import Value
from sweep.design.cell import canonical, shown
from sweep.design.interval import Interval
from sweep.design.spec import Taken
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.manifest import load_manifest, problems_of
from sweep.plan.parts import PartMemo
from sweep.plan.units import unit_at
from sweep.plan.variant import with_parameters

LOG = "log"
"""The tag of an interval on a log scale."""

_Check = Callable[[Sequence[str], Value], Sequence[Problem]]
"""What is wrong with the manifest when a value is put in at paths, and was not wrong before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What a swept word sets: the kind of value there, its SI unit, and how a value is checked."""

    like: Any
    unit: str
    check: Callable[[Value], Sequence[Problem]]


def swept_values(
    words: Sequence[Word], scene: Bound, fixed: Mapping[str, str], folder: Path | None, problems: list[Problem]
) -> dict[str, Taken]:
    """Swept name to its values as they were given, or to its interval, in the order of the words.

    Each value is put into the manifest alone, not in every combination: a grid has too many.  Of an interval that is
    done with both ends.

    Args:
        words: those of axes, and the swept ones of full paths, among others.
        scene: the axes and the base manifest.
        fixed: manifest path to axis, where a word put a plain value in a binding's place.
        folder: where the manifest's relative files are.
        problems: those of the base manifest, and those that a value adds, are added here.
    """
    if scene.manifest is None:
        return {}
    check = _checker(scene.manifest, folder, problems)
    problems += _conflicts(words, scene, fixed)
    swept: dict[str, Taken] = {}
    for word in words:
        target = _target(word, scene, check, problems)
        if target is None:
            continue
        if len(word.values) == 1 and isinstance(word.values[0], Span):
            taken: Taken | None = _interval(word.key, word.values[0], target, problems)
        else:
            taken = _values(word, target, problems)
        if taken is not None:
            swept[word.key] = taken
    return swept


def _checker(manifest: Mapping[str, Any], folder: Path | None, problems: list[Problem]) -> _Check:
    """What tells the problems that a value adds where it is put in; those that there are without it are added."""
    base = problems_of(manifest, base_dir=folder)
    problems += [Problem(f"manifest.{p.path}" if p.path else "manifest", p.message) for p in base]
    memo = PartMemo()
    try:
        valid = load_manifest(manifest, folder=folder, memo=memo)
    except InvalidInputError:
        return lambda paths, value: [
            found for found in problems_of(_with(manifest, paths, value), base_dir=folder) if found not in base
        ]

    def check(paths: Sequence[str], value: Value) -> Sequence[Problem]:
        try:
            with_parameters(valid, dict.fromkeys(paths, value), memo)
        except InvalidInputError as error:
            return error.problems
        return ()

    return check


def _target(word: Word, scene: Bound, check: _Check, problems: list[Problem]) -> _Target | None:
    axis = next((axis for axis in scene.axes if axis.name == word.key), None)
    if axis is not None:
        return _Target(like=axis.nominal, unit=axis.unit, check=partial(check, axis.bindings))
    if word.root != "manifest" or not word.is_sweep:
        return None
    if missing := path_problems(word, {"manifest": scene.manifest}):
        problems += missing
        return None
    path = word.key.removeprefix("manifest.")
    like = lookup(scene.manifest, path)
    return _Target(like=None if like is MISSING else like, unit=unit_at(path), check=partial(check, (path,)))


def _values(word: Word, target: _Target, problems: list[Problem]) -> tuple[Value, ...]:
    values: list[Value] = []
    checked: set[str] = set()
    for index, typed in enumerate(word.values):
        place = word.places[index] if word.places else f"{word.key}={shown(typed)}"
        try:
            value = normalised(typed, target.like, target.unit)
        except ValueKindError as error:
            problems.append(kind_problem(place, word.key, error, target.like, target.unit))
            continue
        values.append(value)
        if (same := repr(canonical(value))) not in checked:
            checked.add(same)
            place = place if word.places else f"{word.key}={shown(value)}"
            problems += [Problem(place, str(found)) for found in target.check(value)]
    return tuple(values)


def _conflicts(words: Sequence[Word], scene: Bound, fixed: Mapping[str, str]) -> Iterator[Problem]:
    """An axis together with a full path that it binds."""
    typed = {word.key: word for word in words}
    for axis in scene.axes:
        own = dict.fromkeys([*axis.bindings, *(path for path, name in fixed.items() if name == axis.name)])
        others = [typed[f"manifest.{path}"].text for path in own if f"manifest.{path}" in typed]
        if axis.name in typed and others:
            text = f"sets the same value as {' and '.join(others)}; leave one out"
            yield Problem(typed[axis.name].text, text)


def _with(manifest: Any, paths: Sequence[str], value: Value) -> Any:
    for path in paths:
        manifest = placed(manifest, path, list(value) if isinstance(value, tuple) else value)
    return manifest


# Intervals


def _interval(key: str, span: Span, target: _Target, problems: list[Problem]) -> Interval | None:
    place = f"{key}={span}"
    if isinstance(target.like, bool | str | list | tuple):
        problems.append(Problem(place, f"an interval has numbers, and here stands {shown(target.like)}; write values"))
        return None
    try:
        low, high = (_number(end, target) for end in (span.low, span.high))
    except ValueKindError as error:
        problems.append(kind_problem(place, key, error, target.like, target.unit))
        return None
    if fault := _fault(key, span, low, high):
        problems.append(Problem(place, fault))
        return None
    is_integer = span.is_integer or _is_count(low, high, target)
    ends = (int(low), int(high)) if is_integer else (low, high)
    problems += [Problem(place, f"{shown(end)}: {found}") for end in ends for found in target.check(end)]
    return Interval(low=ends[0], high=ends[1], is_log=LOG in span.tags, is_integer=is_integer)


def _number(end: Any, target: _Target) -> float:
    number = normalised(end, 0.0, target.unit)
    assert isinstance(number, float)
    return number


def _fault(key: str, span: Span, low: float, high: float) -> str | None:
    if unknown := sorted(span.tags - {LOG}):
        return f"unknown tag {unknown[0]!r}{did_you_mean(unknown[0], [LOG])}"
    if low == high:
        return f"its ends are the same; write {for_shell(f'{key}={shown(span.low)}')}"
    if low > high:
        turned = for_shell(f"{key}={replace(span, low=span.high, high=span.low)}")
        return f"its lower end comes first; write {turned}"
    if span.tags and low <= 0:
        return "a log scale begins above 0"
    if span.is_integer and not (low.is_integer() and high.is_integer()):
        return "int() takes an interval with whole ends"
    return None if math.isfinite(high - low) else "it is too wide"


def _is_count(low: float, high: float, target: _Target) -> bool:
    """Whether the manifest takes whole numbers only: it is asked, the base's value may just happen to be whole."""
    if target.unit or isinstance(target.like, float) or not (low.is_integer() and high.is_integer()):
        return False
    takes_whole = not (target.check(int(low)) and target.check(int(high)))
    return takes_whole and bool(target.check(low + 0.5))
