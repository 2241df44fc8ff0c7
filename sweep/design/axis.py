"""A declared axis: a name that people sweep, what it is nominally, and which manifest paths it sets."""

from __future__ import annotations

from dataclasses import dataclass

Value = float | int | str | bool | None | tuple["Value", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis that a scene declares and binds.

    Attributes:
        name: what is typed, ``latency`` in ``+latency=0.002,0.005``.
        nominal: the value when it is not swept (SI unit).
        unit: SI unit read off the bound path's suffix (``_s`` is ``"s"``), ``""`` for a plain number.
        bindings: the manifest paths it sets, for example ``components.encoders.latency_s``.
    """

    name: str
    nominal: Value
    unit: str
    bindings: tuple[str, ...]
