"""Drivers of MuJoCo's own servos: MuJoCo computes the force, the driver hands over setpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from sweep.plan.component import ModelAdditions, ModelValue, NativeServo
from sweep.plan.drivers import DriverSpec, Magnitudes
from sweep.plan.fields import Numbers

_SERVO_COLUMNS = (("actuator_gainprm", 0), ("actuator_biasprm", 0), ("actuator_biasprm", 1), ("actuator_biasprm", 2))
"""Where MuJoCo keeps a servo's gains: force = gain * control + (b0 + b1 * length + b2 * velocity)."""


class NativeServoSpec(DriverSpec):
    """What MuJoCo's own servos have in common: commands are their setpoints, and MuJoCo computes the force.

    Actuators that are no such servos in the model become ones where gains are given; their control range, which was
    one of efforts, becomes their force range.  Gains and limits are in the actuator's own units, behind its gear.

    Attributes:
        kd: gain on the velocity [N m s/rad, N s/m]; the model's own if not given.
        effort_limit: largest force of the actuator [N m, N], instead of the model's own force range.
        limit: largest magnitude of a setpoint; the actuator's own control range always holds too.
        fallback: what stands for the setpoint while tripped: ``hold`` the last one, ``zero``, or numbers.
    """

    kind: ClassVar[Literal["position", "velocity"]]
    per_control: ClassVar[frozenset[str]] = DriverSpec.per_control | {"kd", "effort_limit", "limit"}
    varying: ClassVar[frozenset[str]] = DriverSpec.varying | per_control

    kd: Magnitudes | None = None
    effort_limit: Magnitudes | None = None
    limit: Magnitudes | None = None
    fallback: Literal["hold", "zero"] | Numbers = "hold"

    @property
    def makes_servos(self) -> bool:
        """Whether it gives what an actuator needs to become its kind of servo."""
        raise NotImplementedError

    def gains(self) -> dict[tuple[str, int], tuple[float, ...]]:
        """The gains given, as what stands in an MjModel field's column."""
        raise NotImplementedError

    def additions(self, name: str) -> ModelAdditions:
        """See :meth:`ComponentSpec.additions`."""
        kind, limited = self.kind if self.makes_servos else None, self.effort_limit is not None
        if kind is None and not limited:
            return ModelAdditions()
        servos = [NativeServo(actuator=a, kind=kind, force_limited=limited) for a in self.actuators]
        return ModelAdditions(servos=tuple(servos))

    def model_values(self) -> tuple[ModelValue, ...]:
        """See :meth:`ComponentSpec.model_values`: gains times strength, and limits."""
        given = self.gains()
        values = []
        for i, actuator in enumerate(self.actuators):
            strength = _entry(self.strength, i)
            for field, column in _SERVO_COLUMNS:
                gain = given.get((field, column))
                if gain is not None or strength != 1:
                    value = None if gain is None else _entry(gain, i)
                    values.append(ModelValue(field=field, element=actuator, column=column, value=value, scale=strength))
            if self.effort_limit is not None:
                limit = _entry(self.effort_limit, i)
                for column, end in ((0, -limit), (1, limit)):
                    values.append(ModelValue(field="actuator_forcerange", element=actuator, column=column, value=end))
        return tuple(values)


class PositionSpec(NativeServoSpec):
    """MuJoCo's position servos: force = kp * (command - position) - kd * velocity.

    Attributes:
        kp: gain on the position error [N m/rad, N/m]; the model's own if not given.
    """

    kind: ClassVar[Literal["position", "velocity"]] = "position"
    per_control: ClassVar[frozenset[str]] = NativeServoSpec.per_control | {"kp"}
    varying: ClassVar[frozenset[str]] = NativeServoSpec.varying | per_control
    example: ClassVar[str] = """
        type: position
        actuators: [shoulder_motor, elbow_motor]
        kp: [300, 200]
        kd: 8
        effort_limit: 40
        command_latency_s: 1 ms
    """

    type: Literal["position"]
    kp: Magnitudes | None = None

    @property
    def makes_servos(self) -> bool:
        """See :attr:`NativeServoSpec.makes_servos`."""
        return self.kp is not None

    def gains(self) -> dict[tuple[str, int], tuple[float, ...]]:
        """See :meth:`NativeServoSpec.gains`."""
        found: dict[tuple[str, int], tuple[float, ...]] = {}
        if self.kp is not None:
            found |= {("actuator_gainprm", 0): self.kp, ("actuator_biasprm", 1): _negated(self.kp)}
        if self.kd is not None:
            found |= {("actuator_biasprm", 2): _negated(self.kd)}
        return found


class VelocitySpec(NativeServoSpec):
    """MuJoCo's velocity servos: force = kd * (command - velocity).

    Attributes:
        dead_band: commands up to this magnitude act as zero [rad/s, m/s].
        dead_band_jump: whether a larger one acts in full, instead of by what it exceeds the dead band.
        fallback: what stands for the setpoint while tripped: ``hold`` the last one, ``zero``, or numbers.
    """

    kind: ClassVar[Literal["position", "velocity"]] = "velocity"
    per_control: ClassVar[frozenset[str]] = NativeServoSpec.per_control | {"dead_band"}
    varying: ClassVar[frozenset[str]] = NativeServoSpec.varying | per_control
    example: ClassVar[str] = """
        type: velocity
        actuators: elbow_motor
        kd: 10
        effort_limit: 20
        timeout_s: 50 ms
    """

    type: Literal["velocity"]
    dead_band: Magnitudes = (0.0,)
    dead_band_jump: bool = False
    fallback: Literal["hold", "zero"] | Numbers = "zero"

    @property
    def makes_servos(self) -> bool:
        """See :attr:`NativeServoSpec.makes_servos`."""
        return self.kd is not None

    def gains(self) -> dict[tuple[str, int], tuple[float, ...]]:
        """See :meth:`NativeServoSpec.gains`."""
        if self.kd is None:
            return {}
        return {("actuator_gainprm", 0): self.kd, ("actuator_biasprm", 2): _negated(self.kd)}


def _entry(numbers: tuple[float, ...], control: int) -> float:
    """The number of one control; of numbers that do not fit the controls, any: the component's own check names them."""
    return numbers[control] if control < len(numbers) else numbers[0]


def _negated(numbers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(-number for number in numbers)
