"""What the Manifest says of sensors, one class a family."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from sweep.plan.device import DeviceSpec
from sweep.plan.fields import Names, NonNegative, one_or_many

Measures = Annotated[tuple[Literal["position", "velocity"], ...], BeforeValidator(one_or_many), Field(min_length=1)]


class EncoderSpec(DeviceSpec):
    """Joint encoders: position, velocity or both, of any number of joints.

    The output is ``(lanes, width)``: the first measure of all joints in their order, then the second.

    Attributes:
        joints: hinge or slide joints.
        measures: ``position``, ``velocity`` or both.
        white_std: standard deviation of white noise on positions [rad or m].
        velocity_white_std: the same on velocities [rad/s or m/s].
        bias_std: standard deviation of an offset of positions that an episode keeps: how well it was zeroed [rad or m].
        noise_scale: factor on all of them, to sweep the noise as a whole.
    """

    varying: ClassVar[frozenset[str]] = DeviceSpec.varying | {
        "white_std",
        "velocity_white_std",
        "bias_std",
        "noise_scale",
    }
    streams: ClassVar[tuple[str, ...]] = ("white",)
    episode_streams: ClassVar[tuple[str, ...]] = ("bias",)

    type: Literal["encoder"]
    joints: Names
    measures: Measures = ("position",)
    white_std: NonNegative = 0.0
    velocity_white_std: NonNegative = 0.0
    bias_std: NonNegative = 0.0
    noise_scale: NonNegative = 1.0
