"""What docstrings of the Manifest's sections say, for the command line and for editors: written once, read here."""

from __future__ import annotations

import inspect
import re

from sweep.plan.fields import Section
from sweep.plan.units import unit_of

_SECTION = re.compile(r"^(?:Class attributes|Attributes|Returns|Raises|Args):$", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^Attributes:\n((?:(?:    .*)?\n?)*)", re.MULTILINE)
_ENTRY = re.compile(r"^    (\w+): ((?:.*)(?:\n      .*)*)", re.MULTILINE)
_UNIT = re.compile(r"\s*\[([^\]]+)\]")
_CODE = "``"


def prose(cls: type) -> str:
    """A class's docstring without its lists of attributes."""
    return _SECTION.split(inspect.cleandoc(cls.__doc__ or ""))[0].strip()


def summary(cls: type) -> str:
    """Its first sentence, on one line."""
    return " ".join(prose(cls).split("\n\n")[0].split()).partition(". ")[0].removesuffix(".") + "."


def attributes(section: type[Section]) -> dict[str, str]:
    """What its fields are, by name; what a subclass says of an inherited one comes first."""
    found: dict[str, str] = {}
    for cls in section.__mro__:
        listed = _ATTRIBUTES.search(inspect.cleandoc(cls.__dict__.get("__doc__") or ""))
        for name, text in _ENTRY.findall(listed.group(1) if listed else ""):
            found.setdefault(name, " ".join(text.split()))
    return {name: text for name, text in found.items() if name in section.model_fields}


def meaning_and_unit(section: type[Section], name: str) -> tuple[str, str]:
    """What a field is, and its unit: as its description says in brackets, else as its name does; ``""`` for none."""
    # Brackets inside code are part of it.
    pieces = attributes(section).get(name, "").split(_CODE)
    units = [unit for piece in pieces[::2] for unit in _UNIT.findall(piece)]
    pieces[::2] = [_UNIT.sub("", piece) for piece in pieces[::2]]
    return _CODE.join(pieces), units[-1].removeprefix("-") if units else unit_of(name)
