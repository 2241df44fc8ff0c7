"""Failure capsules: what is enough to reopen a run that faulted, alone and on another machine."""

from __future__ import annotations

import atexit
import copy
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import sweep
from sweep.digest import bytes_id
from sweep.errors import CapsuleError, InvalidInputError
from sweep.plan.clock import Grid
from sweep.plan.files import FileImage
from sweep.plan.manifest import load_manifest
from sweep.plan.plan import ModelImage, Plan
from sweep.plan.sections import ModelSpec
from sweep.results.record import Outcome, Status
from sweep.runtime.hosting.recent import BoundaryHistory
from sweep.runtime.ingress.recorded_input import RecordedInput
from sweep.runtime.instance import SimulationInstance
from sweep.runtime.model import model_path, source_files
from sweep.runtime.resolve import resolve_plan

LARGEST_SOURCE = 32 * 2**20
"""Bytes of a model's own files beyond which a capsule does without them: the compiled model is enough here."""

_NO_PLACE = {"file": None, "package": None, "xml": None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """A model's own files.

    Attributes:
        main: the main file's name.
        files: it and everything that it includes or loads, by name relative to their common folder.
    """

    main: str
    files: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """A run that faulted, and all that decides it.  State that was injected for diagnosis is shown, not replayed.

    Attributes:
        plan_id: the Plan's identity.
        manifest: its resolved manifest, as plain data.
        timestep: its exact timestep [s], such as ``1/500``.
        model: its compiled model.
        source: the model's own files, for another version of MuJoCo; None where they are very large.
        files: what controllers read, by controller and name.
        seed: the episode seed.
        outcome: how the run ended: status, tick, phase, kind, component, message.
        trace_digest: digest of its trace; empty if it never began.
        inputs: the external inputs it committed.
        history: its last boundaries; None if it never began.
        versions: of what decides bits.
        code_id: of the code that decided them, if known.
        code: the user's modules, by name relative to their import root.
        cell: what a sweep calls the run's cell.
        parameters: the sweep's parameters of the run, by path.
    """

    plan_id: str
    manifest: Mapping[str, Any]
    timestep: str
    model: ModelImage
    source: ModelSource | None = None
    files: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict, repr=False)
    seed: int
    outcome: Outcome
    trace_digest: str = ""
    inputs: tuple[RecordedInput, ...] = ()
    history: BoundaryHistory | None = None
    versions: Mapping[str, str]
    code_id: str = ""
    code: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    cell: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, seed: int, outcome: Outcome, **more: Any) -> Capsule:
        """The capsule of a run by its Plan; ``more`` is what else is known of it."""
        return cls(
            plan_id=plan.plan_id,
            manifest=plan.manifest.document(),
            timestep=str(plan.grid.timestep),
            model=plan.model,
            source=_source(plan.manifest.model, plan.manifest.folder),
            files={name: {role: image.content for role, image in own.items()} for name, own in plan.files.items()},
            seed=seed,
            outcome=outcome,
            versions=versions(),
            **more,
        )

    def plan(self) -> Plan:
        """The run's Plan.

        The controllers that the capsule carries are imported where Python finds no others of their name first.

        Raises:
            CapsuleError: it cannot be had again here: the manifest is read differently by this version, or MuJoCo is
                another one and the model's own files are missing.
        """
        try:
            plan = self._plan() if self.versions["mujoco"] == metadata.version("mujoco") else self._compiled()
        except InvalidInputError as error:
            raise CapsuleError(f"The capsule's Plan cannot be had again{self._elsewhere()}: {error}") from error
        except (LookupError, TypeError, ArithmeticError) as error:
            raise CapsuleError(f"The capsule is broken: {type(error).__name__} {error}") from error
        if plan.plan_id != self.plan_id:
            differs = f"The capsule's Plan is {plan.plan_id} here, it was {self.plan_id}"
            raise CapsuleError(f"{differs}: its manifest is read differently{self._elsewhere()}.")
        return plan

    def replay(self, tick: int | None = None) -> SimulationInstance:
        """Run it again, alone.

        Args:
            tick: the boundary to stop at, if not where the run stopped.

        Returns:
            The Instance there, owned by this thread; it says for itself whether it is faulted.

        Raises:
            CapsuleError: see :meth:`plan`.
            Exception: what a controller's constructor raises.
        """
        instance = SimulationInstance(self.plan(), self.seed)
        instance.replay_inputs(self.inputs)
        unstopped = self.outcome.status in (Status.COMPLETED, Status.CANCELLED)
        last = (self.outcome.tick or 0) + (not unstopped)  # the step that stopped it is made again
        instance.advance(last if tick is None else min(tick, last))
        return instance

    def _plan(self) -> Plan:
        # Where a model lies is no part of a Plan, and the compiled one is here.
        document = {**self.manifest, "model": {**self.manifest["model"], **_NO_PLACE, "xml": "<mujoco/>"}}
        images = {
            name: {role: FileImage(bytes_id(data), data) for role, data in own.items()}
            for name, own in self.files.items()
        }
        manifest = load_manifest(document, folder=_unpacked(self.code))
        return Plan.of(manifest, Grid(Fraction(self.timestep)), self.model, images)

    def _compiled(self) -> Plan:
        """The Plan under another MuJoCo, compiled from the model's own files."""
        if self.source is None:
            raise CapsuleError(f"The capsule has no model that this MuJoCo can read{self._elsewhere()}.")
        document = copy.deepcopy(dict(self.manifest))
        document["model"] |= {**_NO_PLACE, "file": str(_unpacked(self.source.files) / self.source.main)}
        for name, own in self.files.items():
            folder = _unpacked(own)
            document["controllers"][name]["files"] = {role: str(folder / role) for role in own}
        return resolve_plan(load_manifest(document, folder=_unpacked(self.code)))

    def _elsewhere(self) -> str:
        """What is installed here in another version, in brackets."""
        here = versions()
        changed = [f"{n} {here[n]} is installed, it was {was}" for n, was in self.versions.items() if here[n] != was]
        return f" ({'; '.join(changed)})" if changed else ""


def capsule_of(instance: SimulationInstance) -> Capsule:
    """The capsule of an Instance's present episode, on its own thread; the episode may be anywhere, it goes on."""
    record = instance.record
    return Capsule.of(
        instance.plan,
        instance.seed,
        record.outcome,
        trace_digest=record.trace_digest,
        inputs=instance.recorded_inputs,
        history=instance.history,
    )


def versions() -> dict[str, str]:
    """Versions of what decides bits, in this process."""
    libraries = {name: metadata.version(name) for name in ("mujoco", "numpy")}
    return {"sweep": sweep.__version__, "python": platform.python_version(), **libraries, "machine": platform.machine()}


def _source(spec: ModelSpec, folder: Path | None) -> ModelSource | None:
    if spec.xml is not None:
        return ModelSource(main="inline.xml", files={"inline.xml": spec.xml.encode()})
    try:
        main = model_path(spec, folder).resolve()
        paths = [path for _, path in source_files(main)]
        if not paths or sum(path.stat().st_size for path in paths) > LARGEST_SOURCE:
            return None
        root = Path(os.path.commonpath([path.parent for path in paths]))
        contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    except (InvalidInputError, OSError):
        return None  # moved or uninstalled since it was compiled
    return ModelSource(main=main.relative_to(root).as_posix(), files=contents)


def _unpacked(files: Mapping[str, bytes]) -> Path:
    """Files in a folder that lasts as long as the process: modules may be imported late, and lines are quoted."""
    folder = Path(tempfile.mkdtemp(prefix="capsule-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, data in files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise CapsuleError(f"The capsule has a file {name!r}, which would be written outside of its folder.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder
