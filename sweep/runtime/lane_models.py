"""What the lanes of a batch start from: their state, and the model values that they do not share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
from mujoco import batch

from sweep.errors import InvalidInputError, Problem
from sweep.plan.manifest import Manifest
from sweep.runtime.model_index import ModelIndex
from sweep.runtime.start import start_state


def set_start(lanes: Any, model: mujoco.MjModel, manifests: Sequence[Manifest]) -> None:
    """Put every lane of a batch where its manifest starts."""
    starts: dict[str, mujoco.MjData] = {}
    for lane, manifest in enumerate(manifests):
        if manifest.model.keyframe is None and not manifest.model.initial:
            continue  # a batch begins with lanes that are reset
        key = manifest.model.model_dump_json(include={"keyframe", "initial"})
        if key not in starts:
            starts[key] = start_state(manifest, model)
        mujoco.mj_getState(model, starts[key], lanes.state[lane], int(mujoco.mjtState.mjSTATE_INTEGRATION))


def set_model_values(lanes: Any, model: mujoco.MjModel, manifests: Sequence[Manifest]) -> None:
    """Numbers of the model that components set in their lane; edits apply on top of them."""
    index = ModelIndex(model)
    for lane, manifest in enumerate(manifests):
        for number in [n for spec in manifest.components.values() for n in spec.model_values()]:
            row, values = index.rows(number.field, [number.element]), lanes.expand(number.field)
            own = values[lane, row, number.column] if number.value is None else number.value
            values[lane, row, number.column] = own * number.scale


def edit_models(lanes: Any, model: mujoco.MjModel, manifests: Sequence[Manifest]) -> None:
    """Give lanes their own model values.  Edits are written even where they change nothing, so that a lane's
    bits do not depend on what its neighbours edit.

    Raises:
        InvalidInputError: MuJoCo cannot derive the constants of an edited model.
    """
    edits = manifests[0].model.edits
    if not edits:
        return
    index = ModelIndex(model)
    for name, edit in edits.items():
        for field in edit.fields:
            rows, values = index.rows(field, edit.names), lanes.expand(field)
            values = values[:, None] if values.ndim == 1 else values  # a lone number of each lane, opt.density
            for lane, manifest in enumerate(manifests):
                mine = manifest.model.edits[name]
                if mine.scale is not None:
                    values[lane, rows] = values[lane, rows] * mine.scale
                else:
                    assert mine.value is not None
                    values[lane, rows] = mine.value if len(mine.value) > 1 else mine.value[0]
    try:
        lanes.set_const()
    except batch.SimulationError as error:
        text = " ".join(str(error).split())
        raise InvalidInputError("model", [Problem("model.edits", f"MuJoCo says: {text}")]) from None
