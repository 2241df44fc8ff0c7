"""A failure capsule, opened: does it fail again, and what led there?"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from rich.table import Table

from sweep.design.cell import shown
from sweep.errors import CapsuleError, InvalidInputError, Problem
from sweep.execution.code import code_id
from sweep.runtime.hosting.capsule import Capsule, versions
from sweep.runtime.hosting.capsule_file import load_capsule
from sweep.runtime.hosting.recent import BoundaryHistory
from sweep.runtime.instance import SimulationInstance

_ROWS = 12
_MOST_CONTROLS = 4
"""Controls that have a column each; of more, the largest is shown."""


def opened(path: Path, tick: str | None) -> tuple[list[RenderableType], bool]:
    """Replay a capsule.

    Args:
        path: its file.
        tick: the boundary to stop at, as it was typed; at the fault by default.

    Returns:
        What to tell, and whether the run did again what it did.

    Raises:
        CapsuleError: no capsule there.
        InvalidInputError: not a tick.
    """
    capsule = load_capsule(path)
    stop = None if tick is None else _tick(tick)
    told: list[RenderableType] = [*_head(capsule), *_parameters(capsule)]
    try:
        instance = capsule.replay(stop)
    except CapsuleError as error:
        return [*told, str(error), *_boundaries(capsule.history)], False
    except Exception as error:  # noqa: BLE001 - a controller's constructor may raise anything, as it did before
        same = capsule.history is None
        head = f"raised before its first step{', as before' if same else ''}:"
        return [*told, head, "".join(traceback.format_exception(error)[-3:]).rstrip()], same
    verdict, same = _verdict(capsule, instance, stop)
    return [*told, *verdict, *_boundaries(instance.history), *_devices(instance)], same


def _tick(text: str) -> int:
    if not text.isdecimal():
        raise InvalidInputError("open", [Problem("--tick", f"is a number of a boundary, 0 or more; found {text!r}")])
    return int(text)


def _head(capsule: Capsule) -> Iterator[RenderableType]:
    outcome = capsule.outcome
    where = f" at tick {outcome.tick} ({outcome.time_s:g} s) in {outcome.phase}" if outcome.phase else ""
    who = f", in {outcome.component!r}" if outcome.component else ""
    yield f"{outcome.kind}{where}{who}: {outcome.message}{_whose(capsule)}"
    yield ", ".join([*([capsule.cell] if capsule.cell else []), f"seed {capsule.seed}", f"Plan {capsule.plan_id}"])
    yield "written by " + ", ".join(f"{name} {version}" for name, version in capsule.versions.items())


def _whose(capsule: Capsule) -> str:
    """The joint that a message calls by its column: `` (hinge)``."""
    found = re.search(r"\b(qpos|qvel)\[(\d+)\]", capsule.outcome.message)
    return f" ({getattr(capsule.history.names, found[1])[int(found[2])]})" if found and capsule.history else ""


def _parameters(capsule: Capsule) -> Iterator[RenderableType]:
    if capsule.parameters:
        table = _titled("parameters", "path", "value")
        for path, value in capsule.parameters.items():
            table.add_row(path, shown(value))
        yield table


def _verdict(capsule: Capsule, instance: SimulationInstance, stop: int | None) -> tuple[list[RenderableType], bool]:
    """Whether the replay did what the run did, in words."""
    if stop is not None and instance.fault is None and instance.end is None:
        return [f"replayed up to boundary {instance.tick} ({instance.episode_time_s:g} s)"], True
    record = instance.record
    same = (record.outcome, record.trace_digest) == (capsule.outcome, capsule.trace_digest)
    if same:
        return [f"replayed: the same fault and the same digest, {record.trace_digest}"], True
    told: list[RenderableType] = []
    if record.outcome == capsule.outcome:
        told.append(f"replayed: the same fault, another digest: {record.trace_digest}, it was {capsule.trace_digest}")
    else:
        now = str(instance.fault) if instance.fault is not None else f"no fault by tick {instance.tick}"
        told.append(f"replayed: it does not end the same way: {now}")
    here = code_id(instance.plan)
    if capsule.code_id not in ("", here):
        told.append(f"the code that decides the bits is another (code_id {here}, it was {capsule.code_id})")
    changed = {n: v for n, v in versions().items() if capsule.versions.get(n) != v}
    told += [f"{name} is {version} here, it was {capsule.versions.get(name)}" for name, version in changed.items()]
    return told, False


def _boundaries(history: BoundaryHistory | None) -> Iterator[RenderableType]:
    """The last boundaries: what is largest in each, whose it is, and what was fed to the step that led there."""
    if history is None or not len(history.states):
        return
    names = history.names.controls
    each = len(names) <= _MOST_CONTROLS
    table = _titled("the last boundaries (earlier ones: --tick N)", "tick", "time [s]", "largest |qpos|",
                    "largest |qvel|", *(names if each else ["largest |control|"]))  # fmt: skip
    for row in range(max(0, len(history.states) - _ROWS), len(history.states)):
        table.add_row(
            str(history.first_tick + row),
            _number(float(history.states[row, 0])),
            _largest(history.qpos[row], history.names.qpos),
            _largest(history.qvel[row], history.names.qvel),
            *_controls(None if history.first_tick + row == 0 else history.controls[row], names, each=each),
        )
    if history.unfinished is not None:
        table.add_row("", "", "", "faulted with", *_controls(history.unfinished, names, each=each))
    yield table


def _controls(values: NDArray[np.float64] | None, names: Sequence[str], *, each: bool) -> list[str]:
    if values is None:
        return ["-"] * (len(names) if each else 1)
    return list(map(_number, values.tolist())) if each else [_largest(values, names)]


def _devices(instance: SimulationInstance) -> Iterator[RenderableType]:
    """What every device showed last, and how old that was."""
    table = _titled("what devices show", "device", "acquired at", "delivered at", "values")
    for name, output in instance.outputs().items():
        if output.valid:
            values = " ".join(map(_number, output.values.tolist()))
            table.add_row(name, str(output.acquired_tick), str(output.delivered_tick), values)
        else:
            table.add_row(name, "-", "-", "nothing yet")
    if table.row_count:
        yield table


def _titled(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)


def _largest(values: NDArray[np.float64], names: Sequence[str]) -> str:
    """``12.5 (elbow)``."""
    if not len(values):
        return "-"
    column = int(np.argmax(np.abs(values)))  # a NaN counts as the largest
    return f"{_number(float(values[column]))} ({names[column]})"


def _number(value: float) -> str:
    return f"{value:.5g}"
