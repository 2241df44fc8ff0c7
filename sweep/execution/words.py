"""Amounts as people say them."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def in_bytes(size: float) -> str:
    """``214 kB``, ``1.2 MB``, ``29.0 GB``."""
    if size < 999_500:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e6:.1f} MB" if size < 999_500_000 else f"{size / 1e9:.1f} GB"
