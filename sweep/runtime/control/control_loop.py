"""A controller at work in a batch: when it is due, what it saw, what it cost in age, and whose fault it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import InvalidInputError, Problem
from sweep.plan.sections import ControllerSpec
from sweep.runtime.block import NextDue
from sweep.runtime.components.device import Device
from sweep.runtime.context import BatchContext, per_lane_values
from sweep.runtime.control.controller import (
    ControllerSetup,
    ControlStep,
    LaneError,
    checked_commands,
    load_controller,
    stacked_parameters,
)
from sweep.runtime.control.unbatched import Unbatched
from sweep.runtime.fault import Fault, what_raised
from sweep.runtime.ingress.mailbox import Mailbox
from sweep.runtime.output import ACQUIRED, DeviceOutput
from sweep.runtime.phases import Phase

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_UNCOUNTED = 256
"""Calls whose ages are worked out at once."""


class ControlLoop:
    """One controller of all lanes of a batch.

    Args:
        name: its id in the manifest.
        specs: its spec in each lane.
        context: the batch.
        devices: the batch's devices, by id.
        drivers: the batch's drivers, by id.
        components: the specs of all components in the first lane.
        folder: where the user's modules may lie.
        apart: why every lane gets an object of its own; None has one object for all lanes.

    Attributes:
        inputs: the devices that it reads.
        next_due: when it runs next.
        controller: the object that computes.
        remarks: what there is to say about how it works, for people.
        raised: what it last raised for all lanes together and for none of them alone; empty if that never was.
    """

    def __init__(self, name: str, specs: Sequence[ControllerSpec], context: BatchContext, *,
                 devices: Mapping[str, Device], drivers: Mapping[str, Any], components: Mapping[str, Any],
                 folder: Path | None, apart: str | None = None) -> None:  # fmt: skip
        spec = specs[0]
        self.name = name
        self.next_due = NextDue(spec.schedule(context.grid, name))
        self._grid = context.grid
        self.inputs = tuple(spec.inputs)
        self._setup = ControllerSetup(
            lanes=context.lanes,
            period_s=spec.period_s,
            timestep_s=float(context.grid.timestep),
            inputs={device: components[device] for device in spec.inputs},
            outputs={driver: components[driver] for driver in spec.outputs},
            widths={n: devices[n].width for n in self.inputs} | {n: drivers[n].width for n in spec.outputs},
            parameters=stacked_parameters([lane.parameters for lane in specs]),
            references={reference: context.references[reference] for reference in spec.references},
            model=context.index.model,
            files={role: image.content for role, image in context.files.get(name, {}).items()},
        )
        self._class = load_controller(spec.class_, folder)
        self._apart = None if apart is None else Unbatched(self._class, self._setup)
        self.controller: Any = self._class(self._setup) if self._apart is None else self._apart
        self._takes_acting = getattr(self.controller, "takes_acting", False)
        self._state = _initial_state(name, self.controller, context.lanes)
        why = () if apart is None else (f"computed one lane at a time, which is slower: {apart}",)
        texts = (*why, *getattr(self.controller, "remarks", ()))
        self.remarks = tuple(f"controllers.{name}: {text}" for text in texts)
        delay = per_lane_values(specs, lambda s: max(1, context.grid.ticks(s.compute_latency_s)), np.int64)
        distinct = np.unique(delay).tolist()
        # Ticks from reading to commit, and the lanes that take so long; None means all.
        self._delays = [(ticks, None if len(distinct) == 1 else delay == ticks) for ticks in distinct]
        self.raised = ""
        self._all_present = False
        self._acting: Bools | None = None
        self._everyone = self._nobody = False
        self._calls = 0
        self._acted = np.zeros(context.lanes, np.int64)
        # Per input and lane: sum of ages, greatest age [ticks].
        self._ages = {device: np.zeros((2, context.lanes), np.int64) for device in spec.inputs}
        # Calls that are not in there yet: the tick, the lanes that acted, and what of each input they saw.
        self._uncounted: list[tuple[int, Bools, list[Ints]]] = []

    @property
    def acted(self) -> NDArray[np.int64]:
        """``(lanes,)`` calls in which each lane acted, a copy."""
        self._count()
        return self._acted.copy()

    def run(self, tick: int, shown: Mapping[str, DeviceOutput], alive: Bools, mailbox: Mailbox) -> dict[int, Fault]:
        """Compute after step ``tick`` and post the commands.

        A lane acts once all its inputs are present; until then it sends nothing and its state rests.

        Args:
            tick: the step just completed.
            shown: what each device shows.
            alive: lanes that are still running.
            mailbox: where commands go.

        Returns:
            A fault for each lane in which the controller raised.
        """
        acting = alive
        if not self._all_present:
            present = np.logical_and.reduce([shown[device].valid for device in self.inputs])
            self._all_present = bool(present.all())  # what was delivered once stays
            acting = alive & present
        if acting is not self._acting:  # lanes that are over are taken out of a copy, so the same array says the same
            self._acting, self._everyone, self._nobody = acting, bool(acting.all()), not acting.any()
        if self._nobody:
            return {}
        everyone = self._everyone
        self._uncounted.append((tick, acting, [shown[device].sample for device in self.inputs]))
        if len(self._uncounted) == _UNCOUNTED:
            self._count()
        commands, faults = self._compute(tick, shown, acting, everyone)
        if faults:
            acting, everyone = acting.copy(), False
            acting[list(faults)] = False
        self._post(tick, commands, None if everyone else acting, mailbox)
        return faults

    def summary(self, lane: int) -> dict[str, float]:
        """Mean and greatest age at use [s]: of each input where there are several, and of the one that is oldest."""
        self._count()
        acted = int(self._acted[lane])
        if not acted:
            return {}
        timestep = self._grid.timestep
        means = {device: float(int(ages[0, lane]) * timestep / acted) for device, ages in self._ages.items()}
        greatest = max(int(ages[1, lane]) for ages in self._ages.values())
        summary = {"age_at_use_s": max(means.values()), "age_at_use_max_s": float(greatest * timestep)}
        if len(means) > 1:
            summary |= {f"age_at_use_{device}_s": mean for device, mean in means.items()}
        return summary

    def _compute(
        self, tick: int, shown: Mapping[str, DeviceOutput], acting: Bools, everyone: bool
    ) -> tuple[Any, dict[int, Fault]]:
        inputs = {device: shown[device] for device in self.inputs}
        if not everyone:
            some = int(acting.argmax())
            inputs = {device: output.substituted(~acting, some) for device, output in inputs.items()}
        step = ControlStep(tick=tick, time_s=self._grid.time_s(tick), inputs=inputs, state=self._state)
        saved = {key: value.copy() for key, value in self._state.items()} if self._state else {}
        try:
            computed = self.controller.compute(step, acting) if self._takes_acting else self.controller.compute(step)
            commands = checked_commands(computed, self._setup, lanes=self._setup.lanes)
            errors: Mapping[int, Exception] = {}
        except LaneError as error:
            commands, errors = error.commands, error.errors
        except Exception as error:  # noqa: BLE001 - user code may raise anything; only the guilty lanes fault
            self._restore(saved, np.ones(len(acting), bool))
            commands, errors = ({}, {0: error}) if len(acting) == 1 else self._compute_apart(step, acting)
            self.raised = self.raised if errors else what_raised(error)
        if saved and not everyone:
            self._restore(saved, ~acting)
        return commands, {lane: self._fault(tick, error) for lane, error in errors.items()} if errors else {}

    def _compute_apart(self, step: ControlStep, acting: Bools) -> tuple[dict[str, Floats], Mapping[int, Exception]]:
        """The same call one lane at a time, to tell guilty lanes from innocent ones."""
        if self._apart is None:
            self._apart = Unbatched(self._class, self._setup)
        try:
            return self._apart.compute(step, acting), {}
        except LaneError as error:
            return error.commands, error.errors

    def _restore(self, saved: Mapping[str, NDArray[Any]], lanes: Bools) -> None:
        for key, value in saved.items():
            self._state[key][lanes] = value[lanes]

    def _post(self, tick: int, commands: Mapping[str, Floats], lanes: Bools | None, mailbox: Mailbox) -> None:
        self._calls += 1
        for delay, members in self._delays:
            group = lanes if members is None else members if lanes is None else members & lanes
            for name, values in commands.items():
                # The runtime owns what it was given: user code may reuse its array for the next call.
                owned = values.copy()
                owned.setflags(write=False)
                mailbox.post(target=name, commit_tick=tick + delay, values=owned, lanes=group,
                             source_id=self.name, source_sequence=self._calls)  # fmt: skip

    def _count(self) -> None:
        """Add the calls so far to what is told of them; many at once, since each by itself costs as much."""
        if not self._uncounted:
            return
        ticks, acting, samples = zip(*self._uncounted, strict=True)
        self._uncounted = []
        acted, now = np.array(acting), np.array(ticks)[:, None]
        self._acted += acted.sum(axis=0)
        for ages, seen in zip(self._ages.values(), zip(*samples, strict=True), strict=True):
            age = np.where(acted, now - np.array(seen)[:, ACQUIRED], 0)
            ages[0] += age.sum(axis=0)
            np.maximum(ages[1], age.max(axis=0), out=ages[1])

    def _fault(self, tick: int, error: Exception) -> Fault:
        phase, message = Phase.EXTERNAL_OUTPUT_PUBLISH, what_raised(error)
        return Fault(tick=tick, phase=phase, component=self.name, kind="controller", message=message)


def _initial_state(name: str, controller: Any, lanes: int) -> dict[str, NDArray[Any]]:
    declared: Any = getattr(controller, "initial_state", dict)()
    state = {key: np.array(value) for key, value in declared.items()} if isinstance(declared, Mapping) else None
    if state is None or any(value.shape[:1] != (lanes,) for value in state.values()):
        message = f"initial_state is a mapping of arrays whose first axis is the lane ({lanes} here), not {declared!r}"
        raise InvalidInputError("manifest", [Problem(f"controllers.{name}.class", message)])
    return state
