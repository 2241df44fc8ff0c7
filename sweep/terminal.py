"""Lines as a terminal shows them: prose broken at words, commands whole."""

from __future__ import annotations

import os
import textwrap
from typing import IO

_COMMAND = "python -m "
_WIDTH = 80
"""Of a terminal that does not say."""


def fitted(text: str, stream: IO[str]) -> str:
    """Break lines at words where a terminal would break them inside; a file or a pipe gets them as they are.

    A line with a command stays whole, for people copy it, and so does a word that is longer than a line.
    """
    if not stream.isatty():
        return text
    width = os.get_terminal_size(stream.fileno()).columns or _WIDTH
    return "\n".join(part for line in text.split("\n") for part in _parts(line, width))


def _parts(line: str, width: int) -> list[str]:
    if len(line) <= width or _COMMAND in line:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
