"""A place without a ledger: what was probably meant."""

from __future__ import annotations

import difflib
from pathlib import Path

_NAMED = 10
"""Sweeps that are listed."""


def missing_text(place: Path, ledger_name: str) -> str:
    """Say that a place has no ledger, and name the sweeps in it, or those beside it that are called like it."""
    inside = _sweeps_in(place, ledger_name)
    if inside:
        return f"There is no ledger at {place}, a folder of sweeps; name one of them: {_listed(inside)}"
    beside = {path.name: path for path in _sweeps_in(place.parent, ledger_name)}
    begun = [path for name, path in beside.items() if name.startswith(place.name)]
    near = begun or [beside[name] for name in difflib.get_close_matches(place.name, beside, n=1)]
    if near:
        return f"There is no ledger at {place}; did you mean {_listed(near)}?"
    return f"There is no ledger at {place}; is this the folder of a sweep?"


def _sweeps_in(folder: Path, ledger_name: str) -> list[Path]:
    return sorted(path.parent for path in folder.glob(f"*/{ledger_name}"))


def _listed(folders: list[Path]) -> str:
    more = f" and {len(folders) - _NAMED} more" if len(folders) > _NAMED else ""
    return ", ".join(map(str, folders[:_NAMED])) + more
