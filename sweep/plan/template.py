"""Texts that differ in a few places: what is the same in all of them is put together once."""

from __future__ import annotations

from collections.abc import Mapping

_EDGE = "\0"
"""Encloses the name of a gap; in JSON it stands nowhere, strings have it escaped."""


def gap(name: str) -> str:
    """What stands in a text where the JSON of that name will be filled in."""
    return f"{_EDGE}{name}{_EDGE}"


class Template:
    """A canonical JSON text with gaps.

    Args:
        text: the text, each gap in it as :func:`gap` writes it.
    """

    __slots__ = ("_gaps", "_pieces")

    def __init__(self, text: str) -> None:
        self._pieces = text.split(_EDGE)
        self._gaps = self._pieces[1::2]

    def filled(self, texts: Mapping[str, str]) -> str:
        """The whole text.

        Args:
            texts: the canonical JSON for each gap, by name.
        """
        pieces = self._pieces.copy()
        pieces[1::2] = [texts[name] for name in self._gaps]
        return "".join(pieces)
