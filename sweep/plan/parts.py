"""What is found out about one part of a manifest, found out once: cells share the parts that they do not change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

REMEMBERED = 4096
"""Answers kept: a manifest has some ten parts with five answers each, those of its cells come and go."""


class PartMemo:
    """Answers of pure functions of a part and its surroundings, for as long as those are the same objects.

    Parts are frozen, but neither hashable nor cheap to compare; to be the same object is what cells have in common
    that share a part.  The answers that were asked for least recently are forgotten.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[Any, ...], tuple[Any, tuple[object, ...]]] = OrderedDict()

    def of(self, function: Callable[..., T], name: str, part: object, *around: object) -> T:
        """``function(name, part, *around)``, computed where it is not known.

        Args:
            function: one whose answer depends on its arguments alone.
            name: the part's name in its section.
            part: the part.
            around: what else it looks at, told apart by identity.
        """
        key = (function, name, id(part), *map(id, around))
        known = self._answers.get(key)
        if known is None:
            # The objects are kept beside the answer, so that nothing else can get their ids.
            known = self._answers[key] = (function(name, part, *around), (part, *around))
            if len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(key)
        answer: T = known[0]
        return answer

    def each(self, function: Callable[..., T], parts: Mapping[str, object], *around: object) -> dict[str, T]:
        """The answers of :meth:`of` for all parts of a section, by name."""
        return {name: self.of(function, name, part, *around) for name, part in parts.items()}
