"""Every built-in component, as the Manifest's ``components`` section reads it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from sweep.plan.custom import (
    CustomDeviceSpec,
    CustomDriverSpec,
    CustomInteractionSpec,
    CustomObserverSpec,
    CustomPoseSpec,
)
from sweep.plan.disturbances import PushSpec
from sweep.plan.drivers import MotorSpec, ServoSpec, TorqueSpec
from sweep.plan.exteroception import ContactSpec, PoseTrackerSpec, RangeSpec
from sweep.plan.interactions import ContactHeldSpec, DroppedObjectSpec, FellSpec, GoalReachedSpec, LimitExceededSpec
from sweep.plan.native_servos import PositionSpec, VelocitySpec
from sweep.plan.prescribed import MocapMotionSpec
from sweep.plan.sensors import EncoderSpec, ForceTorqueSpec, ImuSpec

AnyComponent = Annotated[
    EncoderSpec
    | ImuSpec
    | ForceTorqueSpec
    | ContactSpec
    | RangeSpec
    | PoseTrackerSpec
    | TorqueSpec
    | PositionSpec
    | VelocitySpec
    | ServoSpec
    | MotorSpec
    | LimitExceededSpec
    | GoalReachedSpec
    | FellSpec
    | ContactHeldSpec
    | DroppedObjectSpec
    | PushSpec
    | MocapMotionSpec
    | CustomDeviceSpec
    | CustomDriverSpec
    | CustomInteractionSpec
    | CustomObserverSpec
    | CustomPoseSpec,
    Field(discriminator="type"),
]
"""Told apart by their ``type``."""
