"""What the numbers of a trace are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sweep.plan.component import Capability
from sweep.runtime.hosting.recent import ColumnNames
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.tracing.batch_trace import driven_columns

if TYPE_CHECKING:
    from sweep.runtime.batch import InstanceBatch

ValueNames = dict[str, dict[str, list[str]]]


def value_names(batch: InstanceBatch) -> ValueNames:
    """By kind and component, the names of ``values``, as far as they have any.

    What has several numbers is numbered, ``qpos/root.3``; what has no name in the model goes by its position there.
    """
    index = batch.context.index
    controls = list(_numbered(ColumnNames.of(index).controls))
    driven = {name: [controls[i] for i in columns] for name, columns in driven_columns(batch).items()}
    devices = batch.plans[0].manifest.components_with(Capability.DEVICE)
    return {
        "boundary": {"": _boundary_names(index)},
        "sensor": {"": list(_numbered(_owners(index.names("sensor"), index.model.sensor_dim.tolist())))},
        "control": {"": controls},
        "sample": {name: list(spec.channels) for name, spec in devices.items() if spec.channels},
        "input": driven,
        "application": driven,
    }


def _boundary_names(index: ModelIndex) -> list[str]:
    owners = ColumnNames.of(index)
    activated = _owners(index.names("actuator"), index.model.actuator_actnum.tolist())
    parts = {"qpos": owners.qpos, "qvel": owners.qvel, "act": activated}
    return [f"{field}/{name}" for field, names in parts.items() for name in _numbered(names)]


def _owners(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The element that each number belongs to."""
    return [name or str(i) for i, (name, width) in enumerate(zip(names, widths, strict=True)) for _ in range(width)]


def _numbered(owners: Sequence[str]) -> Iterator[str]:
    """A name for each number: its owner's, and a count where that has several."""
    totals, seen = Counter(owners), Counter[str]()
    for owner in owners:
        yield owner if totals[owner] == 1 else f"{owner}.{seen[owner]}"
        seen[owner] += 1
