"""Where a device sits: on a site or a body of the model, displaced and turned (lever arm and frame)."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from sweep.plan.component import AddedSite
from sweep.plan.fields import Number, Section, one_or_many
from sweep.plan.imperfection import in_unit

Metres = Annotated[float, in_unit("m")]
"""A length [m]: a number, or text such as ``5 mm``."""

Radians = Annotated[float, in_unit("rad")]
"""An angle [rad]: a number, or text such as ``90 deg``."""

Position = Annotated[tuple[Metres, Metres, Metres], BeforeValidator(one_or_many)]
"""A place [m]."""

Quaternion = Annotated[tuple[Number, Number, Number, Number], BeforeValidator(one_or_many)]
"""An orientation, (w, x, y, z); its length does not matter."""

_HERE, _UPRIGHT = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


class Mounted(Section):
    """A part that is fixed to the model.

    Attributes:
        site: the site it sits at, or
        body: the body it is fixed to.
        position_m: where, in the frame of that site or body: the lever arm [m].
        quaternion: its orientation in that frame, (w, x, y, z).
    """

    site: str | None = None
    body: str | None = None
    position_m: Position = _HERE
    quaternion: Quaternion = _UPRIGHT

    @model_validator(mode="after")
    def _one_place(self) -> Any:
        if (self.site is None) == (self.body is None):
            raise ValueError("give one of: site, body")
        if not any(self.quaternion):
            raise ValueError("quaternion must not be all zeros; (1, 0, 0, 0) does not turn")
        return self

    def mount(self, site: str, turn: Quaternion = _UPRIGHT) -> tuple[tuple[AddedSite, ...], str]:
        """The sites that it needs, and the one that its sensors attach to.

        Args:
            site: what an added site is called.
            turn: a further rotation in the mount's own frame.
        """
        quaternion = product(self.quaternion, turn)
        if self.site is not None and (self.position_m, quaternion) == (_HERE, _UPRIGHT):
            return (), self.site
        added = AddedSite(name=site, body=self.body, site=self.site, position_m=self.position_m, quaternion=quaternion)
        return (added,), site


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The rotation ``b`` in the frame that ``a`` turns to (Hamilton product)."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def about_y(angle_rad: float) -> Quaternion:
    """A rotation about the y axis, the same on every machine: a model's identity depends on it."""
    with localcontext(prec=40):
        half = Decimal(angle_rad) / 2
        return float(_series(Decimal(1), half, 0)), 0.0, float(_series(half, half, 1)), 0.0


def _series(first: Decimal, x: Decimal, power: int) -> Decimal:
    """The Taylor series of the cosine (from 1, power 0) or the sine (from x, power 1), for an x of a few radians."""
    total = term = first
    for n in range(power + 2, power + 80, 2):
        term *= -x * x / (n * (n - 1))
        total += term
    return total
