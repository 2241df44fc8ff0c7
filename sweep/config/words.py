"""The words of a command line, as plain values: what was typed, which key it names, which values it gives."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sweep.design.cell import shown
from sweep.errors import Problem

Mode = Literal["change", "add", "force", "delete"]

SETTINGS = (
    "scene",
    "design",
    "exclude",
    "executor",
    "tracking",
    "seeds",
    "trace",
    "baseline",
    "name",
    "output",
    "on_failure",
    "canary",
)
"""Root keys that are not the manifest; one sweep has one value of each."""

_VERBATIM = ("exclude", "on_failure")

_ADVICE = {
    "scene": "one sweep has one scene; run one command per scene and put them side by side with `compare DIR DIR2`",
    "design": "one sweep has one design",
    "executor": "results do not depend on the executor; choose one",
    "tracking": "choose one",
    "trace": "what is kept of a run does not change its results; choose one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """An interval as it was typed, the only value of its word.

    Attributes:
        low: the lower end, a number or a text with a unit.
        high: the upper end.
        tags: what ``tag()`` says of it.
        is_integer: whether it stands in ``int()``.
    """

    low: Any
    high: Any
    tags: frozenset[str] = frozenset()
    is_integer: bool = False

    def __str__(self) -> str:
        text = f"interval({shown(self.low)},{shown(self.high)})"
        text = f"int({text})" if self.is_integer else text
        return f"tag({','.join(sorted(self.tags))},{text})" if self.tags else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One override, parsed.

    Attributes:
        text: as it was typed.
        key: the key without ``+``, ``++`` or ``~``, list indices as ``.0``.
        mode: which of those stood before it.
        values: plain data; one, unless it is a sweep.
        is_sweep: whether it was written as a sweep.
        package: Hydra's ``@package``, if any.
        places: where each value stands, if not in the word itself.
    """

    text: str
    key: str
    mode: Mode
    values: tuple[Any, ...]
    is_sweep: bool
    package: str | None = None
    places: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The first part of the key."""
        return self.key.partition(".")[0].partition("/")[0]


def plain_key(text: str) -> str:
    """A key as typed, in its one spelling: ``+latency`` and ``latency`` are the same, so are ``a[0]`` and ``a.0``."""
    return re.sub(r"\[(\w+)\]", r".\1", text.lstrip("+~").strip())


def verbatim(text: str) -> Word | None:
    """A word whose value is no value of the grammar but a text of its own; None for others.

    For example ``exclude=latency > 10ms`` and ``on_failure=stop_after=3``.  Quotes around all of the text are taken
    off: some shells and configurations keep them.
    """
    head, equal, value = text.partition("=")
    key = plain_key(head)
    if key not in _VERBATIM or not equal:
        return None
    value = value.strip()
    quoted = re.fullmatch(r"""(['"])((?:(?!\1).)*)\1""", value, re.DOTALL)
    text_of = quoted[2] if quoted else value
    return Word(text=text, key=key, mode="change", values=(None if value == "null" else text_of,), is_sweep=False)


def repeated(words: Sequence[Word]) -> list[Problem]:
    """Keys given more than once; ``latency=``, ``+latency=`` and ``++latency=`` are the same key."""
    texts: dict[tuple[str, str | None], list[str]] = {}
    for word in words:
        texts.setdefault((word.key, word.package), []).append(word.text)
    return [
        Problem(key, f"given {len(same)} times: {' '.join(same)}; {_once(key)}")
        for (key, _), same in texts.items()
        if len(same) > 1
    ]


def _once(key: str) -> str:
    is_setting = key.partition(".")[0] in SETTINGS
    return "write it once" if is_setting else "write its values in one word, separated by commas"


def refused_sweep(word: Word) -> Problem:
    """Why a setting or a group cannot be swept, and what to write instead."""
    if word.key == "seeds":
        listed = shown(list(word.values))
        return Problem(word.text, f"seeds are not an axis, every cell runs all of them; write seeds={listed}")
    if word.root in _ADVICE:
        return Problem(word.text, f"{word.root!r} cannot be swept: {_ADVICE[word.root]}")
    return Problem(word.text, f"{word.key!r} cannot be swept; axes and manifest paths can")


def unreadable(text: str, error: str, following: str | None, reads: Callable[[str], bool]) -> Problem:
    """What to tell about a word that the grammar cannot read: the token, where, and a spelling that can be read.

    Args:
        text: the word.
        error: what the grammar says.
        following: the next word.
        reads: whether the grammar reads a word.
    """
    if re.search(r"range\([^)]*\d\s*(?!e[-+]?\d)[a-zµμ%]", text):
        why = "range() takes plain numbers in SI units, for example range(0,0.02,0.005)"
    elif re.search(r"\binterval\(", text) and "evaluating" in error:
        why = "interval() takes its two ends, interval(0,0.01) or tag(log,interval(1ms,20ms))"
    elif re.search(r"\btag\(", text) and "evaluating" in error:
        why = "tag() goes with interval(), for example tag(log,interval(0.001,1))"
    elif text.partition("=")[1] == "" and not text.startswith("~"):
        why = "there is no '=' in it"
    elif token := re.search(r"(?:at|at input|input):? '(.*?)'(?: expecting|$)", error, re.DOTALL):
        column = text.find(token[1]) + 1
        end = token[1] == "<EOF>"
        why = "cannot be read: it ends too early" if end else f"cannot be read at {token[1]!r}, column {column}"
    else:
        why = f"cannot be read: {error.splitlines()[0]}"
    better = corrected(text, following, reads)
    return Problem(text, f"{why}; write {better}" if better else why)


def corrected(text: str, following: str | None, reads: Callable[[str], bool]) -> str | None:
    """A spelling near ``text`` that the grammar reads, quoted for a shell.

    Args:
        text: the word that cannot be read.
        following: the next word: a blank after a comma splits a list in two.
        reads: whether the grammar reads a word.
    """
    return next((for_shell(word) for word in _spellings(text, following) if reads(word)), None)


def _spellings(text: str, following: str | None) -> Iterator[str]:
    key, equal, value = text.partition("=")
    if not equal:
        if "," in text and ":" not in text and (head := re.match(r"([+~\w.]+?)[ :]+(.+)", text)):
            yield f"{head[1]}={head[2]}"
        return
    if "[" in key:
        yield f"{text[: len(text) - len(text.lstrip('+~'))]}{plain_key(key)}={value}"
    if following is not None and "=" not in following:
        yield text + following
    value = value.strip()
    tidy = re.sub(r"\s*[,;]+\s*", ",", value).strip(",")
    yield f"{key}={tidy}"
    for opening, closing in ("[]", "{}", "()", "''", '""'):
        if opening in tidy:
            yield f"{key}={tidy}{closing}"
            if not re.match(r"\w+\(", tidy):
                yield f"{key}={tidy.replace(opening, '').replace(closing, '')}"
    if not re.match(r"\w+\(", value):  # a function that is written wrongly is not a text
        quoted = value.replace("'", "\\'")
        yield f"{key}='{quoted}'"


def for_shell(word: str) -> str:
    """A word as one types it: in quotes where a shell would not leave it alone."""
    if "'" in word and not re.search(r'["$`\\!]', word):
        return f'"{word}"'
    return shlex.quote(word) if re.search(r"[^\w@%+=:,./~\-]", word) else word
