"""Paths into plain nested data: ``components.encoders.latency_s``, ``gains.0``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

MISSING: Any = object()
"""What :func:`lookup` answers where there is nothing."""


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All leaves with their paths, in the order of the document; an empty mapping or list is a leaf."""
    items = _items(tree)
    if not items:
        yield path, tree
    for key, value in items:
        yield from leaves(value, f"{path}.{key}" if path else key)


def nodes(tree: Any, path: str = "") -> Iterator[str]:
    """The paths of everything below ``tree``, inner nodes too."""
    for key, value in _items(tree):
        below = f"{path}.{key}" if path else key
        yield below
        yield from nodes(value, below)


def lookup(tree: Any, path: str) -> Any:
    """What stands at a path, or :data:`MISSING`."""
    for part in path.split("."):
        tree = dict(_items(tree)).get(part, MISSING)
        if tree is MISSING:
            return MISSING
    return tree


def placed(tree: Any, path: str, value: Any) -> Any:
    """A copy of ``tree`` with ``value`` at ``path``; what does not lie on the path is shared, not copied."""
    head, _, rest = path.partition(".")
    if isinstance(tree, list | tuple):
        items = list(tree)
        items[int(head)] = placed(items[int(head)], rest, value) if rest else value
        return items
    copy = dict(tree) if isinstance(tree, Mapping) else {}
    copy[head] = placed(copy.get(head, {}), rest, value) if rest else value
    return copy


def nearest_path(tree: Any, path: str) -> str:
    """Advice for a path that does not exist: the nearest that does, and what stands at the deepest part that does."""
    near = difflib.get_close_matches(path, list(nodes(tree)), n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    parts = path.split(".")
    for depth in range(len(parts) - 1, -1, -1):
        parent = ".".join(parts[:depth])
        children = [key for key, _ in _items(lookup(tree, parent) if parent else tree)]
        if children:
            return f"{hint} In {parent or 'it'} there is: {', '.join(children)}"
    return hint


def _items(tree: Any) -> list[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        return [(str(key), value) for key, value in tree.items()]
    if isinstance(tree, list | tuple):
        return [(str(index), value) for index, value in enumerate(tree)]
    return []
