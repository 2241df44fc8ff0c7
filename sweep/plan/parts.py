"""What is found out about one part of a manifest, found out once: cells share the parts that they do not change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

SECTIONS = 64
"""Sections kept whole at most, of which a manifest has some fifteen with all that is asked of them."""

_Key = tuple[Any, ...]
_Known = tuple[Any, object, tuple[object, ...]]
"""An answer, and what it was found from."""

REMEMBERED = 4096
"""Answers kept at most: a manifest has some ten parts with five answers each, those of its cells come and go."""

_NOTHING: tuple[Mapping[str, object], Mapping[str, Any], tuple[object, ...]] = ({}, {}, ())


class PartMemo:
    """Answers of pure functions of a part and its surroundings, for as long as those are the same objects.

    Parts are frozen, but neither hashable nor cheap to compare; to be the same object is what cells have in common
    that share a part.  Answers that were not asked for in a while are forgotten.
    """

    def __init__(self) -> None:
        self._recent: dict[_Key, _Known] = {}
        self._before: dict[_Key, _Known] = {}
        self._last: dict[_Key, tuple[Mapping[str, object], Mapping[str, Any], tuple[object, ...]]] = {}

    def of(self, function: Callable[..., T], name: Hashable, part: object, *around: object) -> T:
        """``function(name, part, *around)``, computed where it is not known.

        Args:
            function: one whose answer depends on its arguments alone.
            name: the part's name in its section, or what else tells the question.
            part: the part.
            around: what else it looks at, told apart by identity.
        """
        key = (function, name, id(part), *map(id, around))
        known = self._recent.get(key)
        if known is None:
            # The objects are kept beside the answer, so that nothing else can get their ids.
            known = self._before.get(key) or (function(name, part, *around), part, around)
            if len(self._recent) >= REMEMBERED // 2:
                self._before, self._recent = self._recent, {}  # forgotten by the thousand, which is cheap
            self._recent[key] = known
        answer: T = known[0]
        return answer

    def each(self, function: Callable[..., T], parts: Mapping[str, object], *around: object) -> Mapping[str, T]:
        """The answers of :meth:`of` for all parts of a section, by name."""
        key = (function, *map(id, around))
        last, answers, _ = self._last.get(key, _NOTHING)
        if last is not parts:
            answers = {
                name: answers[name] if last.get(name) is part else self.of(function, name, part, *around)
                for name, part in parts.items()
            }
            if len(self._last) >= SECTIONS:
                self._last.clear()  # what is around has changed with each cell
            self._last[key] = parts, answers, around
        return answers
