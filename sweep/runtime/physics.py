"""Physics of all lanes: MuJoCo's batch, its records, and the truth about lanes that went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco import batch
from numpy.typing import NDArray

from sweep.plan.manifest import Manifest
from sweep.runtime.block import Block
from sweep.runtime.divergence import LARGEST, divergence
from sweep.runtime.fault import Fault
from sweep.runtime.inputs import BlockInputs, InputLayout
from sweep.runtime.lane_models import edit_models, set_model_values, set_start
from sweep.runtime.numerics.folds import copy_sound
from sweep.runtime.phases import Phase
from sweep.runtime.reads import StateLevel
from sweep.runtime.rollout import rollout_of

Floats = NDArray[np.float64]

_STATE = mujoco.mjtState
_BOUNDARY = int(_STATE.mjSTATE_TIME | _STATE.mjSTATE_QPOS | _STATE.mjSTATE_QVEL | _STATE.mjSTATE_ACT)
_COUNT = 1  # column of a warning's counter beside its last info
_KEPT = ("eq_active", "mocap_pos", "mocap_quat")
_STAGES = {StateLevel.VELOCITY: mujoco.mjtStage.mjSTAGE_VEL, StateLevel.FULL: mujoco.mjtStage.mjSTAGE_ACC}


class LanePhysics:
    """The physical state of every lane of a batch.

    Args:
        manifests: each lane's manifest; they share a layout.
        model: the nominal model.
        threads: threads of one call; they never change bits.
        layout: what is fed to physics beside controls.
    """

    def __init__(self, manifests: Sequence[Manifest], model: mujoco.MjModel, threads: int, layout: InputLayout) -> None:
        self.model = model
        self.layout = layout
        self._spec = layout.spec
        self._controls_only = layout.controls_only
        self.lanes = len(manifests)
        self._nu = int(model.nu)
        self._batch: Any = batch.Batch(model, self.lanes, threads)
        for prepare in (set_start, set_model_values, edit_models):
            prepare(self._batch, model, manifests)
        self._rollout = rollout_of(self._batch, layout.spec, _BOUNDARY)
        self._resting = self._starting_controls()[:, None]  # controls of actuators that nobody drives
        self._records: dict[int, Floats] = {}
        self._width = int(mujoco.mj_stateSize(model, _BOUNDARY))
        size = mujoco.mj_stateSize
        # TIME, QPOS, QVEL and ACT lead a row of the batch in the order they have in a boundary row.
        self._start_columns = slice(0, int(size(model, _BOUNDARY)))

    def controls(self) -> Floats:
        """The controls that each lane's last step had, ``(lanes, nu)``; not to be changed."""
        controls: Floats = self._batch.bind("ctrl")
        return controls

    def boundary(self) -> Floats:
        """The current boundary of every lane, ``(lanes, 1 + nq + nv + na)``: time, qpos, qvel, act."""
        boundary: Floats = self._batch.state[:, self._start_columns].copy()
        return boundary

    def save(self) -> Floats:
        """All of every lane's integration state, for :meth:`rewind`."""
        saved: Floats = self._batch.state.copy()
        return saved

    def inputs(self, block: Block) -> BlockInputs:
        """What a block is fed if nothing changes it: resting controls, no wrenches, switches and poses as they are."""
        length, layout = block.length, self.layout
        controls = np.empty((self.lanes, length, self._nu))
        controls[:] = self._resting
        if self._controls_only:
            return BlockInputs(controls)
        state = {field: self._batch.bind(field) for field in _KEPT}
        return BlockInputs(
            controls=controls,
            wrenches=np.zeros((self.lanes, length, self.model.nbody, 6)) if layout.wrenches else None,
            equalities=np.repeat(state["eq_active"][:, None], length, axis=1) if layout.equalities else None,
            positions=np.repeat(state["mocap_pos"][:, None], length + 1, axis=1) if layout.poses else None,
            quaternions=np.repeat(state["mocap_quat"][:, None], length + 1, axis=1) if layout.poses else None,
        )

    def place(self, inputs: BlockInputs) -> None:
        """Put the first step's wrenches, switches and poses into the rows; controls stay those of the step before."""
        for field, part in (("xfrc_applied", inputs.wrenches), ("eq_active", inputs.equalities)):
            if part is not None:
                self._batch.bind(field)[:] = part[:, 0]
        self.pose(inputs, 0)

    def pose(self, inputs: BlockInputs, row: int, lanes: Any = slice(None)) -> None:
        """Put the mocap poses of one row of the inputs in force."""
        if inputs.positions is not None and inputs.quaternions is not None:
            self._batch.bind("mocap_pos")[lanes] = inputs.positions[lanes, row]
            self._batch.bind("mocap_quat")[lanes] = inputs.quaternions[lanes, row]

    def forward(
        self, level: StateLevel, fields: Sequence[str], alive: NDArray[np.bool_]
    ) -> tuple[dict[str, Any], dict[int, str]]:
        """Make derived state agree with the rows, for the lanes alive.

        Nothing of the trajectory changes: the engine's forward is idempotent, and warnings that it raises are raised
        again by the step that they belong to.

        Returns:
            A copy of each field, ``(lanes, ...)``, and MuJoCo's message for each lane in which it failed.
        """
        bound = {field: self._batch.bind(field) for field in fields}
        warnings = self._batch.warning.copy()
        failed: dict[int, str] = {}
        try:
            self._batch.forward(None if alive.all() else np.flatnonzero(alive), stage=_STAGES[level])
        except batch.SimulationError as error:
            failed = {int(lane): " ".join(str(self._batch.error(lane)).split()) for lane in error.ids}
        self._batch.warning[:] = warnings
        return {field: np.array(values) for field, values in bound.items()}, failed

    def advance(
        self,
        block: Block,
        inputs: BlockInputs,
        ids: NDArray[np.intp] | None,
        into: Floats,
        recorded: Sequence[str] = (),
    ) -> tuple[dict[int, Fault], dict[str, NDArray[Any]]]:
        """Phase 7 of every tick of a block, for some lanes.

        Args:
            block: the ticks.
            inputs: what each step is fed.
            ids: the lanes; None means all.
            into: ``(lanes, length + 1, width)`` boundary rows; row 0 is the block's start and rows 1 .. are filled.
                A lane that faults, or is none of them, repeats its last good boundary.
            recorded: MjData fields that each step computes of the boundary it starts from.

        Returns:
            The fault of each lane that diverged, overflowed or made MuJoCo fail; and the recorded fields,
            ``(lanes, length, ...)``.
        """
        rows = inputs.controls if self._controls_only else inputs.rows()
        length = block.length
        records = self._buffer(length, self.lanes if ids is None else len(ids))
        # Derived fields go into fresh arrays, since their views outlive the block.
        held = {field: self._fresh(field, len(records), length) for field in recorded} if recorded else {}
        failed = self._rollout(length, rows if ids is None else rows[ids], ids, records, held)
        if ids is None:
            if copy_sound(LARGEST, records, self._batch.warning, into[:, 1:]) and not failed:
                return {}, held
        else:
            into[:, 1:] = into[:, :1]
            into[ids, 1:] = records
            held = {field: self._scattered(found, ids) for field, found in held.items()}
        faults = {lane: self._replay_error(lane, block, rows[lane], into[lane], held) for lane in failed}
        return faults | self._divergences(block, into, ids, skip=faults), held

    def rewind(self, lane: int, saved: Floats, inputs: BlockInputs, steps: int) -> None:
        """Put a lane where it is after the first steps of a block that began at a saved state, bit for bit."""
        self._batch.state[lane] = saved[lane]
        self._batch.warning[lane] = 0
        if steps:
            rows = inputs.rows()[lane : lane + 1, :steps]
            self._batch.rollout(steps, control=rows, control_spec=self._spec, record=(), ids=[lane])
            self.pose(inputs, steps, lane)

    def data(self, lane: int, row: Floats | None = None) -> tuple[mujoco.MjModel, mujoco.MjData]:
        """A private copy of a lane's model and state, derived state recomputed by mj_forward.

        Args:
            lane: which.
            row: its state as :meth:`save` kept it; the present one by default.

        Where MuJoCo cannot (the lane may be faulted for that very reason), sensordata is NaN.
        """
        model = self._batch.get_model(lane)
        data = mujoco.MjData(model)
        row = self._batch.state[lane] if row is None else row
        mujoco.mj_setState(model, data, row, int(_STATE.mjSTATE_INTEGRATION))
        try:
            mujoco.mj_forward(model, data)
        except mujoco.FatalError:
            data.sensordata[:] = np.nan
        return model, data

    def write(self, lane: int, field: str, columns: Any, values: Any) -> None:
        """Overwrite part of a lane's state (diagnosis)."""
        self._batch.bind(field)[lane, columns] = values

    def _starting_controls(self) -> Floats:
        """``(lanes, nu)``; :meth:`controls` would have a whole MjData made for it, which is half of a short set-up."""
        controls = np.empty((self.lanes, self._nu))
        for row, into in zip(self._batch.state, controls, strict=True):
            mujoco.mj_extractState(self.model, row, int(_STATE.mjSTATE_INTEGRATION), into, int(_STATE.mjSTATE_CTRL))
        return controls

    def _buffer(self, length: int, lanes: int) -> Floats:
        buffer = self._records.get(length)
        if buffer is None or len(buffer) != lanes:
            buffer = self._records[length] = np.empty((lanes, length, self._width))
        return buffer

    def record_bytes(self, recorded: Sequence[str]) -> int:
        """Bytes that records of derived fields need for each tick."""
        return sum(self._batch.bind(field).nbytes for field in recorded)

    def _fresh(self, field: str, lanes: int, length: int) -> NDArray[Any]:
        bound = self._batch.bind(field)
        return np.zeros((lanes, length, *bound.shape[1:]), bound.dtype)

    def _scattered(self, records: NDArray[Any], ids: NDArray[np.intp]) -> NDArray[Any]:
        """Records of some lanes as rows of all of them."""
        everyone = np.zeros((self.lanes, *records.shape[1:]), records.dtype)
        everyone[ids] = records
        return everyone

    def _divergences(
        self, block: Block, into: Floats, ids: NDArray[np.intp] | None, skip: dict[int, Fault]
    ) -> dict[int, Fault]:
        counters = self._batch.warning[:, :, _COUNT]
        # NaN fails the comparison too.
        bad: NDArray[np.bool_] = ~np.all(np.abs(into[:, 1:]) <= LARGEST, axis=2)
        suspects = np.flatnonzero(bad.any(axis=1) | counters.any(axis=1))
        faults = {}
        for lane in (suspects if ids is None else np.intersect1d(suspects, ids)).tolist():
            if lane not in skip:
                faults[lane] = divergence(self.model, block, into[lane], bad[lane], counters[lane])
        return faults

    def _replay_error(
        self, lane: int, block: Block, inputs: Floats, rows: Floats, derived: dict[str, NDArray[Any]]
    ) -> Fault:
        """A lane in which MuJoCo raised: the call left it where it began, so step it again to find the tick."""
        for step in range(block.length):
            try:
                fed = inputs[None, step : step + 1]
                kept = (_BOUNDARY, *derived)
                record = self._batch.rollout(1, control=fed, control_spec=self._spec, record=kept, ids=[lane])
            except batch.SimulationError:
                rows[step + 1 :] = rows[step]
                message = " ".join(str(self._batch.error(lane)).split())
                return Fault(tick=block.start + step, phase=Phase.PHYSICS_STEP, kind="mujoco_error", message=message)
            rows[step + 1] = record[_BOUNDARY][0, 0]
            for field, values in derived.items():
                values[lane, step] = record[field][0, 0]
        raise AssertionError("an error of a deterministic call did not happen again")
