"""Two sweeps side by side: which cells they share, what does not match, and in what else they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.format import is_number, plain, scale_for
from analysis.source import Sweep, plain_value
from sweep.errors import InvalidInputError, Problem

LISTED = 4
"""Things named one by one in a note; the others are counted."""

Names = tuple[str, str]


def names_of(a: Sweep, b: Sweep) -> Names:
    """What to call the two."""
    one, two = a.header.name, b.header.name
    return (f"A {one}", f"B {two}") if one == two else (one, two)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Which cells of two sweeps are compared.

    Attributes:
        places: indices of both cells, in the order of the first sweep.
        change: nominal values in which the two sweeps differ everywhere, in words; empty if their cells are the same.
    """

    places: Sequence[tuple[int, int]]
    change: str = ""


def matched(a: Sweep, b: Sweep, names: Names) -> Matching:
    """The cells that both have; if there is none, those that only axes with another nominal value keep apart.

    Such an axis is swept in neither sweep and nominal in every cell of both, so that it differs by the same change
    in every pair; all else that the cells are made of has to be equal.

    Raises:
        InvalidInputError: there is none.
    """
    found = _equal(a, b, [[cell.cell_id for cell in sweep.cells] for sweep in (a, b)])
    if found:
        return Matching(places=found)
    moved = _moved(a, b)
    if moved:
        kept = [key for key in a.keys if key not in moved]
        found = _equal(a, b, [[repr([cell.values.get(k) for k in kept]) for cell in sweep.cells] for sweep in (a, b)])
    if not found:
        raise InvalidInputError("comparison", [Problem(" and ".join(names), _nothing_shared(a, b, names))])
    return Matching(places=found, change=", ".join(_step(a, key, *values) for key, values in moved.items()))


def _equal(a: Sweep, b: Sweep, names: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    there = {name: j for j, name in enumerate(names[1])}
    return [(i, there[name]) for i, name in enumerate(names[0]) if name in there]


def _moved(a: Sweep, b: Sweep) -> dict[str, tuple[Any, Any]]:
    """Axes that are nominal in all cells of both sweeps, and not the same; none if the two know different keys."""
    if set(a.keys) != set(b.keys):
        return {}
    nominal = {key: (plain_value(a.nominal(key)), plain_value(b.nominal(key))) for key in a.header.axes}
    return {
        key: (x, y)
        for key, (x, y) in nominal.items()
        if x != y
        and all(cell.values.get(key) == x for cell in a.cells)
        and all(cell.values.get(key) == y for cell in b.cells)
    }


def _step(sweep: Sweep, key: str, old: Any, new: Any) -> str:
    """``control_period 5 → 10 ms``."""
    if not (is_number(old) and is_number(new)):
        return f"{key} {plain(old)} → {plain(new)}"
    scale = scale_for([old, new], sweep.header.axes[key].unit)
    return f"{key} {plain(old / scale.factor)} → {plain(new / scale.factor)} {scale.unit}".rstrip()


def _nothing_shared(a: Sweep, b: Sweep, names: Names) -> str:
    sentences = ["share no cell, and only cells in which every axis has the same value can be compared."]
    one, two = (set(sweep.header.axes) for sweep in (a, b))
    for alone, name in zip((one - two, two - one), names, strict=True):
        if alone:
            sentences.append(f"Only {name} declares {', '.join(sorted(alone))}: such sweeps never share one.")
    for sweep, name in zip((a, b), names, strict=True):
        sentences.append(f"{name} has {'; '.join([cell.label for cell in sweep.cells][:LISTED]) or 'no cell'}.")
    apart = {key: [_texts(sweep, key) for sweep in (a, b)] for key in a.keys if key in b.keys}
    sentences += [
        f"{key} is {', '.join(x[:LISTED])} in {names[0]} and {', '.join(y[:LISTED])} in {names[1]}."
        for key, (x, y) in apart.items()
        if not set(x) & set(y)
    ]
    sentences.append("Sweep the same values in both, or compare the cells of each with its own baseline.")
    return " ".join(sentences)


def _texts(sweep: Sweep, key: str) -> list[str]:
    """The values of a key in the sweep's cells, in SI."""
    unit = sweep.header.axes[key].unit if key in sweep.header.axes else ""
    return list(dict.fromkeys(f"{plain(cell.values.get(key))} {unit}".rstrip() for cell in sweep.cells))


def notes_of_two(a: Sweep, b: Sweep, names: Names, matching: Matching) -> tuple[str, ...]:
    """What a reader has to know of two sweeps: what only one of them has, and what they were made from."""
    notes = []
    if matching.change:
        notes.append(f"cells are compared across a changed nominal value: {matching.change}")
    used = [set(side) for side in zip(*matching.places, strict=True)]
    for here, there, name, paired in ((a, b, names[0], used[0]), (b, a, names[1], used[1])):
        alone = [cell.label for i, cell in enumerate(here.cells) if i not in paired]
        if alone:
            notes.append(f"{len(alone)} of {len(here.cells)} cells are only in {name}: {_listed(alone)}")
        lonely = sorted(set(here.header.metrics) - set(there.header.metrics))
        if lonely:
            notes.append(f"metrics only in {name}: {', '.join(lonely)}")
        seeds = set().union(*here.seeds.values()) - set().union(*there.seeds.values())
        if seeds:
            notes.append(f"{len(seeds)} {'seed is' if len(seeds) == 1 else 'seeds are'} only in {name}")
    return (*notes, *_made_from(a, b, names))


def _made_from(a: Sweep, b: Sweep, names: Names) -> Iterator[str]:
    """In what the two differ beside their cells: the model, the configuration, the code."""
    one, two = a.header, b.header
    if one.model_id != two.model_id:
        files = _listed([name for name, *_ in _changed(one.files, two.files)])
        yield f"the models differ ({one.model_id[:8]} in {names[0]}, {two.model_id[:8]} in {names[1]})" + (
            f": {files}" if files else ""
        )
    settings = list(_changed(_leaves(one.manifest), _leaves(two.manifest)))
    if settings:
        yield "the configurations differ: " + _listed([f"{k} {plain(x)} → {plain(y)}" for k, x, y in settings])
    if one.code_id != two.code_id:
        parts = [
            name if len(f"{x}{y}") > 2 * LONGEST else f"{name} {plain(x)} → {plain(y)}"
            for name, x, y in _changed(one.code, two.code)
        ]
        yield "the code differs" + (f": {_listed(parts)}" if parts else "")
    if (one.model_id, one.code_id) == (two.model_id, two.code_id) and not settings:
        yield "the two are made from the same model, configuration and code"


LONGEST = 16
"""Longer texts are digests, which nobody compares by eye."""


def _changed(one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*one, *two]):
        if one.get(name) != two.get(name):
            yield name, one.get(name), two.get(name)


def _leaves(document: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(document, Mapping):
        return {path: document}
    return {
        key: leaf
        for name, value in document.items()
        for key, leaf in _leaves(value, f"{path}.{name}" if path else str(name)).items()
    }


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
    return ", ".join(texts[:LISTED]) + more
