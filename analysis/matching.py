"""Two sweeps side by side: which cells they share, what does not match, and in what else they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.format import plain
from analysis.source import Sweep
from sweep.errors import InvalidInputError, Problem

LISTED = 4
"""Things named one by one in a note; the others are counted."""

Names = tuple[str, str]


def names_of(a: Sweep, b: Sweep) -> Names:
    """What to call the two."""
    one, two = a.header.name, b.header.name
    return (f"A {one}", f"B {two}") if one == two else (one, two)


def matched(a: Sweep, b: Sweep, names: Names) -> list[tuple[int, int]]:
    """Indices of the cells that both have, in the order of ``a``.

    Raises:
        InvalidInputError: there is none.
    """
    there = {cell.cell_id: j for j, cell in enumerate(b.cells)}
    found = [(i, there[cell.cell_id]) for i, cell in enumerate(a.cells) if cell.cell_id in there]
    if not found:
        raise InvalidInputError("comparison", [Problem(" and ".join(names), _nothing_shared(a, b, names))])
    return found


def _nothing_shared(a: Sweep, b: Sweep, names: Names) -> str:
    sentences = ["share no cell, and only cells in which every axis has the same value can be compared."]
    one, two = (set(sweep.header.axes) for sweep in (a, b))
    for alone, name in zip((one - two, two - one), names, strict=True):
        if alone:
            sentences.append(f"Only {name} declares {', '.join(sorted(alone))}: such sweeps never share one.")
    for sweep, name in zip((a, b), names, strict=True):
        sentences.append(f"{name} has {'; '.join([cell.label for cell in sweep.cells][:LISTED]) or 'no cell'}.")
    sentences.append("Sweep the same values in both, or compare the cells of each with its own baseline.")
    return " ".join(sentences)


def notes_of_two(a: Sweep, b: Sweep, names: Names) -> tuple[str, ...]:
    """What a reader has to know of two sweeps: what only one of them has, and what they were made from."""
    notes = []
    for here, there, name in ((a, b, names[0]), (b, a, names[1])):
        other = {cell.cell_id for cell in there.cells}
        alone = [cell.label for cell in here.cells if cell.cell_id not in other]
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
