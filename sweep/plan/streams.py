"""Names of noise streams and the keys that follow from them.

A stream is named by episode seed, component id and stream name, and by nothing else: no creation order,
no neighbour, no lane, no process can shift it.
"""

from __future__ import annotations

import hashlib
import unicodedata
from numbers import Integral
from typing import Any

from sweep.errors import InvalidInputError, Problem

KEY_DOMAIN = "fibril-rng-1"
"""First part of every key: another scheme would begin with another word."""

MAX_SEED = 2**64 - 1
"""Largest episode seed."""


def checked_seed(seed: Any) -> int:
    """``seed`` as an int.

    Raises:
        InvalidInputError: not an integer in 0 .. 2**64-1.
    """
    is_integer = not isinstance(seed, bool) and isinstance(seed, Integral)
    if is_integer and 0 <= int(seed) <= MAX_SEED:
        return int(seed)
    raise InvalidInputError("seed", [Problem("", f"a seed is an integer from 0 to 2**64-1; found {seed!r}")])


def stream_key(seed: int, component_id: str, stream: str) -> int:
    """The 128-bit key of a noise stream: BLAKE2b over the length-prefixed parts of its name.

    Lengths come first because ("ab", "cdef") and ("abc", "def") would otherwise be one name.

    Args:
        seed: episode seed, 0 .. 2**64-1.
        component_id: whose noise it is; any text, equal after Unicode normalisation (NFC) is the same.
        stream: which of its sources of randomness, for example ``"white"``.

    Raises:
        InvalidInputError: the seed is not an integer in 0 .. 2**64-1.
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in (KEY_DOMAIN, str(checked_seed(seed)), component_id, stream):
        data = unicodedata.normalize("NFC", part).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return int.from_bytes(digest.digest(), "little")
