"""The built-in devices, drivers, interactions and observers: the live parts of what the Manifest declares."""

from __future__ import annotations

from typing import Any

from sweep.plan.component import ComponentSpec
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
from sweep.runtime.components.contact import Contact
from sweep.runtime.components.contact_held import ContactHeld
from sweep.runtime.components.custom_device import CustomDevice
from sweep.runtime.components.custom_driver import CustomDriver
from sweep.runtime.components.custom_interaction import CustomInteraction
from sweep.runtime.components.custom_observer import CustomObserver
from sweep.runtime.components.custom_pose import CustomPose
from sweep.runtime.components.dropped_object import DroppedObject
from sweep.runtime.components.encoder import Encoder
from sweep.runtime.components.fell import Fell
from sweep.runtime.components.force_torque import ForceTorque
from sweep.runtime.components.goal_reached import GoalReached
from sweep.runtime.components.imu import Imu
from sweep.runtime.components.limit_exceeded import LimitExceeded
from sweep.runtime.components.mocap_motion import MocapMotion
from sweep.runtime.components.motor import Motor
from sweep.runtime.components.native_servo import NativeServo
from sweep.runtime.components.pose_tracker import PoseTracker
from sweep.runtime.components.push import Push
from sweep.runtime.components.range import RangeFinder
from sweep.runtime.components.servo import Servo
from sweep.runtime.components.torque import Torque

_LIVE: dict[type[ComponentSpec], Any] = {
    EncoderSpec: Encoder,
    ImuSpec: Imu,
    ForceTorqueSpec: ForceTorque,
    ContactSpec: Contact,
    RangeSpec: RangeFinder,
    PoseTrackerSpec: PoseTracker,
    TorqueSpec: Torque,
    PositionSpec: NativeServo,
    VelocitySpec: NativeServo,
    ServoSpec: Servo,
    MotorSpec: Motor,
    LimitExceededSpec: LimitExceeded,
    GoalReachedSpec: GoalReached,
    FellSpec: Fell,
    ContactHeldSpec: ContactHeld,
    DroppedObjectSpec: DroppedObject,
    PushSpec: Push,
    MocapMotionSpec: MocapMotion,
    CustomDeviceSpec: CustomDevice,
    CustomDriverSpec: CustomDriver,
    CustomInteractionSpec: CustomInteraction,
    CustomObserverSpec: CustomObserver,
    CustomPoseSpec: CustomPose,
}


def live_class(spec: ComponentSpec) -> Any:
    """The class that simulates a component's spec."""
    return _LIVE[type(spec)]
