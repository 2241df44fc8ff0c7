"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine is not a failing test.
settings.register_profile("sweep", deadline=None)
settings.load_profile("sweep")
