"""Screenshots that are small enough for a repository."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

COLOURS = 256


def keep(screenshot: bytes, path: Path) -> None:
    """A PNG with as few colours as such pages need."""
    image = Image.open(io.BytesIO(screenshot)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def photograph(place: Any, path: Path, **options: Any) -> None:
    """A page, or an element of one."""
    keep(place.screenshot(**options), path)
