"""Every built-in component, as the Manifest's ``components`` section reads it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sweep.plan.drivers import TorqueSpec
from sweep.plan.interactions import LimitExceededSpec
from sweep.plan.sensors import EncoderSpec

AnyComponent = Annotated[EncoderSpec | TorqueSpec | LimitExceededSpec, Field(discriminator="type")]
"""Told apart by their ``type``."""
