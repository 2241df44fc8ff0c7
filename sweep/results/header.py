"""What a sweep folder says about itself, beside its cells and records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sweep.errors import InvalidInputError

Better = Literal["lower", "higher"]
Window = Literal["horizon", "until_end", "at_end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """What a metric means: its unit, its better direction and its window."""

    unit: str
    better: Better
    window: Window


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisInfo:
    """A declared axis as a reader of results needs it.

    Attributes:
        nominal: the value it has when it is not swept (SI unit).
        unit: SI unit, ``""`` for a plain number.
        bindings: the manifest paths it sets.
    """

    nominal: Any
    unit: str
    bindings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One cell of the design.

    Attributes:
        cell_id: digest of the values of all declared axes and of every full path swept.
        ordinal: its place in the design's order.
        label: what people read, for example ``latency=0.002``.
        values: the values of all declared axes, swept or not, and of every full path swept (SI units).
        parameters: manifest path -> value that turns the base manifest into this cell's.
        plan_id: the Plan it resolved to.
    """

    cell_id: str
    ordinal: int
    label: str
    values: Mapping[str, Any]
    parameters: Mapping[str, Any]
    plan_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepHeader:
    """The identity of a sweep: everything about it but its cells, seeds and records.

    Attributes:
        name: the folder's name.
        scene: the scene it was made from.
        manifest: the base manifest, nominal values filled in, as plain data.
        model_id: digest of the source model.
        code_id: digest of what else decides the bits.
        files: name -> digest of the files it was made from: the source model's, and those that controllers read.
        code: name -> version or digest of what ``code_id`` stands for: packages, and files of code.
        axes: the declared axes.
        metrics: the declared metrics.
        baseline: cell_id that the others are compared with; None means nominal, else the first.
        provenance: versions, command line, time of creation, git state.
    """

    name: str
    scene: str
    manifest: Mapping[str, Any]
    model_id: str
    code_id: str
    axes: Mapping[str, AxisInfo]
    metrics: Mapping[str, MetricInfo]
    baseline: str | None
    provenance: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The header as plain data."""
        return asdict(self)

    def quantity(self, key: str, text: str) -> float | None:
        """The SI value that a text such as ``2ms`` means for an axis or a full path; None if it means none."""
        from sweep.plan.units import quantity, unit_at

        try:
            return quantity(text, self.axes[key].unit if key in self.axes else unit_at(key))
        except InvalidInputError:
            return None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SweepHeader:
        """The header that :meth:`to_json` wrote."""
        axes = {n: AxisInfo(**{**a, "bindings": tuple(a["bindings"])}) for n, a in data["axes"].items()}
        metrics = {n: MetricInfo(**m) for n, m in data["metrics"].items()}
        return cls(**{**data, "axes": axes, "metrics": metrics})
