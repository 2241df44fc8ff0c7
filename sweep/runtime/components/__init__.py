"""The built-in devices, drivers, interactions and observers: the live parts of what the Manifest declares."""

from __future__ import annotations

from typing import Any

from sweep.plan.component import ComponentSpec
from sweep.plan.drivers import TorqueSpec
from sweep.plan.interactions import LimitExceededSpec
from sweep.plan.sensors import EncoderSpec
from sweep.runtime.components.encoder import Encoder
from sweep.runtime.components.limit_exceeded import LimitExceeded
from sweep.runtime.components.torque import Torque

_LIVE: dict[type[ComponentSpec], Any] = {
    EncoderSpec: Encoder,
    TorqueSpec: Torque,
    LimitExceededSpec: LimitExceeded,
}


def live_class(spec: ComponentSpec) -> Any:
    """The class that simulates a component's spec."""
    return _LIVE[type(spec)]
