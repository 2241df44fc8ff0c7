"""What the Manifest says of metrics: one number per run."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from sweep.plan.component import AddedSensor, ModelAdditions
from sweep.plan.fields import Names, Section

_SOURCES = ("joint", "joints", "actuators", "sensor", "site", "observer")
_AT_END = ("final", "final_abs", "observed", "survived")


class MetricSpec(Section):
    """One number per run: a fold over a signal at completed boundaries.

    Attributes:
        type: over the window ``rms``, ``mean``, ``mean_abs``, ``min``, ``max`` or ``max_abs``; at its last boundary
            ``final`` or ``final_abs``; ``survived``, the time until the run stopped; or ``observed``, a number that an
            Observer of yours kept.
        joint: the joint, or
        joints: the joints whose signal is folded together, or
        actuators: for ``signal: control``, the actuators, or
        sensor: a sensor of the model, or
        site: a site, whose position in the world is folded, or
        observer: for ``observed``, the component that keeps it.
        axis: of a site ``x``, ``y`` or ``z``, of a sensor the number of its entry; all of them together if not given.
        quantity: for ``observed``, which of the Observer's numbers.
        signal: ``position``, ``velocity`` or ``control``.
        reference: a reference trajectory that is subtracted from the position.
        unit: what people read behind the number.
        better: ``lower`` or ``higher``.
        window: ``horizon`` (only a completed run has a value), ``until_end`` (an ended one too), ``at_end`` (the value
            where the run stopped).
    """

    type: Literal[
        "rms", "mean", "mean_abs", "min", "max", "max_abs", "final", "final_abs", "survived", "observed"
    ]  # fmt: skip
    joint: str | None = None
    joints: Names | None = None
    actuators: Names | None = None
    sensor: str | None = None
    site: str | None = None
    observer: str | None = None
    axis: Literal["x", "y", "z"] | int | None = None
    quantity: str | None = None
    signal: Literal["position", "velocity", "control"] = "position"
    reference: str | None = None
    unit: str
    better: Literal["lower", "higher"] = "lower"
    window: Literal["horizon", "until_end", "at_end"] = "horizon"

    @model_validator(mode="after")
    def _consistent(self) -> MetricSpec:
        given = [source for source in _SOURCES if getattr(self, source) is not None]
        if len(given) != (self.type != "survived"):
            found = f"; found {' and '.join(given)}" if given else ""
            wanted = "no signal: it is a time" if self.type == "survived" else f"one of: {', '.join(_SOURCES)}"
            raise ValueError(f"type: {self.type} takes {wanted}{found}")
        if (self.type == "observed") != (self.observer is not None) or (self.observer is None) != (
            self.quantity is None
        ):
            raise ValueError("type: observed, observer and quantity go together")
        if (self.signal == "control") != (self.actuators is not None):
            raise ValueError("signal: control goes with actuators, position and velocity with joints")
        if (self.type in _AT_END) != (self.window == "at_end"):
            raise ValueError(f"type: {' or '.join(_AT_END)} and window: at_end go together")
        if self.reference is not None and (self.signal != "position" or not (self.joint or self.joints)):
            raise ValueError("a reference is subtracted from the position of joints")
        self._check_axis()
        return self

    @property
    def elements(self) -> tuple[str, ...]:
        """The joints or actuators folded together."""
        return self.joints or self.actuators or ((self.joint,) if self.joint is not None else ())

    @property
    def sensor_name(self) -> str | None:
        """The model's sensor that is read: a site's metric brings one of its own."""
        return f"metric/{self.site}/position" if self.site is not None else self.sensor

    @property
    def entry(self) -> int | None:
        """Which entry of the sensor; None for all of them."""
        return "xyz".index(self.axis) if isinstance(self.axis, str) else self.axis

    def additions(self) -> ModelAdditions:
        """The sensor that a site's metric needs in the model."""
        if self.site is None or self.sensor_name is None:
            return ModelAdditions()
        return ModelAdditions(sensors=(AddedSensor(name=self.sensor_name, kind="framepos", object_name=self.site),))

    def _check_axis(self) -> None:
        if self.axis is None:
            return
        if self.site is None and self.sensor is None:
            raise ValueError("axis goes with site or sensor")
        if isinstance(self.axis, str) != (self.site is not None):
            raise ValueError("axis is x, y or z of a site, and a number, counted from 0, of a sensor")
