"""Canonical JSON and content ids: equal content, equal id, on every machine and in every process."""

from __future__ import annotations

import hashlib
import json
from typing import Any

ID_HEX = 16
"""Hexadecimal digits of a content id: 64 bits, a collision among a million runs has odds of 3e-8."""


def canonical_json(value: Any) -> str:
    """The one JSON text of ``value``: keys sorted, no white space, floats by their shortest repr.

    Raises:
        ValueError: a NaN or an infinity, which JSON cannot say.
        TypeError: a value that is not plain data.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def content_id(value: Any) -> str:
    """The id of plain data: 16 hexadecimal digits of BLAKE2b over its canonical JSON."""
    return bytes_id(canonical_json(value).encode())


def bytes_id(data: bytes) -> str:
    """The id of bytes: 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(data, digest_size=ID_HEX // 2).hexdigest()
