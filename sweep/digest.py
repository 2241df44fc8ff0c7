"""Canonical JSON and content ids: equal content, equal id, on every machine and in every process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)

ID_HEX = 16
"""Hexadecimal digits of a content id: 64 bits, a collision among a million runs has odds of 3e-8."""


def canonical_json(value: Any) -> str:
    """The one JSON text of ``value``: keys sorted, no white space, floats by their shortest repr.

    Raises:
        ValueError: a NaN or an infinity, which JSON cannot say.
        TypeError: a value that is not plain data.
    """
    if type(value) is float and isfinite(value):  # most of what a sweep changes, at a tenth of an encoder's time
        return repr(value)
    return _ENCODER.encode(value)


def joined_json(parts: Mapping[str, str]) -> str:
    """The :func:`canonical_json` of a mapping, from the canonical JSON of its values."""
    return "{" + ",".join([f"{encode_basestring(key)}:{parts[key]}" for key in sorted(parts)]) + "}"


def content_id(value: Any) -> str:
    """The id of plain data: 16 hexadecimal digits of BLAKE2b over its canonical JSON."""
    return text_id(canonical_json(value))


def text_id(text: str) -> str:
    """The id of what a canonical JSON text says."""
    return bytes_id(text.encode())


def bytes_id(data: bytes) -> str:
    """The id of bytes: 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(data, digest_size=ID_HEX // 2).hexdigest()
